import type { Effects } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { objectsBelow, type SmallObjects } from '../../objects/object-store.ts';
import type { DataFiles } from '../../warehouse/index.ts';
import type { PublishTarget, TableVersions } from '../publish-target.ts';
import {
  type CurrentTable,
  NO_SNAPSHOT,
  newestEntry,
  parseMetadata,
  schemaSchema,
  snapshotSchema,
  specSchema,
  type TableMetadata,
  tagOf,
} from '../table-metadata.ts';
import { type CatalogConfig, catalogId } from './catalog-config.ts';
import { CatalogRequests, type CatalogResponse } from './catalog-requests.ts';
import { CATALOG_PROPERTIES, type LoadedTable, loadedSchema, planCommit } from './metadata-updates.ts';

interface CatalogTable {
  readonly requests: CatalogRequests;
  readonly name: string;
  /** The manifests. The address is the location of the table. */
  readonly objects: SmallObjects;
}

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

/** Versions of a table in a catalog, which writes the metadata and refuses commits that are based on an older version. */
function catalogVersions(table: CatalogTable): TableVersions {
  /** The loaded tables of the returned versions. */
  const loadedTables = new WeakMap<CurrentTable, LoadedTable>();
  return {
    objects: table.objects,
    current: async () => {
      const loaded = await load(table);
      if (loaded === undefined) return undefined;
      const current = { version: loaded['last-sequence-number'], metadata: asOurs(loaded) };
      loadedTables.set(current, loaded);
      return current;
    },
    commit: (before, next) => commit(table, before && loadedTables.get(before), next),
    timeOf: (own) => own + table.requests.clockAheadMs,
    settle: async () => {},
  };
}

/** @throws {StoreError} `other-table` if it is not ours */
async function load({ requests, name, objects }: CatalogTable): Promise<LoadedTable | undefined> {
  const { status, body } = await requests.send({ method: 'GET', path: pathOf(name), expected: [404] });
  if (status === 404) return undefined;
  const { data } = loadedSchema.safeParse(body);
  if (data === undefined) throw refused(`it describes table ${name} in an unknown way`);
  const { location, properties } = data.metadata;
  const isOurs = properties['owner'] === 'tonlake' && plainPath(location) === plainPath(objects.url);
  if (!isOurs) throw otherTable(name, location);
  return data.metadata;
}

function pathOf(name: string): string {
  return `tables/${encodeURIComponent(name)}`;
}

/** Some servers name local files by `file:`. */
function plainPath(location: string): string {
  return location.replace(/^file:(\/\/)?/, '').replace(/\/+$/, '');
}

/**
 * The parts that we use, in the form that we write. Catalogs omit some parts and add others. Of schemas, specs and snapshots of other
 * programs only the ids remain, so that they are not used again.
 */
function asOurs(loaded: LoadedTable): TableMetadata | undefined {
  const { 'partition-specs': specs, 'default-spec-id': specId } = loaded;
  const isOwn = (snapshot: object): boolean => snapshotSchema.safeParse(snapshot).success;
  return parseMetadata(
    JSON.stringify({
      ...loaded,
      schemas: loaded.schemas.map((one) => schemaSchema.safeParse(one).data ?? { ...one, type: 'struct', fields: [] }),
      'partition-specs': [...specs]
        .sort((a, b) => Number(b['spec-id'] === specId) - Number(a['spec-id'] === specId))
        .map((one) => specSchema.safeParse(one).data ?? { 'spec-id': one['spec-id'], fields: [] }),
      'default-sort-order-id': 0,
      'sort-orders': [],
      'snapshot-log': [],
      'metadata-log': [],
      'current-snapshot-id': loaded['current-snapshot-id'] ?? NO_SNAPSHOT,
      snapshots: loaded.snapshots.filter(isOwn),
    }),
  );
}

async function commit(
  table: CatalogTable,
  before: LoadedTable | undefined,
  next: TableMetadata,
): Promise<number | undefined> {
  if (before === undefined && !(await stage(table, next))) return undefined;
  /** Finds a commit whose response was lost. */
  const recheck = async (): Promise<CatalogResponse | undefined> => {
    const loaded = await load(table);
    return isCommitted(loaded, next) ? { status: 200, body: undefined } : undefined;
  };
  const { status } = await table.requests.send({
    method: 'POST',
    path: pathOf(table.name),
    expected: [409],
    recheck,
    body: planCommit(before, next),
  });
  return status !== 409 || (await recheck()) !== undefined ? next['last-sequence-number'] : undefined;
}

/** True if the newest entry of `next` has the same snapshot in the loaded table. */
function isCommitted(found: LoadedTable | undefined, next: TableMetadata): boolean {
  const newest = tagOf(newestEntry(next));
  return found?.refs[newest]?.['snapshot-id'] === next.refs[newest]?.['snapshot-id'];
}

/**
 * Stages the creation of a table, which becomes visible with the commit.
 * @returns false if it exists already
 */
async function stage(table: CatalogTable, next: TableMetadata): Promise<boolean> {
  const { requests, name } = table;
  const body = {
    name,
    location: next.location,
    schema: next.schemas.at(-1),
    'partition-spec': next['partition-specs'][0],
    'stage-create': true,
    properties: { ...next.properties, ...CATALOG_PROPERTIES, 'format-version': '2' },
  };
  const create = async () =>
    (await requests.send({ method: 'POST', path: 'tables', body, expected: [404, 409] })).status;
  const status = await create();
  if (status !== 404) return status !== 409;
  await requests.createNamespace();
  const again = await create();
  if (again === 404) throw refused(`it created the namespace, but does not find it when it creates table ${name}`);
  return again !== 409;
}

function otherTable(name: string, location: string): StoreError {
  return new StoreError(`store: the catalog has another table ${name}, at ${location}`, {
    code: 'other-table',
    hint: 'choose another --namespace, or drop that table in the catalog',
  });
}

function refused(problem: string): StoreError {
  return new StoreError(`store: the catalog does not work as expected: ${problem}`, {
    hint: 'check --catalog and --namespace',
  });
}
