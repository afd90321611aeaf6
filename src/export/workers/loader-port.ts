import type { LinkEnds, LinkReport } from '../../audit/header-links.ts';
import type { RowsWithin } from '../../audit/page-audit.ts';
import type { BadBlock } from '../../audit/reconcile.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { ContentCounts } from '../../proof/content-audit.ts';
import type { ContentMode } from '../../proof/content-proof.ts';
import type { Stage } from '../../warehouse/index.ts';
import type { FolderState } from '../../warehouse/staging/row-folder.ts';
import type { PageRules, RowRules } from '../row-rules.ts';
import type { PageReport } from '../span-loader.ts';

/** A loader in this thread or in another. It serves one span at a time. */
export interface SpanLoaderPort {
  /** Begins a span and drops the rows before. */
  open(span: Span, rules: RowRules): Promise<void>;
  /** Adds a page, whose memory it keeps. @throws {DecodeError} as `SpanLoader.add` */
  add(page: Uint8Array, rules: PageRules): Promise<PageReport>;
  /** Checks the rows so far by the rules of the span, and their content. */
  audit(mode: ContentMode, held?: readonly string[]): Promise<readonly BadBlock[]>;
  /** What the content of the rows of a span shows; undefined if it was not proven. */
  contentOf(span: Span): Promise<ContentCounts | undefined>;
  /** Follows the links between the headers of some blocks. */
  links(span: Span, ends: LinkEnds): Promise<LinkReport>;
  /** Drops the rows of a masterchain block, or of a batch of keys, to load them again. */
  drop(unit: number): Promise<void>;
  /** Adds the rows so far to a stage of the pool, and drops them. */
  flush(stage: Stage): Promise<void>;
  /** Sorts the rows of a span, and adds them to a stage of the pool. @param within as `SpanLoader.write` */
  write(span: Span, stage: Stage, within?: RowsWithin): Promise<FolderState>;
  /** Drops the rows, and returns the loader to its pool, unless that is done. */
  release(): Promise<void>;
}

/** Maximum records of a long list in memory. */
export const FLUSH_RECORDS = 50_000;

/** Spans in progress: one is written and committed while the next is fetched. */
export const SPANS = 2;

/** Where the rows of loaders are written. */
export interface StageSource<S extends Stage = Stage> {
  /** A stage for rows to commit. */
  stage(pipeline: string, span: Span): S;
  /** As `Store.scratch`. */
  scratch(): S;
}

/** Loaders for spans, and the stages that they write to. */
export interface LoaderPool {
  /** Records of a long list after which a loader flushes. */
  readonly flushRecords: number;
  /** Waits for a free loader. */
  take(pipeline: PipelineDef): Promise<SpanLoaderPort>;
  stage(pipeline: PipelineDef, span: Span): Stage;
  scratch(pipeline: PipelineDef): Stage;
  close(): Promise<void>;
}
