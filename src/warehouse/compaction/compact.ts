import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../../core/effects.ts';
import { isCommittedMeanwhile } from '../../core/errors.ts';
import { type Span, totalSize } from '../../core/span.ts';
import { storedTables } from '../../declare/left-out.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { covering } from '../ledger/done-spans.ts';
import { filesIn } from '../ledger/entries-in.ts';
import { openReader, openStore } from '../open-store.ts';
import type { Reader } from '../reader.ts';
import { draftOf } from '../rewrite-entries.ts';
import type { CommitDraft, LedgerEntry, Store } from '../store.ts';
import { type MergeGroup, planMerges } from './plan-merges.ts';
import { type StageMerge, stageMerge } from './stage-merge.ts';

export interface CompactOptions {
  /** Path of the warehouse. */
  readonly warehouse: string;
  readonly tables: readonly TableDef[];
  /** Pipelines whose entries are merged once their rows are final. */
  readonly pipelines: readonly PipelineDef[];
  /** Returns the spans in which to merge. May throw to refuse the warehouse. Default: everywhere. */
  readonly limit?: ((warehouse: Reader) => Promise<readonly Span[] | undefined>) | undefined;
  /** Maximum size of a merged file, in bytes. Default 128 MB. */
  readonly targetBytes?: number | undefined;
  readonly effects: Effects;
  /** Stops after the current merge when aborted. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: CompactEvent) => void) | undefined;
  /** Awaited before each step of a commit; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/** One merge that was committed. */
export interface CompactEvent {
  readonly event: 'merged';
  readonly pipeline: string;
  /** First and last block. The entry may have gaps between them. */
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
 * Merges small files. Each merge is one commit: a new entry supersedes the merged ones, whose files stay for the grace period, so readers
 * always see every row once. The rows of each merged file are compared with those of its sources.
 *
 * @throws {StoreError} `damaged` if a file is not the one that was committed; its group is left unchanged
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
    files: { before: filesIn(before).length, after: filesIn(after).length },
    bytes: { before: bytesOf(before), after: bytesOf(after) },
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  });
  // A DuckDB warehouse is one file.
  if (kind === 'duckdb') return report(before, 0, true);
  const { pipelines, onStep } = options;
  const store = await openStore({
    ...{ path, network, tables, pipelines, effects, kind, onStep },
    command: 'tonlake compact',
  });
  try {
    const groups = planMerges(store.ledger(), { tables, pipelines, targetBytes, range });
    let merged = 0;
    // Groups that another process has replaced meanwhile.
    let replaced = 0;
    for (const group of groups) {
      if (options.stop?.aborted === true) break;
      try {
        const event = await mergeGroup(store, group, options);
        merged++;
        options.onEvent?.(event);
      } catch (error) {
        if (!isCommittedMeanwhile(error)) throw error;
        replaced++;
      }
    }
    return report(store.ledger(), merged, merged + replaced === groups.length);
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
  group: MergeGroup,
  { tables, effects, stage = stageMerge }: Pick<CompactOptions, 'tables' | 'effects'> & { readonly stage?: StageMerge },
): Promise<CompactEvent> {
  const { pipeline, spans, entries } = group;
  const { span } = covering(spans);
  const id = effects.freshId();
  const folder = join(store.staging.stagingPath, id);
  const own = storedTables(entries, tables);
  await mkdir(folder, { recursive: true });
  try {
    const staged = await stage({ id, folder, span, entries, tables: own }, (files) =>
      store.rows.localFolder(files, folder),
    );
    const entry = await store.commit({ id, tables: staged }, mergedDraft(group));
    return {
      ...{ event: 'merged', pipeline, from: span.from, to: span.to, blocks: totalSize(spans), entries: entries.length },
      files: { before: filesIn(entries).length, after: filesIn([entry]).length },
      bytes: { before: bytesOf(entries), after: bytesOf([entry]) },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The draft of a merged entry. Only rows that are not final need `asOf`. */
function mergedDraft({ spans, entries, isReadAgain }: MergeGroup): CommitDraft {
  const leftOut = entries[0]?.without;
  const { asOf, ...draft } = draftOf({ old: entries, keep: spans, read: [], leftOut });
  return { ...draft, asOf: isReadAgain ? asOf : undefined };
}

function bytesOf(entries: readonly LedgerEntry[]): number {
  return filesIn(entries).reduce((sum, { bytes }) => sum + bytes, 0);
}
