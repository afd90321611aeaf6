import cliProgress from 'cli-progress';
import { formatCount, formatDuration } from '../format.ts';
import type { RunEvent } from '../run.ts';
import type { RetryEvent } from '../source/source.ts';
import { formatSpans } from '../span.ts';

/** What people see of a run on standard error. */
export interface Progress {
  readonly show: (event: RunEvent) => void;
  readonly retry: (event: RetryEvent) => void;
  end(): void;
}

/** Retries are told only when a wait becomes long enough to wonder about, and not more often than this. */
const TELL_WAIT_MS = 5_000;

/** A live line on a terminal, plain lines elsewhere; nothing but problems when standard output carries JSON. */
export function openProgress(isJson: boolean): Progress {
  return !isJson && process.stderr.isTTY ? new LiveProgress() : new LineProgress(isJson);
}

class LineProgress implements Progress {
  private readonly isQuiet: boolean;
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(isQuiet: boolean) {
    this.isQuiet = isQuiet;
  }

  readonly show = (event: RunEvent): void => {
    const line = describeEvent(event);
    if (line !== undefined && (!this.isQuiet || isTrouble(event))) process.stderr.write(`${line}\n`);
  };

  readonly retry = (event: RetryEvent): void => {
    const now = performance.now();
    if (event.sleepMs < TELL_WAIT_MS || now - this.toldAt < TELL_WAIT_MS) return;
    this.toldAt = now;
    process.stderr.write(`${describeRetry(event)}\n`);
  };

  end(): void {}
}

class LiveProgress implements Progress {
  private bar: cliProgress.SingleBar | undefined;
  private records = 0;
  private isByRecords = false;
  private startedAt = 0;

  readonly show = (event: RunEvent): void => {
    if (event.event === 'progress') {
      this.records += event.records;
      const seconds = (performance.now() - this.startedAt) / 1000;
      const rate = this.records === 0 ? '' : `${formatCount(Math.round(this.records / Math.max(seconds, 0.1)))} rows/s`;
      const step = this.isByRecords ? event.records : event.seqnos;
      if (step > 0) this.bar?.increment(step, { rate });
      return;
    }
    if (event.event === 'start') {
      this.end();
      process.stderr.write(`${describeEvent(event)}\n`);
      this.records = 0;
      this.isByRecords = event.records !== undefined;
      const total = event.records ?? event.seqnos;
      const unit = this.isByRecords ? 'rows' : 'blocks';
      this.startedAt = performance.now();
      this.bar = new cliProgress.SingleBar({
        format: `${event.pipeline} {bar} {value}/{total} ${unit}  {rate}  {left} left`,
        barsize: 30,
        hideCursor: true,
        clearOnComplete: true,
        etaBuffer: 200,
        formatValue: (value, _options, type) =>
          type === 'value' || type === 'total' ? formatCount(Number(value)) : String(value),
        stream: process.stderr,
      });
      this.bar.on('redraw-pre', () => this.bar?.update({ left: formatDuration(this.left(total)) }));
      this.bar.start(total, 0, { rate: '', left: '?' });
      return;
    }
    if (isTrouble(event)) {
      this.end();
      process.stderr.write(`${describeEvent(event)}\n`);
    }
  };

  readonly retry = (event: RetryEvent): void => {
    if (event.sleepMs >= TELL_WAIT_MS) this.bar?.update({ rate: describeRetry(event) });
  };

  private left(total: number): number {
    const done = this.bar?.getProgress() ?? 0;
    const seconds = (performance.now() - this.startedAt) / 1000;
    return done === 0 ? total : (seconds * (1 - done)) / done;
  }

  end(): void {
    this.bar?.stop();
    this.bar = undefined;
  }
}

function isTrouble(event: RunEvent): boolean {
  return ['problem', 'quarantine', 'refused-keys'].includes(event.event);
}

function describeRetry(event: RetryEvent): string {
  return `waiting ${formatDuration(event.sleepMs / 1000)}: ${event.message}`;
}

function describeEvent(event: RunEvent): string | undefined {
  switch (event.event) {
    case 'start': {
      const rows = event.records === undefined ? '' : `, ${formatCount(event.records)} transactions`;
      return `${event.pipeline}: fetching ${formatSpans(event.missing)} (${formatCount(event.seqnos)} blocks${rows})`;
    }
    case 'span': {
      const rows = Object.entries(event.rows).map(([table, count]) => `${formatCount(count)} ${table}`);
      return `${event.pipeline}: committed ${event.from}:${event.to} (${rows.join(', ')})`;
    }
    case 'skew':
      return `${event.pipeline}: read while the chain grew from ${event.from} to ${event.to}; ${formatCount(event.rows)} rows are newer than ${event.from}`;
    case 'refused-keys':
      return `${event.pipeline}: ${formatCount(event.refused)} of ${formatCount(event.keys)} keys refused, the first: ${event.message}; see select * from lookups where error is not null`;
    case 'problem':
      return `problem: ${event.message}`;
    case 'unknown-field':
      return `unknown field: ${event.field}, kept in _extra`;
    case 'quarantine':
      return `quarantined: ${event.pipeline} ${event.seqno}: ${event.reason} at ${event.pointer}`;
    default:
      return undefined;
  }
}
