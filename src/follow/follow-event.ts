import type { RunEvent } from '../export/run.ts';
import type { MartBuiltEvent } from '../marts/build-marts.ts';
import type { CompactEvent } from '../warehouse/index.ts';

/** How far the warehouse is behind the chain. One for each round that committed blocks, after its last commit. */
export interface LagEvent {
  readonly event: 'lag';
  /** Newest masterchain block that all followed pipelines have. */
  readonly block: number;
  /** Newest masterchain block of the index. */
  readonly head: number;
  /** Blocks from the one to the other. */
  readonly blocks: number;
  /** Age of the newest proven block, in seconds. */
  readonly seconds: number;
  /** Age of the oldest block that this round brought in, in seconds: the longest that any of its rows took. */
  readonly longest: number;
  /** Blocks behind the newest proven one that are not proven; they are tried again. */
  readonly holes: number;
  /** The first of them. */
  readonly oldestHole?: number | undefined;
  /** Requests since the start. */
  readonly requests: number;
  /** How long a mart has lacked rows that are committed, at most, in seconds; absent without marts. */
  readonly martsBehind?: number | undefined;
}

/** Something keeps the warehouse from catching up. Told when it begins, and every five minutes while it lasts. */
export interface WaitingEvent {
  readonly event: 'waiting';
  /** Code of the error; `head-stands` or `head-back` if the source answers, but without new blocks. */
  readonly code: string;
  readonly message: string;
  /** Time until the next try. */
  readonly seconds: number;
}

/** What kept the warehouse from catching up is over. */
export interface ResumedEvent {
  readonly event: 'resumed';
  readonly code: string;
  /** How long it lasted. */
  readonly seconds: number;
}

/**
 * The clock by which lags are measured was set: `foreign` for a network with its own clock, `slept` after the machine did, `jumped` after a
 * head whose time is later than it can be.
 */
export interface ClockEvent {
  readonly event: 'clock';
  readonly why: 'foreign' | 'slept' | 'jumped';
  readonly message: string;
}

/** A backfill beside the head has ended. */
export interface BackfillEvent {
  readonly event: 'backfill';
  readonly complete: boolean;
  readonly from: number;
  readonly to: number;
  /** Most blocks that a pipeline lacks. */
  readonly missing: number;
}

/** Small files could not be merged; it is tried again. */
export interface MergeFailedEvent {
  readonly event: 'merge-failed';
  readonly message: string;
}

/** A mart could not be built; it is tried again after a minute. */
export interface MartFailedEvent {
  readonly event: 'mart-failed';
  readonly mart: string;
  readonly message: string;
}

/** What happens while the head is followed: the events of a run, and these. */
export type FollowEvent =
  | RunEvent
  | CompactEvent
  | MergeFailedEvent
  | MartBuiltEvent
  | MartFailedEvent
  | LagEvent
  | WaitingEvent
  | ResumedEvent
  | ClockEvent
  | BackfillEvent;
