import { formatCount, formatDuration } from '../core/format.ts';
import type { RunEvent, RunStages } from '../export/run.ts';

const BAR_WIDTH = { min: 10, max: 30 };
/** Rates over less time than this are unreliable. */
const MIN_SECONDS = 0.1;
/** The time left is estimated from this share of the stage on, or from this number of steps. */
const ENOUGH = { share: 0.01, steps: 10 };
const GAP = '  ';

interface Stage {
  readonly pipeline: string;
  readonly blocks: number;
  /** Number of rows according to the headers; without headers, blocks are counted. */
  readonly expected: number | undefined;
  readonly startedAt: number;
  rows: number;
  walked: number;
  /** Number of events that moved the stage forward. */
  steps: number;
}

/** Progress of a run in one line: the current pipeline, and the time left of all. Times are in milliseconds. */
export class RunProgress {
  #stages: RunStages['stages'] = [];
  #stage: Stage | undefined;
  /** The slowest finished stage, used to estimate the following ones. */
  #secondsPerBlock = 0;

  see(event: RunEvent, now: number): void {
    if (event.event === 'stages') {
      this.#stages = event.stages.filter(({ blocks }) => blocks > 0);
      this.#secondsPerBlock = 0;
      this.#stage = undefined;
    } else if (event.event === 'start') {
      this.#finish(now);
      const { pipeline, seqnos: blocks, records: expected } = event;
      this.#stage = { pipeline, blocks, expected, startedAt: now, rows: 0, walked: 0, steps: 0 };
    } else if (event.event === 'progress' && this.#stage !== undefined) {
      this.#stage.rows += event.records;
      this.#stage.walked += event.seqnos;
      // Without an expected number of rows, only finished blocks are progress.
      if (this.#stage.expected !== undefined || event.seqnos > 0) this.#stage.steps++;
    }
  }

  /**
   * The bar is as long as the rest of the line permits; undefined before the first stage.
   * @param pause why the run is waiting
   */
  line(now: number, width = Number.POSITIVE_INFINITY, pause = ''): string | undefined {
    const stage = this.#stage;
    if (stage === undefined) return undefined;
    const { rows, expected, walked } = stage;
    const isUncounted = expected === undefined && walked === 0 && rows > 0;
    const speed = `${formatCount(Math.round(rows / secondsSince(stage.startedAt, now)))} rows/s`;
    const rate = rows > 0 && pause === '' ? speed : '';
    const rest = [rate, this.#timeLeft(stage, now), pause];
    const parts = [isUncounted ? `${formatCount(rows)} rows` : countOf(stage), ...rest].filter((part) => part !== '');
    const label = this.#labelOf(stage);
    const bare = [label, ...parts].join(GAP);
    if (isUncounted) return bare;
    const room = Math.min(BAR_WIDTH.max, width - bare.length - GAP.length);
    if (room >= BAR_WIDTH.min) return [label, bar(shareOf(stage), room), ...parts].join(GAP);
    return bare.length <= width ? bare : [label, ...parts.filter((part) => part !== rate)].join(GAP);
  }

  #finish(now: number): void {
    const stage = this.#stage;
    if (stage === undefined || stage.blocks === 0) return;
    const seconds = secondsSince(stage.startedAt, now);
    this.#secondsPerBlock = Math.max(this.#secondsPerBlock, seconds / stage.blocks);
  }

  #labelOf({ pipeline }: Stage): string {
    if (this.#stages.length < 2) return pipeline;
    return `${pipeline} (${this.#indexOf(pipeline) + 1} of ${this.#stages.length})`;
  }

  #timeLeft(stage: Stage, now: number): string {
    const left = leftOf(stage, now);
    if (left === undefined) return '';
    const perBlock = (left + secondsSince(stage.startedAt, now)) / Math.max(1, stage.blocks);
    const later = this.#stages.slice(this.#indexOf(stage.pipeline) + 1).reduce((sum, { blocks }) => sum + blocks, 0);
    const all = left + later * Math.max(perBlock, this.#secondsPerBlock);
    return later === 0 ? `${formatDuration(left)} left` : `about ${formatDuration(all)} left`;
  }

  #indexOf(name: string): number {
    return this.#stages.findIndex(({ pipeline }) => pipeline === name);
  }
}

function countOf({ expected, rows, walked, blocks }: Stage): string {
  if (expected === undefined) return `${formatCount(walked)}/${formatCount(blocks)} blocks`;
  // Blocks that are requested again bring some rows twice.
  return `${formatCount(Math.min(rows, expected))}/${formatCount(expected)} rows`;
}

function shareOf({ expected, rows, blocks, walked }: Stage): number {
  const [done, total] = expected === undefined ? [walked, blocks] : [rows, expected];
  return Math.min(1, done / Math.max(1, total));
}

/** Remaining seconds of a stage at its average speed; undefined if too little of it is done. */
function leftOf(stage: Stage, now: number): number | undefined {
  const share = shareOf(stage);
  if (share === 0 || (share < ENOUGH.share && stage.steps < ENOUGH.steps)) return undefined;
  return (secondsSince(stage.startedAt, now) * (1 - share)) / share;
}

function secondsSince(then: number, now: number): number {
  return Math.max(MIN_SECONDS, (now - then) / 1000);
}

function bar(share: number, width: number): string {
  const full = Math.round(width * share);
  return '='.repeat(full) + '-'.repeat(width - full);
}
