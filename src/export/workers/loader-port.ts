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

/** A loader, wherever it runs. It belongs to one span at a time. */
export interface SpanLoaderPort {
  /** Begins a span; what was loaded before is forgotten. */
  open(span: Span, rules: RowRules): Promise<void>;
  /** Adds a page and takes its memory over. @throws {DecodeError} as `SpanLoader.add` */
  add(page: Uint8Array, rules: PageRules): Promise<PageReport>;
  /** Holds the rows so far against what the span was opened with. */
  audit(): Promise<readonly BadBlock[]>;
  /** Follows the links between the headers so far, from one end of the span to the other. */
  links(ends: LinkEnds): Promise<LinkReport>;
  /** Forgets the rows of a masterchain block, or of a lot of keys; they will be loaded again. */
  drop(unit: number): Promise<void>;
  /** Writes the rows so far aside, so that they take no memory; `finish` brings them as well. */
  flush(): Promise<void>;
  /** Stages the rows of each given span; they stay in the loader. */
  stage(spans: readonly Span[]): Promise<readonly StagedRows[]>;
  /**
   * Stages the rows of each given span; other rows are forgotten, and the loader goes back to its pool.
   *
   * @param more rows of other tables that belong to the first span
   */
  finish(spans: readonly Span[], more?: readonly Batch[]): Promise<readonly StagedRows[]>;
  /** Forgets what was not staged, and gives the loader back to its pool, if it is not there yet. */
  release(): Promise<void>;
}

/** Records of a long list that lie in memory at once. */
export const FLUSH_RECORDS = 50_000;

/** Loaders for spans, of which so many can be under way at once as there are loaders, and one more that is encoded. */
export interface LoaderPool {
  /** Spans that may be under way at once. */
  readonly spans: number;
  /** Records of a long list that a loader holds before they are written aside. */
  readonly flushRecords: number;
  /** A loader that nobody else uses; waits until one is free. */
  take(pipeline: PipelineDef): Promise<SpanLoaderPort>;
  close(): Promise<void>;
}

/** Which rows stay of a list that was written in several parts: the newest of each key, where the span was opened so. */
export function newestRule(
  { tables }: PipelineDef,
  { copies }: RowRules,
  parts: number,
): Readonly<Record<string, NewestRule>> {
  const [table] = tables;
  if (parts < 2 || copies === undefined || table === undefined) return {};
  return { [table.name]: { key: copies.key, column: copies.column } };
}
