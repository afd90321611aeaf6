import { formatCount, formatDuration } from '../core/format.ts';
import { formatSpan } from '../core/span.ts';
import { describeEvent, isTrouble } from '../export/describe-event.ts';
import type { RunEvent } from '../export/run.ts';
import type { DeliveryEvent } from '../feed/deliveries.ts';
import type { FollowEvent, LagEvent } from '../follow/follow-event.ts';
import type { RetryEvent } from '../http/source.ts';
import { RunProgress } from './run-progress.ts';
import type { StatusLine } from './status-line.ts';

/** Pause between two lines about the lag where there is no status line, such as in a log. */
const LAG_INTERVAL_MS = 60_000;
/** Shorter waits are not shown, nor is a second retry within this time. */
const MIN_WAIT_MS = 5_000;
/** Polls for a late block before a message about it: about five seconds. */
const SILENT_POLLS = 6;
const NOT_INDEXED = 'not-indexed';

/** Shows the events of an export to people: progress in the status line, messages above it. */
export class LiveEvents {
  readonly #line: StatusLine;
  readonly #isJson: boolean;
  readonly #progress = new RunProgress();
  #lag: LagEvent | undefined;
  #printedAt = Number.NEGATIVE_INFINITY;
  /** Why it is waiting now. */
  #pause: string | undefined;
  /** True while the last message says what the export waits for: its retries are not printed. */
  #isWaiting = false;

  /** @param isJson true if events go to standard output as JSON: only trouble is printed then */
  constructor(line: StatusLine, isJson: boolean) {
    this.#line = line;
    this.#isJson = isJson;
  }

  /** An event of a run, which has an end. */
  readonly showRun = (event: RunEvent): void => {
    if (event.event === 'progress' || event.event === 'span') this.#pause = undefined;
    this.#progress.see(event, this.#line.now());
    // On a terminal, the line shows what is committed.
    const isPrinted = isTrouble(event) || (!this.#isJson && (event.event === 'start' || !this.#line.isShown));
    const text = isPrinted ? describeEvent(event) : undefined;
    if (text !== undefined) this.#line.print(text);
    if (event.event === 'start') this.#line.set(this.#render);
  };

  /** An event while the head is followed. */
  readonly showFollow = (event: FollowEvent | DeliveryEvent): void => {
    if (event.event === 'waiting') this.#isWaiting = true;
    if (event.event === 'resumed' || event.event === 'lag') {
      this.#isWaiting = false;
      this.#pause = undefined;
    }
    if (event.event === 'lag') return this.#showLag(event);
    const text = describeFollowing(event);
    if (text !== undefined) this.#line.print(text);
  };

  readonly retry = (event: RetryEvent): void => {
    const { sleepMs, code, attempt } = event;
    const polls = code === NOT_INDEXED ? attempt : 0;
    if (this.#isWaiting || (sleepMs < MIN_WAIT_MS && polls < SILENT_POLLS)) return;
    this.#pause = describeRetry(event);
    if (this.#line.isShown) return this.#line.set(this.#render);
    const now = this.#line.now();
    if (now - this.#printedAt < MIN_WAIT_MS || polls > SILENT_POLLS) return;
    this.#printedAt = now;
    this.#line.print(this.#pause);
  };

  readonly #render = (now: number, width: number): string | undefined => {
    if (this.#lag === undefined) return this.#progress.line(now, width, this.#pause) ?? this.#pause;
    return this.#pause === undefined ? describeLag(this.#lag, width) : `${describeLag(this.#lag, 0)}  ${this.#pause}`;
  };

  #showLag(event: LagEvent): void {
    this.#lag = event;
    if (this.#line.isShown) return this.#line.set(this.#render);
    const now = this.#line.now();
    if (this.#isJson || now - this.#printedAt < LAG_INTERVAL_MS) return;
    this.#printedAt = now;
    this.#line.print(describeLag(event, Number.POSITIVE_INFINITY));
  }
}

function describeRetry({ sleepMs, code, message }: RetryEvent): string {
  return code === NOT_INDEXED ? `waiting: ${message}` : `waiting ${formatDuration(sleepMs / 1000)}: ${message}`;
}

/** One line for an event of `follow`; undefined for events that are not printed. */
function describeFollowing(event: Exclude<FollowEvent, LagEvent> | DeliveryEvent): string | undefined {
  switch (event.event) {
    case 'waiting':
      return `waiting for this to pass: ${event.message}`;
    case 'resumed':
      return `continuing after ${formatDuration(event.seconds)}`;
    case 'clock':
    case 'merge-failed':
      return `note: ${event.message}`;
    case 'mart-failed':
      return `note: mart ${event.mart} was not built: ${event.message}`;
    case 'backfill': {
      const { complete, from, to, missing } = event;
      const blocks = formatSpan({ from, to });
      if (complete) return `backfill ${blocks}: complete`;
      return `backfill ${blocks}: incomplete, ${formatCount(missing)} blocks are missing; --backfill ${blocks} fetches the rest`;
    }
    case 'delivery-failed':
      return `${event.to}: ${event.message}; retrying until it is accepted`;
    case 'delivery-resumed':
      return `${event.to}: accepted again after ${formatDuration(event.seconds)}`;
    case 'delivery-restarted':
      return `note: ${event.to}: starts anew, because it reads tables of another pipeline; what was pending is not sent`;
    case 'merged':
    case 'mart':
      return undefined;
    default:
      return isTrouble(event) ? describeEvent(event) : undefined;
  }
}

/** Leaves out the number of requests if the line is longer than `width`. */
function describeLag(event: LagEvent, width: number): string {
  const { block, blocks, seconds, holes, oldestHole, requests, martsBehind = 0 } = event;
  const behind = blocks === 0 ? 'at the head' : `${formatCount(blocks)} blocks behind the head`;
  const missing = holes === 0 ? '' : `, ${formatCount(holes)} missing from ${oldestHole}`;
  const marts = martsBehind === 0 ? '' : `, marts ${formatDuration(Math.round(martsBehind))} behind`;
  const line = `block ${block}, ${behind}, lag ${formatDuration(Math.round(seconds))}${missing}${marts}`;
  const whole = `${line}  (${formatCount(requests)} requests)`;
  return whole.length <= width ? whole : line;
}
