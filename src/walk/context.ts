import type { Header } from '../audit/header.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Effects } from '../effects.ts';
import type { Source } from '../source/source.ts';
import type { Span } from '../span.ts';
import type { CommitDraft, LedgerEntry, Stage, StagedSpan } from '../store/store.ts';

/** When a span closes: as soon as one of these is reached. */
export interface SpanLimits {
  readonly seqnos: number;
  readonly records: number;
  /** Time since its first row, so that a slow source does not keep much uncommitted. */
  readonly ms: number;
}

/** What happens during a run, in the order it happens; one JSON line each with `--json`. */
export type RunEvent =
  | {
      readonly event: 'start';
      readonly pipeline: string;
      readonly asked: readonly Span[];
      readonly missing: readonly Span[];
      readonly seqnos: number;
      /** Records that the headers promise; undefined where no headers are known. */
      readonly records: number | undefined;
    }
  | { readonly event: 'progress'; readonly pipeline: string; readonly seqno: number; readonly records: number }
  | {
      readonly event: 'span';
      readonly pipeline: string;
      readonly from: number;
      readonly to: number;
      readonly rows: Readonly<Record<string, number>>;
      readonly requests: number;
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
  | { readonly event: 'unknown-field'; readonly pipeline: string; readonly field: string; readonly count: number };

/** Where a walk puts its spans, and where it finds the headers that it proves them by. */
export interface SpanSink {
  stage(pipeline: string, span: Span): Stage;
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  ledger(): readonly LedgerEntry[];
  /** Committed headers, by masterchain seqno. */
  headers(span: Span): Promise<ReadonlyMap<number, readonly Header[]>>;
}

/** Everything a walk works with. */
export interface WalkContext {
  readonly pipeline: PipelineDef;
  readonly network: string;
  readonly source: Source;
  readonly sink: SpanSink;
  readonly effects: Effects;
  readonly limits: SpanLimits;
  /** How many masterchain blocks are asked for ahead of the one that is being loaded. */
  readonly ahead: number;
  /** First seqno of the index. */
  readonly first: number;
  /** Aborted when the run shall end after the span in flight. */
  readonly stop: AbortSignal;
  readonly report: (event: RunEvent) => void;
}
