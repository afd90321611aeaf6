import { StoreError } from '../../core/errors.ts';
import { isNewer } from '../../core/newer-tonlake.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { loadRegistry, type Registry } from '../../declare/registry.ts';
import { requireUnchanged } from '../../declare/stored-declaration.ts';
import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { resolveNetwork } from '../../http/network.ts';
import type { DeclarationPlace, Declarations } from '../ledger/declarations.ts';
import { hasRows } from '../ledger/done-spans.ts';
import { requireNetwork } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { openReader } from '../open-store.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import type { Store } from '../store.ts';
import type { Described } from '../store-driver.ts';
import { detectStoreKind, loadDriver } from '../store-kinds.ts';
import { warehousePath } from '../store-options.ts';

/**
 * The pipelines of a registry, and those whose declarations a warehouse stores beside its rows.
 *
 * @param registry default: the pipelines that come with tonlake, and those of `TONLAKE_PIPELINES`
 * @param onBroken called for each declaration that cannot be read, which is left out then. Default: throws
 * @throws {StoreError} if one is missing or damaged; `changed-declaration` if the rows of a user's pipeline cannot be
 * read by its present declaration
 */
export async function warehouseRegistry(
  warehouse: string,
  registry?: Registry,
  onBroken?: (error: unknown) => void,
): Promise<Registry> {
  const given = registry ?? (await loadRegistry());
  return withStored(given, warehouse, (isWanted) => readStoredPipelines(warehouse, isWanted, onBroken));
}

/** A warehouse that is open for reading, and its {@link warehouseRegistry}. */
export interface OpenWarehouse {
  readonly registry: Registry;
  readonly reader: Reader;
}

export interface OpenOptions extends ReaderOptions {
  /** As for {@link warehouseRegistry}. */
  readonly registry?: Registry | undefined;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
}

/**
 * Opens a warehouse for reading.
 * @throws {StoreError} as {@link warehouseRegistry}, {@link openReader} and {@link requireSameNetwork}
 */
export async function openWarehouse(
  warehouse: string,
  { registry: loaded, network, ...options }: OpenOptions = {},
): Promise<OpenWarehouse> {
  let registry = loaded ?? (await loadRegistry());
  const tablesOf = async (declarations: Declarations): Promise<readonly TableDef[]> => {
    registry = await withStored(registry, warehouse, (isWanted) => newestOf(declarations, isWanted));
    return registry.tables;
  };
  const reader = await openReader(warehouse, tablesOf, options);
  try {
    requireSameNetwork(reader.path, reader.network, network);
  } catch (error) {
    await reader.close();
    throw error;
  }
  return { registry, reader };
}

/** An existing warehouse, and its {@link warehouseRegistry}. */
export interface KnownWarehouse {
  readonly path: string;
  readonly kind: Store['kind'];
  readonly network: string;
  readonly registry: Registry;
}

/**
 * What a warehouse is, for a command that will open it for writing.
 * @throws {StoreError} `no-warehouse`; `busy`; `other-network`; as {@link warehouseRegistry}
 */
export async function knownWarehouse(
  warehouse: string,
  { registry: given, network: wanted }: Pick<OpenOptions, 'registry' | 'network'> = {},
): Promise<KnownWarehouse> {
  const path = warehousePath(warehouse);
  const loaded = given ?? (await loadRegistry());
  return describePath(path, async ({ network: read, declarations }, kind) => {
    const network = await read();
    requireSameNetwork(path, network, wanted);
    const registry = await withStored(loaded, warehouse, (isWanted) => newestOf(declarations, isWanted));
    return { path, kind, network, registry };
  });
}

async function describePath<T>(
  path: string,
  use: (described: Described, kind: Store['kind']) => Promise<T>,
): Promise<T> {
  const { kind, exists } = await detectStoreKind(path);
  if (!exists) throw noWarehouse(path);
  const driver = await loadDriver(kind);
  return guarded(`warehouse ${path}`, () => driver.describe(path, (described) => use(described, kind)));
}

/** The network of an existing warehouse; undefined if there is none, or it cannot be read: opening it will report why. */
export async function storedNetwork(path: string): Promise<string | undefined> {
  try {
    return await describePath(warehousePath(path), ({ network }) => network());
  } catch {
    return undefined;
  }
}

/** @throws {StoreError} `other-network` */
export function requireSameNetwork(path: string, stored: string, requested: string | undefined): void {
  if (requested !== undefined) requireNetwork(path, stored, resolveNetwork(requested).name);
}

/** @param read reads the stored declarations of the pipelines that are wanted */
async function withStored(
  given: Registry,
  warehouse: string,
  read: (isWanted: (name: string) => boolean) => Promise<readonly PipelineDef[]>,
): Promise<Registry> {
  const isOwn = (name: string): boolean => given.own.has(name);
  const names = new Set(given.pipelines.map(({ name }) => name));
  const stored = await read((name) => isOwn(name) || !names.has(name));
  for (const pipeline of stored.filter(({ name }) => isOwn(name))) {
    try {
      requireUnchanged(pipeline, given.pipeline(pipeline.name), warehouse);
    } catch (error) {
      if (await hasRowsOf(warehouse, pipeline)) throw error;
    }
  }
  return given.with(stored.filter(({ name }) => !names.has(name)));
}

/** True if the warehouse has rows of a pipeline. Without rows, its declaration may change in any way. */
async function hasRowsOf(warehouse: string, { tables }: PipelineDef): Promise<boolean> {
  const reader = await openReader(warehouse, []);
  try {
    const ledger = await reader.ledger();
    return tables.some(({ name }) => hasRows(ledger, name));
  } finally {
    await reader.close();
  }
}

/**
 * The newest stored declaration of each pipeline that a warehouse holds rows of. None if there is no warehouse, or another process writes a
 * DuckDB file, which the next open reports.
 *
 * @param isWanted by name: only these are read
 */
async function readStoredPipelines(
  warehouse: string,
  isWanted: (pipeline: string) => boolean,
  onBroken?: (error: unknown) => void,
): Promise<readonly PipelineDef[]> {
  try {
    return await describePath(warehousePath(warehouse), ({ declarations }) =>
      newestOf(declarations, isWanted, onBroken),
    );
  } catch (error) {
    if (error instanceof StoreError && ['busy', 'no-warehouse'].includes(error.code)) return [];
    throw error;
  }
}

async function newestOf(
  declarations: Declarations,
  isWanted: (pipeline: string) => boolean,
  onBroken?: (error: unknown) => void,
): Promise<readonly PipelineDef[]> {
  const newest = new Map<string, DeclarationPlace>();
  for (const place of await declarations.list()) if (isWanted(place.pipeline)) newest.set(place.pipeline, place);
  const read = [...newest.values()].map(async (place) => {
    try {
      return [await declarations.read(place)];
    } catch (error) {
      // Its tables are unknown to this version, which refuses to write where entries name them.
      if (isNewer(error)) return [];
      if (onBroken === undefined) throw error;
      onBroken(error);
      return [];
    }
  });
  return (await Promise.all(read)).flat();
}

/** Names of the user's pipelines whose entries, all without rows, come from an incompatible declaration. */
export async function redeclaredPipelines(warehouse: string, { own, pipelines }: Registry): Promise<readonly string[]> {
  const given = pipelines.filter(({ name }) => own.has(name));
  if (given.length === 0) return [];
  const stored = await readStoredPipelines(warehouse, (name) => own.has(name));
  return stored
    .filter((before) => given.some((now) => now.name === before.name && isRedeclared(before, now)))
    .map(({ name }) => name);
}

function isRedeclared(before: PipelineDef, now: PipelineDef): boolean {
  try {
    requireUnchanged(before, now, '');
    return false;
  } catch {
    return true;
  }
}
