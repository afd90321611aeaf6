import type { SealedRows } from '../audit/sealed-rows.ts';
import type { Header } from '../chain/headers.ts';
import type { IndexEnds } from '../chain/index-ends.ts';
import type { Effects } from '../core/effects.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { Source } from '../http/source.ts';
import type { Query } from '../sql/query-result.ts';
import type { CommitDraft, LedgerEntry, Stage, StagedSpan } from '../warehouse/index.ts';
import type { PageQueue } from './page-queue.ts';
import type { LoaderPool } from './workers/loader-port.ts';

/** How rows are asked for: each masterchain block by itself, many at once by windows of logical time, or what is cheaper. */
export type WalkMode = 'masterchain' | 'window' | 'auto';

/** What happens during a walk, in the order it happens. */
export type WalkEvent =
  | {
      readonly event: 'start';
      readonly pipeline: string;
      readonly asked: readonly Span[];
      readonly missing: readonly Span[];
      readonly seqnos: number;
      /** Records that the headers promise; undefined where no headers are known. */
      readonly records: number | undefined;
    }
  | { readonly event: 'planned'; readonly pipeline: string; readonly requests: number }
  | { readonly event: 'progress'; readonly pipeline: string; readonly seqnos: number; readonly records: number }
  | {
      readonly event: 'span';
      readonly pipeline: string;
      readonly from: number;
      readonly to: number;
      readonly rows: Readonly<Record<string, number>>;
    }
  /** The chain grew while a list was read: so many of its rows are newer than the block that the reading began at. */
  | {
      readonly event: 'skew';
      readonly pipeline: string;
      readonly from: number;
      readonly to: number;
      readonly rows: number;
    }
  /** Keys given for a lookup that the source refused; the table `lookups` says why, key by key. */
  | {
      readonly event: 'refused-keys';
      readonly pipeline: string;
      readonly from: number;
      readonly to: number;
      /** Keys that were asked for. */
      readonly keys: number;
      readonly refused: number;
      /** Why the first of them was refused. */
      readonly message: string;
    }
  | {
      readonly event: 'problem';
      readonly pipeline: string;
      readonly from: number;
      readonly to: number;
      readonly code: string;
      readonly message: string;
    }
  | {
      readonly event: 'quarantine';
      readonly pipeline: string;
      readonly seqno: number;
      readonly pointer: string;
      readonly reason: string;
    }
  | {
      readonly event: 'unknown-field';
      readonly pipeline: string;
      /** Table and JSON pointer. */
      readonly field: string;
      readonly count: number;
    };

/** What a commit brought. */
export function spanEvent({ pipeline, span: { from, to }, tables }: LedgerEntry): WalkEvent {
  const rows = Object.fromEntries(Object.entries(tables).map(([table, part]) => [table, part.rows]));
  return { event: 'span', pipeline, from, to, rows };
}

/** Where a walk puts its spans, and where it finds the headers that it proves them by. */
export interface SpanSink {
  stage(pipeline: string, span: Span): Stage;
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  ledger(): readonly LedgerEntry[];
  /** Reads over the committed rows. */
  readonly query: Query;
  /** Whether rows that were committed can be read. */
  readonly isKept: boolean;
  /** Committed headers, by masterchain seqno. */
  headers(span: Span): Promise<ReadonlyMap<number, readonly Header[]>>;
  /** Transactions that are committed already in some spans. */
  transactions(spans: readonly Span[]): Promise<SealedRows['blocks']>;
}

/** What a walk may use. */
export interface WalkContext<Pipeline extends PipelineDef = PipelineDef> {
  readonly pipeline: Pipeline;
  /** The same with everything that a selection leaves out. */
  readonly declared: PipelineDef;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly registry: Registry;
  readonly network: string;
  readonly source: Source;
  readonly sink: SpanSink;
  readonly effects: Effects;
  readonly mode: WalkMode;
  /** Most requests of one span: bounds what a kill can cost. */
  readonly requestsPerSpan: number;
  /** First and newest block of the index when the walk began. */
  readonly ends: IndexEnds;
  readonly asked: readonly Span[];
  /** A query of keys, or of parents, instead of the declared one. */
  readonly from?: string | undefined;
  /** Whether readings of lists that change are kept. */
  readonly history: boolean;
  /** Aborted when the run shall end soon: what is whole by then is committed. */
  readonly stop: AbortSignal;
  readonly report: (event: WalkEvent) => void;
}

/** What the engine uses beside. */
export interface EngineContext<Pipeline extends PipelineDef = PipelineDef> extends WalkContext<Pipeline> {
  /** Bounds the pages in memory: those requested, and those being decoded. */
  readonly asks: PageQueue;
  readonly loaders: LoaderPool;
}
