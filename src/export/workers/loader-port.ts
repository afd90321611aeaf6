import type { LinkEnds, LinkReport } from '../../audit/header-links.ts';
import type { BadBlock } from '../../audit/reconcile.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { NewestRule, StagedSpan } from '../../warehouse/index.ts';
import type { RowRules } from '../row-rules.ts';
import type { PageReport } from '../span-loader.ts';
import type { PageRules } from '../walk-request.ts';

/** Rows of a span in files, ready to be committed. */
export interface StagedRows {
  readonly span: Span;
  readonly staged: StagedSpan;
  /** Removes the files. */
  discard(): Promise<void>;
}

/** A loader in this thread or in another. It serves one span at a time. */
export interface SpanLoaderPort {
  /** Begins a span and drops the rows before. */
  open(span: Span, rules: RowRules): Promise<void>;
  /** Adds a page, whose memory it keeps. @throws {DecodeError} as `SpanLoader.add` */
  add(page: Uint8Array, rules: PageRules): Promise<PageReport>;
  /** Checks the rows so far by the rules of the span. */
  audit(): Promise<readonly BadBlock[]>;
  /** Follows the links between the headers so far. */
  links(ends: LinkEnds): Promise<LinkReport>;
  /** Drops the rows of a masterchain block, or of a batch of keys, to load them again. */
  drop(unit: number): Promise<void>;
  /** Writes the rows so far and frees their memory; `finish` includes them. */
  flush(): Promise<void>;
  /** Stages the rows of each given span and keeps them in the loader. */
  stage(spans: readonly Span[]): Promise<readonly StagedRows[]>;
  /**
   * Stages the rows of each given span, drops the others, and returns the loader to its pool.
   *
   * @param more rows of other tables that belong to the first span
   */
  finish(spans: readonly Span[], more?: readonly Batch[]): Promise<readonly StagedRows[]>;
  /** Drops rows that are not staged, and returns the loader to its pool, unless that is done. */
  release(): Promise<void>;
}

/** Maximum records of a long list in memory. */
export const FLUSH_RECORDS = 50_000;

/** Loaders for spans. */
export interface LoaderPool {
  /** Maximum of spans in progress. */
  readonly spans: number;
  /** Records of a long list after which a loader flushes. */
  readonly flushRecords: number;
  /** Waits for a free loader. */
  take(pipeline: PipelineDef): Promise<SpanLoaderPort>;
  close(): Promise<void>;
}

/** Which rows of a list in several parts to keep: the newest of each key, if the rules say so. */
export function newestRule(
  { tables }: PipelineDef,
  { copies }: RowRules,
  parts: number,
): Readonly<Record<string, NewestRule>> {
  const [table] = tables;
  if (parts < 2 || copies === undefined || table === undefined) return {};
  return { [table.name]: { key: copies.key, column: copies.column } };
}
