import type { RowsWithin } from '../audit/page-audit.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import type { TonlakeError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import type { Batch } from '../decode/batch.ts';
import type { SourceResponse } from '../http/request.ts';
import type { ContentCounts } from '../proof/content-audit.ts';
import type { ListProofKind, StagedSpan } from '../warehouse/index.ts';
import type { RowRules } from './load-rules.ts';
import type { PageReport } from './span-loader.ts';
import type { WalkRequest } from './walk-request.ts';
import type { SpanLoaderPort } from './workers/loader-port.ts';

/** Requests that may be sent concurrently. */
export interface Round<Request extends WalkRequest = WalkRequest> {
  readonly requests: Iterable<Request>;
  /** Their number, without the requests that follow from their pages. */
  readonly count: number;
}

/** Contents of a ledger entry that the walk decides. */
export interface EntryTerms {
  readonly span: Span;
  /** Newest block before and after the rows were read; undefined for final rows. */
  readonly asOf?: Span | undefined;
  /** What was requested, if not the whole span. */
  readonly scope?: string | undefined;
  /** Number of requested keys that the source does not know. */
  readonly unknownKeys?: number | undefined;
  /** Undefined if headers prove the rows. */
  readonly proof?: ListProofKind | undefined;
  readonly planned?: number | undefined;
  /** Results of the content proof. */
  readonly content?: ContentCounts | undefined;
  /** Entries that this one replaces, besides those that the engine finds. */
  readonly supersedes?: readonly string[] | undefined;
  /** See `CommitDraft`. */
  readonly seen?: number | undefined;
}

/** The loaded rows, for a walk that checks them itself. */
export interface ProvableRows extends Pick<SpanLoaderPort, 'links'> {
  /** Blocks whose own pages were loaded. */
  readonly answered: ReadonlySet<number>;
  /** Writes the rows of a part to files for a query. They stay in memory, too. */
  stage(part: Span): Promise<ScratchRows>;
  /** Aborted after a failure that ends the run, or a stop: no more requests are sent, and only loaded rows can be proven. */
  readonly signal: AbortSignal;
  /** Requests more pages. @returns the number of new rows */
  fetch(requests: readonly WalkRequest[]): Promise<number>;
}

/** Rows in files that are not committed. */
export interface ScratchRows {
  readonly staged: StagedSpan;
  /** Removes the files. */
  discard(): Promise<void>;
}

/** How the reading of a span ended. */
export interface Reading {
  /** Records that could not be decoded. */
  readonly refused: number;
  /** True if the run was stopped before everything was requested. */
  readonly isStopped: boolean;
}

/**
 * One span of a walk, from its requests to its ledger entry: data, and functions without effects. The engine sends the requests,
 * decodes pages, repeats unproven blocks, quarantines, commits and reports.
 */
export interface SpanWalk<Request extends WalkRequest = WalkRequest> {
  readonly span: Span;
  /** The blocks to commit. Blocks between them only come with the same pages. Default: the whole span. */
  readonly only?: readonly Span[] | undefined;
  /** How the loader assigns rows to blocks and checks them. */
  readonly rows: RowRules;
  /** Selects the rows of a part, if rows have no blocks. Default: all. */
  rowsOf?(part: Span): RowsWithin;
  /**
   * True for lists that are read to their end: all loaded rows are committed, and the entry says if it is partial. Default false: only
   * proven rows are committed, block by block if rows have blocks.
   */
  readonly isReading?: boolean | undefined;
  /** The requests of the span. A round begins when the one before has ended, with all requests that followed from its pages. */
  plan(): AsyncIterable<Round<Request>>;
  /** Checks a response before it is decoded. @throws a retryable error if it is incomplete */
  see?(request: Request, response: SourceResponse): void;
  /** Requests that follow from a page. Default: none. */
  next?(request: Request, page: PageReport): readonly Request[] | Promise<readonly Request[]>;
  /** The halves of a request for too many rows; none if it is as small as it can be. Default: none. */
  halve?(request: Request): readonly Request[];
  /** Requests that replace a failed one; undefined to leave the failure to the engine. */
  failed?(request: Request, error: unknown): readonly Request[] | undefined;
  /** Wrong blocks, besides those that the loader finds. */
  audit?(rows: ProvableRows): Promise<readonly BadBlock[]>;
  /** Blocks that were loaded in a common window, without a page of their own. Default: none. */
  readonly answered?: ReadonlySet<number>;
  /** Compares valid parts of the span with the warehouse, and requests missing rows. @returns blocks with wrong rows */
  compare?(rows: ProvableRows, parts: readonly Span[]): Promise<readonly BadBlock[]>;
  /** The ledger entry of a part of the span, or of a reading. Undefined: nothing is committed. */
  entry(part: Span, reading: Reading): EntryTerms | undefined | Promise<EntryTerms | undefined>;
  /** Rows of other tables that belong to a reading. */
  more?(): readonly Batch[];
  /**
   * The walk of unproven blocks of the span, each with its own requests; if rows have no blocks, the walk of one of several spans, or of half
   * a span. Default: they are not walked again.
   */
  part?(blocks: readonly Span[]): SpanWalk | Promise<SpanWalk>;
  /** Called after the commit of a reading, to report on it. */
  onCommitted?(reading: Reading): Promise<void>;
  /** Called when the span has ended, also after a failure. */
  onEnd?(): void;
}

/** The blocks that a walk commits. */
export function blocksOf({ span, only }: Pick<SpanWalk, 'span' | 'only'>): readonly Span[] {
  return only ?? [span];
}

/** Masterchain blocks that could not be exported, and why. */
export interface BlockProblem {
  readonly span: Span;
  readonly error: TonlakeError;
}

/** Makes the walk of a span, when the engine can start it; or returns a known problem of the span. */
export type Prepare = () => SpanWalk | BlockProblem | Promise<SpanWalk | BlockProblem>;
