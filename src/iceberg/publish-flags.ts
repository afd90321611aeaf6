import type { SuggestedFlags } from '../core/suggest.ts';

interface NamedCatalog {
  readonly uri?: string | undefined;
  readonly namespace?: string | readonly string[] | undefined;
  readonly warehouse?: string | undefined;
}

/** Flags of `tonlake publish iceberg` for a location or a catalog. */
export function publishFlags(location: string | undefined, catalog: NamedCatalog = {}): SuggestedFlags {
  const namespace = catalog.namespace && [catalog.namespace].flat().join('.');
  return { location, catalog: catalog.uri, namespace, 'catalog-warehouse': catalog.warehouse };
}
