import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../../core/effects.ts';
import { isSealedMeanwhile } from '../../core/errors.ts';
import { hullOf, type Span, totalSize } from '../../core/span.ts';
import { narrowTable } from '../../declare/left-out.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { hashFile, statIfAny } from '../../files/disk.ts';
import { dropEncodingMemory } from '../../parquet/row-group.ts';
import { Database } from '../../sql/database.ts';
import { datePlace } from '../file-layout.ts';
import { covering } from '../ledger/done-spans.ts';
import { openReader, openStore } from '../open-store.ts';
import type { Reader } from '../reader.ts';
import { schemaOf } from '../relations/table-schema.ts';
import { addEvidence } from '../staging/row-evidence.ts';
import type { LedgerEntry, StagedFile, StagedTable, Store, TableFile } from '../store.ts';
import { mergeFiles } from './merge-files.ts';
import { groupFiles } from './merge-group.ts';
import { type CompactGroup, planCompaction } from './plan-compaction.ts';
import { type MergedFile, proveMerge } from './prove-merge.ts';

export interface CompactOptions {
  /** Path of the warehouse. */
  readonly warehouse: string;
  readonly tables: readonly TableDef[];
  /** Pipelines whose entries are merged once their rows are final. Default none. */
  readonly pipelines?: readonly PipelineDef[] | undefined;
  /** Returns the spans in which to merge. It may refuse the warehouse by throwing. Default: everywhere. */
  readonly limit?: ((held: Reader) => Promise<readonly Span[] | undefined>) | undefined;
  /** Maximum size of a merged file, in bytes. Default 128 MB. */
  readonly targetBytes?: number | undefined;
  readonly effects: Effects;
  /** Stops after the current merge when aborted. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: CompactEvent) => void) | undefined;
  /** Awaited before each step of a commit; for tests. */
  readonly onStep?: (step: string) => Promise<void>;
}

/** One merge that was committed. */
export interface CompactEvent {
  readonly event: 'merged';
  readonly pipeline: string;
  /** First and last block; not all blocks between them need to be there. */
  readonly from: number;
  readonly to: number;
  /** Masterchain blocks that it covers. */
  readonly blocks: number;
  /** Number of entries that were merged. */
  readonly entries: number;
  readonly files: { readonly before: number; readonly after: number };
  readonly bytes: { readonly before: number; readonly after: number };
}

/** Result of a compaction. Numbers are those of the whole warehouse, without superseded entries. */
export interface CompactReport {
  readonly event: 'done';
  readonly kind: Store['kind'];
  readonly merged: number;
  readonly entries: { readonly before: number; readonly after: number };
  readonly files: { readonly before: number; readonly after: number };
  readonly bytes: { readonly before: number; readonly after: number };
  /** True if all planned merges are done. */
  readonly complete: boolean;
  readonly seconds: number;
}

export const DEFAULT_TARGET_BYTES = 128e6;

/**
 * Merges small files. Each merge is one commit: a new entry replaces the merged ones, whose files stay for the grace period, so readers
 * always see every row once. The merged rows are proven to be the same.
 *
 * @throws {StoreError} `damaged` if a file is not the one that was committed; its group is left as it was
 */
export async function compactWarehouse(options: CompactOptions): Promise<CompactReport> {
  const { effects, tables, targetBytes = DEFAULT_TARGET_BYTES } = options;
  const startedAt = effects.monotonic();
  const reader = await openReader(options.warehouse, tables);
  const { kind, path, network } = reader;
  const before = await reader.ledger();
  const range = await limitOf(reader, options.limit);
  const report = (after: readonly LedgerEntry[], merged: number, complete: boolean): CompactReport => ({
    ...{ event: 'done', kind, merged, complete },
    entries: { before: before.length, after: after.length },
    files: { before: filesOf(before).length, after: filesOf(after).length },
    bytes: { before: bytesOf(before), after: bytesOf(after) },
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  });
  // A DuckDB warehouse is one file.
  if (kind === 'duckdb') return report(before, 0, true);
  const { onStep } = options;
  const store = await openStore({
    ...{ path, network, tables, effects, kind, command: 'tonlake compact', pipelines: options.pipelines ?? [] },
    ...(onStep === undefined ? {} : { onStep }),
  });
  try {
    const groups = planCompaction(store.ledger(), {
      ...{ tables, targetBytes, range },
      pipelines: options.pipelines ?? [],
    });
    let merged = 0;
    // Groups that another process has merged, or otherwise replaced, meanwhile.
    let rivalled = 0;
    for (const group of groups) {
      if (options.stop?.aborted === true) break;
      try {
        const event = await mergeGroup(store, group, options);
        merged++;
        options.onEvent?.(event);
      } catch (error) {
        if (!isSealedMeanwhile(error)) throw error;
        rivalled++;
      }
    }
    return report(store.ledger(), merged, merged + rivalled === groups.length);
  } finally {
    await store.close();
  }
}

async function limitOf(reader: Reader, limit: CompactOptions['limit']): Promise<readonly Span[] | undefined> {
  try {
    return await limit?.(reader);
  } finally {
    await reader.close();
  }
}

/** Merges a group in one commit. @throws {StoreError} `not-in-force` if one of its entries was replaced meanwhile */
export async function mergeGroup(
  store: Store,
  group: CompactGroup,
  { tables, effects }: Pick<CompactOptions, 'tables' | 'effects'>,
): Promise<CompactEvent> {
  const { pipeline, spans, entries } = group;
  const { span } = covering(spans);
  const id = effects.freshId();
  const folder = join(store.staging.stagingPath, id);
  await mkdir(folder, { recursive: true });
  const database = await Database.open(':memory:', {
    threads: '1',
    enable_external_file_cache: 'false',
    memory_limit: '256MB',
    temp_directory: join(folder, 'spill'),
  });
  const end = (): void => {
    database.close();
    // The commits of this process need a hundredth of what a day of rows took.
    dropEncodingMemory();
  };
  const merge = { store, database, folder, id, span };
  const proofs: Promise<readonly [string, StagedTable]>[] = [];
  try {
    for (const table of tables.map((each) => narrowTable(each, entries[0]?.without))) {
      if (!entries.some((entry) => entry.tables[table.name] !== undefined)) continue;
      const files = await mergeTable(merge, table, entries);
      // DuckDB reads the rows of this table while those of the next one are merged.
      const proof = Promise.allSettled(proofs).then(() => describeTable(merge, table, entries, files));
      proofs.push(proof.then((staged) => [table.name, staged] as const));
    }
    await Promise.all(proofs);
  } catch (error) {
    await Promise.allSettled(proofs);
    end();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  end();
  const staged = Object.fromEntries(await Promise.all(proofs));
  const entry = await store.commit({ id, tables: staged }, mergedDraft(group)).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  return {
    ...{ event: 'merged', pipeline, from: span.from, to: span.to, blocks: totalSize(spans), entries: entries.length },
    files: { before: filesOf(entries).length, after: filesOf([entry]).length },
    bytes: { before: bytesOf(entries), after: bytesOf([entry]) },
  };
}

function mergedDraft({ pipeline, spans, entries, isReadAgain }: CompactGroup): Parameters<Store['commit']>[1] {
  const [first] = entries as readonly [LedgerEntry, ...LedgerEntry[]];
  const sum = (of: (entry: LedgerEntry) => number): number => entries.reduce((total, entry) => total + of(entry), 0);
  const planned = entries.every((entry) => entry.planned !== undefined);
  const asOf = isReadAgain ? hullOf(entries.flatMap((entry) => entry.asOf ?? [])) : undefined;
  return {
    network: first.network,
    pipeline,
    version: first.version,
    ...covering(spans),
    verdict: 'sealed',
    proof: first.proof,
    asOf,
    without: first.without,
    requests: sum(({ requests }) => requests),
    retries: sum(({ retries }) => retries),
    ...(planned ? { planned: sum((entry) => entry.planned ?? 0) } : {}),
    copies: true,
    supersedes: entries.map(({ id }) => id),
  };
}

interface Merge {
  readonly store: Store;
  readonly database: Database;
  readonly folder: string;
  readonly id: string;
  readonly span: Span;
}

async function mergeTable(
  { store, database, folder }: Merge,
  table: TableDef,
  entries: readonly LedgerEntry[],
): Promise<readonly MergedFile[]> {
  const own = entries.map((entry) => ({ ...entry, tables: pick(entry, table.name) }));
  const merged: MergedFile[] = [];
  for (const [place, sources] of groupFiles(own)) {
    const stagedPath = join(folder, `${place.replaceAll('/', '-')}.parquet`);
    const warehouse = await store.rows.localFolder(sources, folder);
    await mergeFiles({ database, warehouse, table, files: sources, folder, path: stagedPath });
    merged.push({ place, stagedPath, sources });
  }
  return merged;
}

async function describeTable(
  { store, database, folder, id, span }: Merge,
  table: TableDef,
  entries: readonly LedgerEntry[],
  merged: readonly MergedFile[],
): Promise<StagedTable> {
  const { query } = await database.connect();
  const parts = entries.flatMap((entry) => entry.tables[table.name] ?? []);
  const warehouse = await store.rows.localFolder(
    merged.flatMap(({ sources }) => sources),
    folder,
  );
  const proven = await proveMerge({ query, warehouse, table, span, merged, parts });
  const files: StagedFile[] = [];
  for (const [at, { place, stagedPath }] of merged.entries()) {
    const bytes = (await statIfAny(stagedPath))?.size ?? 0;
    const path = `${place}/${span.from}-${span.to}-${id}.parquet`;
    files.push({ stagedPath, path, rows: proven[at]?.rows ?? 0, bytes, sha256: await hashFile(stagedPath) });
  }
  return { schema: schemaOf(table).id, isSorted: true, ...datePlace(table), ...addEvidence(proven, table), files };
}

function pick({ tables }: LedgerEntry, name: string): LedgerEntry['tables'] {
  const own = tables[name];
  return own === undefined ? {} : { [name]: own };
}

function filesOf(entries: readonly LedgerEntry[]): readonly TableFile[] {
  return entries.flatMap(({ tables }) => Object.values(tables).flatMap(({ files }) => files));
}

function bytesOf(entries: readonly LedgerEntry[]): number {
  return filesOf(entries).reduce((sum, { bytes }) => sum + bytes, 0);
}
