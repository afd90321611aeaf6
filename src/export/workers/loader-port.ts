import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Stage } from '../../warehouse/index.ts';
import type { SpanLoader } from '../span-loader.ts';

/** A loader in this thread or in another. It serves one span at a time, and writes to stages of its pool. */
export interface SpanLoaderPort extends Omit<SpanLoader, 'clear'> {
  /** Drops the rows, and returns the loader to its pool. Further calls do nothing. */
  release(): Promise<void>;
}

/** Maximum records of a long list in memory. */
export const FLUSH_RECORDS = 50_000;

/** Spans in progress: one is written and committed while the next is fetched. */
export const SPANS = 2;

/** Where the rows of loaders are written. */
export interface StageSource<S extends Stage = Stage> {
  /** A stage for rows to commit. */
  stage(span: Span): S;
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
