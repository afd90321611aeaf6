import { formatCount, formatDuration } from '../core/format.ts';
import { formatSpan } from '../core/span.ts';
import { describeEvent, isTrouble } from '../export/describe-event.ts';
import type { DeliveryEvent } from '../feed/deliveries.ts';
import type { BackfillEvent, FollowEvent, LagEvent } from '../follow/follow-event.ts';
import type { RetryEvent } from '../http/source.ts';
import { pasteable } from './invocation.ts';
import { describeRetry, TELL_WAIT_MS } from './progress-text.ts';

/** How often the lag is printed where lines stay, such as in a log. */
const TELL_LAG_MS = 60_000;

/** Standard error, or what stands for it. */
export interface LineOutput {
  readonly isTTY: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** What people see of it: on a terminal one line that changes, elsewhere a line now and then. */
export class FollowLines {
  private readonly isQuiet: boolean;
  private readonly output: LineOutput;
  private readonly now: () => number;
  private toldAt = Number.NEGATIVE_INFINITY;
  private isOpen = false;
  /** True from the line that says what is waited for until it is over: retries between them say nothing new. */
  private isWaiting = false;

  /** @param isJson true to leave out lags, which are events then */
  constructor(isJson: boolean, output: LineOutput, now: () => number = () => performance.now()) {
    this.isQuiet = isJson;
    this.output = output;
    this.now = now;
  }

  readonly show = (event: FollowEvent | DeliveryEvent): void => {
    if (event.event === 'waiting') this.isWaiting = true;
    if (event.event === 'resumed' || event.event === 'lag') this.isWaiting = false;
    if (event.event === 'lag') this.showLag(event);
    else if (event.event === 'waiting') this.tell(`waiting for this to pass: ${event.message}`);
    else if (event.event === 'resumed') this.tell(`continuing after ${formatDuration(event.seconds)}`);
    else if (event.event === 'clock' || event.event === 'merge-failed') this.tell(`note: ${event.message}`);
    else if (event.event === 'backfill') this.tell(describeBackfill(event));
    else if (event.event === 'delivery-failed')
      this.tell(`${event.to}: ${event.message}; retrying until it is accepted`);
    else if (event.event === 'delivery-resumed')
      this.tell(`${event.to}: accepted again after ${formatDuration(event.seconds)}`);
    else if (event.event === 'mart-failed') this.tell(`note: mart ${event.mart} was not built: ${event.message}`);
    else if (event.event === 'merged' || event.event === 'mart') return;
    else if (event.event !== 'done' && isTrouble(event)) this.tell(describeEvent(event) ?? '');
  };

  readonly retry = (event: RetryEvent): void => {
    const now = this.now();
    if (this.isWaiting || event.sleepMs < TELL_WAIT_MS || now - this.toldAt < TELL_WAIT_MS) return;
    this.toldAt = now;
    this.tell(describeRetry(event));
  };

  readonly tell = (line: string): void => {
    this.end();
    this.output.write(`${pasteable(line)}\n`);
  };

  readonly end = (): void => {
    if (this.isOpen) this.output.write('\n');
    this.isOpen = false;
  };

  private showLag(event: LagEvent): void {
    if (this.isQuiet) return;
    if (this.output.isTTY) {
      const { columns = Number.POSITIVE_INFINITY } = this.output;
      // A line that wraps could not be replaced.
      this.output.write(`\r\u001b[K${describeLag(event, columns - 1)}`);
      this.isOpen = true;
    } else if (this.now() - this.toldAt >= TELL_LAG_MS) {
      this.toldAt = this.now();
      this.tell(describeLag(event, Number.POSITIVE_INFINITY));
    }
  }
}

function describeBackfill({ complete, from, to, missing }: BackfillEvent): string {
  const state = complete ? 'complete' : `incomplete, ${formatCount(missing)} blocks are missing`;
  return `backfill ${formatSpan({ from, to })}: ${state}`;
}

/** In at most `width` characters: without the requests, and then cut off, if it is longer. */
function describeLag(event: LagEvent, width: number): string {
  const { block, blocks, seconds, holes, oldestHole, requests, martsBehind = 0 } = event;
  const behind = blocks === 0 ? 'at the head' : `${formatCount(blocks)} blocks behind the head`;
  const missing = holes === 0 ? '' : `, ${formatCount(holes)} missing from ${oldestHole}`;
  const marts = martsBehind === 0 ? '' : `, marts ${formatDuration(Math.round(martsBehind))} behind`;
  const line = `block ${block}, ${behind}, lag ${formatDuration(Math.round(seconds))}${missing}${marts}`;
  const whole = `${line}  (${formatCount(requests)} requests)`;
  return whole.length <= width ? whole : line.slice(0, width);
}
