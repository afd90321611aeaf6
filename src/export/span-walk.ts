import type { BadBlock } from '../audit/reconcile.ts';
import type { TonlakeError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import type { Batch } from '../decode/batch.ts';
import type { Answer } from '../http/request.ts';
import type { ListProofKind } from '../warehouse/index.ts';
import type { RowRules } from './row-rules.ts';
import type { PageReport } from './span-loader.ts';
import type { WalkRequest } from './walk-request.ts';
import type { SpanLoaderPort, StagedRows } from './workers/loader-port.ts';

/** Requests that may be asked side by side. */
export interface Round<Request extends WalkRequest = WalkRequest> {
  readonly requests: Iterable<Request>;
  /** How many they are, without those that their pages leave to ask for. */
  readonly count: number;
}

/** What the ledger is told of rows, beside where they come from. */
export interface EntryTerms {
  readonly span: Span;
  /** Newest block before the rows were read, and after; undefined for rows that are final. */
  readonly asOf?: Span | undefined;
  /** What was asked for, where it was not everything in the span. */
  readonly scope?: string | undefined;
  /** Undefined for rows that headers prove. */
  readonly proof?: ListProofKind | undefined;
  readonly planned?: number | undefined;
  /** Entries that this one takes the place of, beside those that any whole commit of the span replaces. */
  readonly supersedes?: readonly string[] | undefined;
}

/** The rows that came so far, for a walk that compares them with more than the loader can. */
export interface ProvableRows extends Pick<SpanLoaderPort, 'links' | 'stage'> {
  /** Asks for more pages. @returns how many rows they brought */
  ask(requests: readonly WalkRequest[]): Promise<number>;
}

/** What a comparison found, and the rows of each part that nothing speaks against, staged. */
export interface Comparison {
  readonly bad: readonly BadBlock[];
  readonly staged: readonly StagedRows[];
}

/** How a span that was read came out. */
export interface Reading {
  /** Records that could not be decoded. */
  readonly refused: number;
  /** The run ends: the rest was not asked for. */
  readonly isStopped: boolean;
}

/**
 * One span of a walk, from its requests to what its ledger entry says: data and functions without effects. The engine asks, decodes,
 * repairs, quarantines, commits and tells.
 */
export interface SpanWalk<Request extends WalkRequest = WalkRequest> {
  readonly span: Span;
  /** For the loader: how rows tell their block, and what they are held against. */
  readonly rows: RowRules;
  /**
   * What stays out when something is wrong. `block`: that masterchain block alone, after it was asked for again. `span`: the span is
   * read anew in halves, down to the block. `reading`: nothing; the entry says that it is a part.
   */
  readonly unit: 'block' | 'span' | 'reading';
  /** Entries in whose place the rows come: all of the span is committed, or nothing. */
  readonly replaces?: readonly string[] | undefined;
  /** The requests of the span; each round begins when the one before it is answered with all that its pages left to ask for. */
  plan(): AsyncIterable<Round<Request>>;
  /** Refuses a page that is plainly short before it is decoded. @throws retryable errors */
  see?(request: Request, answer: Answer): void;
  /** What a page leaves to ask for. Default: nothing. */
  next?(request: Request, page: PageReport): readonly Request[] | Promise<readonly Request[]>;
  /** What a request that failed leaves to ask for. Undefined: the engine judges the failure. */
  failed?(request: Request, error: unknown): readonly Request[] | undefined;
  /** Blocks that are wrong, beside those that the loader finds. */
  audit?(rows: ProvableRows): Promise<readonly BadBlock[]>;
  /** How to ask for one block by itself. */
  repair?(seqno: number): readonly Request[];
  /** Compares sound parts of the span with what the warehouse holds; asks for what is missing. */
  compare?(rows: ProvableRows, parts: readonly Span[]): Promise<Comparison>;
  /** What the ledger is told of a part of the span, or of a reading; undefined: nothing is committed. */
  entry(part: Span, reading: Reading): EntryTerms | undefined | Promise<EntryTerms | undefined>;
  /** Rows of further tables that a reading brings. */
  more?(): readonly Batch[];
  /** The same for a part of the span. Needed where `unit` is `span`. */
  part?(span: Span): SpanWalk<Request>;
  /** When a reading is committed: tells what people should know of it. */
  onCommitted?(reading: Reading): Promise<void>;
  onEnd?(): void;
}

/** Masterchain blocks that are not in, and why. */
export interface BlockProblem {
  readonly span: Span;
  readonly error: TonlakeError;
}

/** Makes the walk of a span when there is room for it, or says what is known to be wrong with the span. */
export type Prepare = () => SpanWalk | BlockProblem | Promise<SpanWalk | BlockProblem>;
