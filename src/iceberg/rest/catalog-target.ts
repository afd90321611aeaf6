import type { Effects } from '../../core/effects.ts';
import { objectsBelow } from '../../objects/object-store.ts';
import type { DataFiles } from '../../warehouse/index.ts';
import type { PublishTarget } from '../publish-target.ts';
import { type CatalogConfig, catalogId } from './catalog-config.ts';
import { CatalogRequests } from './catalog-requests.ts';
import { catalogVersions } from './catalog-versions.ts';

/**
 * A namespace of a REST catalog. Manifests lie in the warehouse, in a separate folder for each namespace; the catalog writes the metadata next
 * to them.
 *
 * @param location of the warehouse as readers and the catalog see it
 */
export function catalogTarget(
  { objects }: Pick<DataFiles, 'objects'>,
  location: string,
  config: CatalogConfig,
  effects: Effects,
): PublishTarget {
  const id = catalogId(config);
  const requests = new CatalogRequests(config, effects);
  const folder = `iceberg/_catalogs/${id}`;
  return {
    id,
    tables: () => objects.folders(`${folder}/`),
    versionsOf: (name) =>
      catalogVersions({
        requests,
        name,
        objects: objectsBelow(objects, `${folder}/${name}`, location),
      }),
    close: () => requests.close(),
  };
}
