import type { Effects } from '../core/effects.ts';
import { haveCommon, type Span } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import { damagedData } from '../files/damaged-data.ts';
import {
  covering,
  doneSpans,
  isReplacedBy,
  type LedgerEntry,
  openReader,
  openStore,
  type StagedSpan,
  type StagedTable,
  type Store,
  spansOf,
  warehousePath,
} from '../warehouse/index.ts';
import { knownWarehouse, requireSameNetwork } from '../warehouse/query/warehouse-registry.ts';
import { isSameEvidence } from './entry-state.ts';

export interface AddOptions {
  /** Folders of Parquet warehouses, such as the slices of a range. */
  readonly from: readonly string[];
  /** The folder to which their blocks are added. Created if it does not exist. */
  readonly to: string;
  readonly effects: Effects;
  /** Stops after the current entry when aborted. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: AddedWarehouse) => void) | undefined;
}

/** One warehouse whose blocks were added. */
export interface AddedWarehouse {
  readonly event: 'added';
  readonly from: string;
  /** Entries that were added, that the target already had, and that were left out because they belong to no block or overlap with others. */
  readonly added: number;
  readonly present: number;
  readonly left: readonly { readonly pipeline: string; readonly span: Span; readonly why: string }[];
}

export interface AddReport {
  readonly event: 'done';
  readonly to: string;
  readonly added: number;
  readonly left: number;
  /** False if it was stopped. The same command continues it. */
  readonly complete: boolean;
  readonly seconds: number;
}

/**
 * Adds the blocks of warehouses to another one, entry by entry. Every file must have the checksum of its entry, and its rows are measured
 * again. Marts, lookups and lists of the whole network are left out, because their rows depend on all blocks.
 *
 * @throws {StoreError} `damaged` if rows differ from the committed rows; entries added before stay
 */
export async function addWarehouses(options: AddOptions): Promise<AddReport> {
  const { effects, from, stop } = options;
  const startedAt = effects.monotonic();
  const to = warehousePath(options.to);
  const [first = to] = from;
  const { registry, network } = await knownWarehouse(first);
  const { tables, pipelines } = registry;
  const store = await openStore({ path: to, network, effects, tables, pipelines, command: 'tonlake copy --add' });
  const totals = { added: 0, left: 0 };
  try {
    for (const path of from) {
      if (stop?.aborted === true) break;
      const event = await addOne({ store, registry, network, stop }, warehousePath(path));
      totals.added += event.added;
      totals.left += event.left.length;
      options.onEvent?.(event);
    }
  } finally {
    await store.close();
  }
  const seconds = Math.round(effects.monotonic() - startedAt) / 1000;
  return { event: 'done', to, ...totals, complete: stop?.aborted !== true, seconds };
}

interface Adding {
  readonly store: Store;
  readonly registry: Registry;
  readonly network: string;
  readonly stop: AbortSignal | undefined;
}

async function addOne({ store, registry, network, stop }: Adding, from: string): Promise<AddedWarehouse> {
  const reader = await openReader(from, registry.tables);
  try {
    requireSameNetwork(from, reader.network, network);
    let [added, present] = [0, 0];
    const left: { pipeline: string; span: Span; why: string }[] = [];
    for (const entry of await reader.ledger()) {
      if (stop?.aborted === true) break;
      const { pipeline, span } = entry;
      const fate = fateOf(store, registry, entry);
      if (fate === 'present') present++;
      else if (fate !== 'add') left.push({ pipeline, span, why: fate });
      else {
        await commitCopy(store, registry, from, entry);
        added++;
      }
    }
    return { event: 'added', from, added, present, left };
  } finally {
    await reader.close();
  }
}

/** `add`, `present`, or why an entry is left out. */
function fateOf(store: Store, registry: Registry, entry: LedgerEntry): string {
  const { pipeline, verdict, scope, mart, forgotten, declaration } = entry;
  if (mart !== undefined)
    return `a mart, to be built there: ${suggest('build', Object.keys(entry.tables).join(' '), { warehouse: store.path })}`;
  if (scope !== undefined || forgotten !== undefined) return 'it belongs to no block: run it again without --slice';
  if (verdict !== 'accepted') return 'its blocks are not done';
  const own = registry.pipelines.find(({ name }) => name === pipeline);
  if (own === undefined || serializePipeline(own).id !== declaration) return 'it is declared otherwise';
  const [spans, done] = [spansOf(entry), doneSpans(store.ledger(), pipeline)];
  if (!haveCommon(spans, done)) return 'add';
  const isPresent = spans.every((span) => done.some(({ from, to }) => from <= span.from && span.to <= to));
  return isPresent ? 'present' : 'other entries have some of its blocks';
}

async function commitCopy(store: Store, registry: Registry, from: string, entry: LedgerEntry): Promise<void> {
  const { pipeline, network, version, verdict, requests, retries, planned, asOf, proof, content, without } = entry;
  const stage = store.stage(entry.span);
  try {
    const { tables } = registry.pipeline(pipeline);
    for (const table of tables) {
      for (const file of entry.tables[table.name]?.files ?? []) await stage.take(table, file, from);
    }
    const staged = requireSame(await stage.finish(), entry, from);
    const spans = spansOf(entry);
    const replaced = store.ledger().filter((other) => other.pipeline === pipeline && isReplacedBy(other, spans));
    await store.commit(staged, {
      ...{ network, pipeline, version, verdict, requests, retries, planned, asOf, proof, content, without },
      ...covering(spans),
      supersedes: replaced.map(({ id }) => id),
    });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** The staged rows, which must equal those of the entry, with its tables without rows. @throws {StoreError} `damaged` */
function requireSame(staged: StagedSpan, entry: LedgerEntry, from: string): StagedSpan {
  const tables: Record<string, StagedTable> = { ...staged.tables };
  for (const [name, { rows, keyHash, sums, schema, files }] of Object.entries(entry.tables)) {
    const own = tables[name];
    if (own === undefined && rows === 0 && files.length === 0) {
      tables[name] = { rows, keyHash, sums, schema, isSorted: true, files: [] };
    } else if (!isSameEvidence(own, { rows, keyHash, sums })) {
      throw damagedData(from, `expected the rows that were committed, got other rows of ${name} in ${from}`);
    }
  }
  return { ...staged, tables };
}
