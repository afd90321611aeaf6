import type { Effects } from '../../core/effects.ts';
import { objectsBelow } from '../../objects/object-store.ts';
import type { DataFiles } from '../../warehouse/index.ts';
import type { PublishTarget } from '../publish-target.ts';
import { type CatalogPlace, catalogId } from './catalog-place.ts';
import { CatalogRequests } from './catalog-requests.ts';
import { catalogVersions } from './catalog-versions.ts';

/**
 * A namespace of a REST catalog. Manifests lie in the warehouse, in a folder of their own for each namespace; the catalog writes the
 * metadata beside them.
 *
 * @param location of the warehouse as readers and the catalog see it
 */
export function catalogTarget(
  { objects }: Pick<DataFiles, 'objects'>,
  location: string,
  place: CatalogPlace,
  effects: Effects,
): PublishTarget {
  const id = catalogId(place);
  const requests = new CatalogRequests(place, effects);
  const folder = `iceberg/_catalogs/${id}`;
  return {
    id,
    tables: () => objects.folders(`${folder}/`),
    versionsOf: (name) =>
      catalogVersions({
        ...{ requests, name },
        objects: objectsBelow(objects, `${folder}/${name}`, `${location}/${folder}/${name}`),
      }),
    close: () => requests.close(),
  };
}
