import type { RunEvent } from '../export/run.ts';
import type { MartBuiltEvent } from '../marts/build-marts.ts';
import type { CompactEvent } from '../warehouse/index.ts';

/** Lag of the warehouse behind the chain. Sent after the last commit of each round that committed blocks. */
export interface LagEvent {
  readonly event: 'lag';
  /** Newest masterchain block that all followed pipelines have. */
  readonly block: number;
  /** Newest masterchain block of the index. */
  readonly head: number;
  /** `head` - `block`. */
  readonly blocks: number;
  /** Age of the newest proven block, in seconds. */
  readonly seconds: number;
  /** Age of the oldest block that this round committed, in seconds: the maximum latency of its rows. */
  readonly longest: number;
  /** Unproven blocks before `block`; they are retried. */
  readonly holes: number;
  /** First unproven block. */
  readonly oldestHole?: number | undefined;
  /** Requests since the start. */
  readonly requests: number;
  /** Lag of the most stale mart behind the committed rows, in seconds; absent without marts. */
  readonly martsBehind?: number | undefined;
}

/** The work that waits: requests of the head and its blocks, a head without new blocks, or requests of older blocks. */
export type Waiting = 'head' | 'new-blocks' | 'backfill';

/** Something keeps the warehouse from catching up. Sent when it begins, and every five minutes while it lasts. */
export interface WaitingEvent {
  readonly event: 'waiting';
  readonly of: Waiting;
  /** Code of the error; `head-stands` or `head-back` if the source responds without new blocks. */
  readonly code: string;
  readonly message: string;
  /** Time until the next attempt. */
  readonly seconds: number;
}

/** The condition of the last {@link WaitingEvent} of the same work is over. */
export interface ResumedEvent {
  readonly event: 'resumed';
  readonly of: Waiting;
  readonly code: string;
  /** Duration of the condition. */
  readonly seconds: number;
}

/**
 * The clock that measures lags was reset: `foreign` for a network with its own clock, `slept` after the machine was suspended, `jumped` after
 * a head whose time is in the future.
 */
export interface ClockEvent {
  readonly event: 'clock';
  readonly why: 'foreign' | 'slept' | 'jumped';
  readonly message: string;
}

/** A backfill has ended, or was stopped. If it is incomplete, these blocks continue it: a range such as `-1000:` means others by then. */
export interface BackfillEvent {
  readonly event: 'backfill';
  readonly complete: boolean;
  readonly from: number;
  readonly to: number;
  /** Missing blocks of the pipeline that misses the most. */
  readonly missing: number;
}

/** Small files could not be merged; the next merge retries. */
export interface MergeFailedEvent {
  readonly event: 'merge-failed';
  readonly message: string;
}

/** A mart could not be built; it is retried after a minute. */
export interface MartFailedEvent {
  readonly event: 'mart-failed';
  readonly mart: string;
  readonly message: string;
}

/** Events of `followHead`: those of a run, and these. */
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
