import type { LinkEnds, LinkReport } from '../../audit/header-links.ts';
import type { BadBlock } from '../../audit/reconcile.ts';
import type { Header } from '../../chain/headers.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { StagedSpan } from '../../warehouse/store.ts';
import type { PageReport } from '../span-loader.ts';

/** What becomes of a full page: see `SpanLoader.add`. */
export type Overflow = 'keep' | 'cut' | 'refuse';

/** A loader, wherever it runs. It belongs to one span at a time. */
export interface SpanLoaderPort {
  /** Begins a span; what was loaded before is forgotten. */
  open(span: Span, headers: readonly Header[]): Promise<void>;
  /** Adds a page and takes its memory over. @throws {DecodeError} as `SpanLoader.add` */
  add(page: Uint8Array, overflow: Overflow): Promise<PageReport>;
  /** Compares the rows so far with the headers that the span was opened with. */
  audit(): Promise<readonly BadBlock[]>;
  /** Follows the links between the headers so far, from one end of the span to the other. */
  links(ends: LinkEnds): Promise<LinkReport>;
  /** Forgets the rows of a masterchain block; it will be loaded again. */
  drop(seqno: number): Promise<void>;
  /** Stages the rows of each given span; other rows are forgotten, and the loader goes back to its pool. */
  finish(spans: readonly Span[]): Promise<readonly StagedSpan[]>;
  /** Gives the loader back to its pool, if it is not there yet. */
  release(): void;
}

/** Loaders for spans, of which so many can be under way at once as there are loaders, and one more that is encoded. */
export interface LoaderPool {
  /** Spans that may be under way at once. */
  readonly spans: number;
  /** A loader that nobody else uses; waits until one is free. */
  take(pipeline: PipelineDef): Promise<SpanLoaderPort>;
  close(): Promise<void>;
}
