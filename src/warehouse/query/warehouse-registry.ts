import { StoreError } from '../../core/errors.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { loadRegistry, type Registry } from '../../declare/registry.ts';
import { requireUnchanged } from '../../declare/stored-declaration.ts';
import type { TableDef } from '../../declare/table.ts';
import { resolveNetwork } from '../../http/network.ts';
import type { Declarations } from '../ledger/declarations.ts';
import { hasRows } from '../ledger/done-spans.ts';
import { openReader } from '../open-store.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { newestOf, readStoredPipelines } from '../stored-pipelines.ts';

/**
 * The pipelines of a registry, and those that made rows of a warehouse: their declarations are stored beside the rows.
 *
 * @param registry default: the pipelines that come with tonlake, and those of `TONLAKE_PIPELINES`
 * @param onBroken told of declarations that cannot be read, which are left out then; default: throws
 * @throws {StoreError} `bad-declaration` when one is missing or damaged; `changed-declaration` when the rows of a pipeline of one's own
 * cannot be read by its declaration of today
 */
export async function warehouseRegistry(
  warehouse: string,
  registry?: Registry,
  onBroken?: (error: unknown) => void,
): Promise<Registry> {
  const given = registry ?? (await loadRegistry());
  return withStored(given, warehouse, (isWanted) => readStoredPipelines(warehouse, isWanted, onBroken));
}

/** A warehouse that is open for reading, and the pipelines that {@link warehouseRegistry} gives of it. */
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

/** @throws {StoreError} `other-network` */
export function requireSameNetwork(path: string, held: string, asked: string | undefined): void {
  if (asked === undefined || resolveNetwork(asked).name === held) return;
  throw new StoreError(`store: warehouse ${path} holds ${held}, not ${resolveNetwork(asked).name}`, {
    code: 'other-network',
    hint: 'choose another --warehouse',
  });
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
      if (await isExplaining(warehouse, pipeline)) throw error;
    }
  }
  return given.with(stored.filter(({ name }) => !names.has(name)));
}

/** True if the warehouse has rows by a declaration. Without them, it may change in any way. */
async function isExplaining(warehouse: string, { tables }: PipelineDef): Promise<boolean> {
  const reader = await openReader(warehouse, []);
  try {
    const ledger = await reader.ledger();
    return tables.some(({ name }) => hasRows(ledger, name));
  } finally {
    await reader.close();
  }
}

/** Names of the pipelines of one's own whose entries, all without rows, come from a declaration that meant something else. */
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
