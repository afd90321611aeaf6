import type { ProvenRows } from '../audit/proven-rows.ts';
import type { Header, LinkedBlock } from '../chain/headers.ts';
import type { IndexEnds } from '../chain/index-head.ts';
import type { Effects } from '../core/effects.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { RoleName } from '../declare/roles.ts';
import type { Source } from '../http/source.ts';
import type { Query } from '../sql/query-result.ts';
import type { CommitDraft, LedgerEntry, Rewrite, Stage, StagedSpan } from '../warehouse/index.ts';
import type { StateCache } from './state-cache.ts';

/** How rows are requested: by masterchain block, by windows of logical time, or whichever takes fewer requests. */
export type WalkMode = 'masterchain' | 'window' | 'auto';

/** Blocks of a pipeline that an event is about, both ends inclusive. */
interface OfBlocks extends Span {
  readonly pipeline: string;
}

/** What happens during a walk, in the order it happens. */
export type WalkEvent =
  | {
      readonly event: 'start';
      readonly pipeline: string;
      readonly asked: readonly Span[];
      readonly missing: readonly Span[];
      readonly seqnos: number;
      /** Records that the headers promise; undefined if no headers are known. */
      readonly records: number | undefined;
    }
  | { readonly event: 'planned'; readonly pipeline: string; readonly requests: number }
  | { readonly event: 'progress'; readonly pipeline: string; readonly seqnos: number; readonly records: number }
  | (OfBlocks & { readonly event: 'span'; readonly rows: Readonly<Record<string, number>> })
  /** The chain grew while a list was read: `rows` are newer than the block at which the reading began. */
  | (OfBlocks & { readonly event: 'skew'; readonly rows: number })
  /** A reading of a list has fewer `rows` than the one that it replaced: the source may have left some out. */
  | (OfBlocks & { readonly event: 'fewer-rows'; readonly rows: number; readonly before: number })
  /** Of `keys` given for a lookup, the source refused some: the table `lookups` says why. `message` is the first reason. */
  | (OfBlocks & {
      readonly event: 'refused-keys';
      readonly keys: number;
      readonly refused: number;
      readonly message: string;
    })
  /** Of the `keys` of a lookup, the source has no row for `unknown`, also when requested again. */
  | (OfBlocks & { readonly event: 'unknown-keys'; readonly keys: number; readonly unknown: number })
  /** Another writer of the same warehouse has committed some of these blocks first: the rows of this one were dropped. */
  | (OfBlocks & { readonly event: 'rival' })
  /** Block `seqno` of a commit was compared with the witness, which has the same one; or did not answer: then `message` says why. */
  | (OfBlocks & {
      readonly event: 'witness';
      readonly seqno: number;
      readonly answered: boolean;
      readonly message: string;
    })
  /** The source cannot answer a request for so many rows, and is asked for fewer. `message` says how it failed. Told once. */
  | (OfBlocks & { readonly event: 'halved'; readonly message: string })
  | (OfBlocks & { readonly event: 'problem'; readonly code: string; readonly message: string })
  | {
      readonly event: 'quarantine';
      readonly pipeline: string;
      readonly seqno: number;
      readonly pointer: string;
      readonly reason: string;
    }
  /** `field` is a table and a JSON pointer. */
  | { readonly event: 'unknown-field'; readonly pipeline: string; readonly field: string; readonly count: number };

/** The event of a commit. */
export function spanEvent({ pipeline, span: { from, to }, tables }: LedgerEntry): WalkEvent {
  const rows = Object.fromEntries(Object.entries(tables).map(([table, part]) => [table, part.rows]));
  return { event: 'span', pipeline, from, to, rows };
}

/** Where a walk writes its spans and reads what it compares them with. */
export interface SpanSink {
  stage(span: Span): Stage;
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  /** Replaces entries in one commit. @throws {StoreError} `damaged` if rows to keep are not those that were committed */
  rewrite(rewrites: readonly Rewrite[]): Promise<readonly LedgerEntry[]>;
  ledger(): readonly LedgerEntry[];
  /** Queries the committed rows. */
  readonly query: Query;
  /** SQL after FROM, for `query`: the committed rows of a role, at least those of some blocks. */
  rows(role: RoleName, spans: readonly Span[]): string;
  /** True if other writers have committed all of these blocks since this one began; absent if there are none. */
  isRivalled?(pipeline: string, span: Span): boolean;
  /** @throws {StoreError} `newer-tonlake` if a newer version has committed columns since that this one does not know */
  requireKnown?(): void;
  /** True if committed rows can be queried. */
  readonly isQueryable: boolean;
  /** Root hash of a masterchain block whose header is committed. */
  rootHash?(seqno: number): Promise<string | undefined>;
  /** Committed headers, by masterchain seqno. */
  headers(span: Span): Promise<ReadonlyMap<number, readonly Header[]>>;
  /** The blocks that a masterchain block includes, with those that they follow, by their committed headers; absent if they were not kept. */
  linked?(seqno: number): Promise<readonly Pick<LinkedBlock, 'id' | 'prev'>[]>;
  /** Blocks in some spans whose transactions are committed. */
  transactions(spans: readonly Span[]): Promise<ProvenRows['blocks']>;
  /** Number of transactions in some spans, by their committed headers. */
  txCount?(spans: readonly Span[]): Promise<number>;
}

/** The environment of a walk. */
export interface WalkContext<Pipeline extends PipelineDef = PipelineDef> {
  readonly pipeline: Pipeline;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly registry: Registry;
  readonly network: string;
  readonly source: Source;
  /** Second source, which blocks of commits are compared with. */
  readonly witness?: Source | undefined;
  readonly sink: SpanSink;
  readonly effects: Effects;
  readonly mode: WalkMode;
  /** Maximum of requests per span: a killed run fetches its last spans again. */
  readonly requestsPerSpan: number;
  /** First and newest block of the index when the walk began. */
  readonly ends: IndexEnds;
  readonly asked: readonly Span[];
  /** Query of keys, or of parents, that replaces the declared one. */
  readonly from?: string | undefined;
  /** True if earlier readings of changing lists stay. */
  readonly history: boolean;
  /** Aborted to end the run: complete spans are still committed. */
  readonly stop: AbortSignal;
  readonly report: (event: WalkEvent) => void;
  /** Shard states that all walks of a run share. */
  readonly states: StateCache;
}

/** Number of the newest known ledger entry; 0 if there is none. */
export function lastSeen({ sink }: Pick<WalkContext, 'sink'>): number {
  return sink.ledger().reduce((last, { number }) => Math.max(last, number), 0);
}
