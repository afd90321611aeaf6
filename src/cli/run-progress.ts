import { formatCount, formatDuration } from '../core/format.ts';
import type { RunEvent, RunStages } from '../export/run.ts';

const BAR_WIDTH = 30;
/** Rates over less time than this are unreliable. */
const LEAST_SECONDS = 0.1;

interface Stage {
  readonly pipeline: string;
  readonly blocks: number;
  /** Number of rows according to the headers; without headers, blocks are counted. */
  readonly promised: number | undefined;
  readonly startedAt: number;
  rows: number;
  walked: number;
}

/** Progress of a run: the current stage, one for each pipeline, and the total. Times are in milliseconds. */
export class RunProgress {
  #stages: RunStages['stages'] = [];
  #startedAt = 0;
  #stage: Stage | undefined;
  /** The slowest finished stage, used to estimate the following ones. */
  #secondsPerBlock = 0;
  /** Why the run is waiting. */
  #pause: string | undefined;

  see(event: RunEvent, now: number): void {
    if (event.event === 'stages') {
      this.#stages = event.stages;
      this.#startedAt = now;
      this.#secondsPerBlock = 0;
      this.#stage = undefined;
    } else if (event.event === 'start') {
      this.#finish(now);
      const { pipeline, seqnos: blocks, records: promised } = event;
      this.#stage = { pipeline, blocks, promised, startedAt: now, rows: 0, walked: 0 };
    } else if (event.event === 'progress' && this.#stage !== undefined) {
      this.#pause = undefined;
      this.#stage.rows += event.records;
      this.#stage.walked += event.seqnos;
    }
  }

  pause(why: string): void {
    this.#pause = why;
  }

  /** A line for the current stage, and one for the total if there are several stages. */
  lines(now: number): readonly string[] {
    const stage = this.#stage;
    if (stage === undefined) return [];
    const several = this.#stages.filter(({ blocks }) => blocks > 0).length > 1;
    return [this.#stageLine(stage, now), ...(several ? [this.#wholeLine(stage, now)] : [])];
  }

  #finish(now: number): void {
    const stage = this.#stage;
    if (stage === undefined || stage.blocks === 0) return;
    const seconds = secondsSince(stage.startedAt, now);
    this.#secondsPerBlock = Math.max(this.#secondsPerBlock, seconds / stage.blocks);
  }

  #stageLine(stage: Stage, now: number): string {
    const { pipeline, promised, blocks, rows, walked } = stage;
    const share = shareOf(stage);
    const rate = `${formatCount(Math.round(rows / secondsSince(stage.startedAt, now)))} rows/s`;
    const isUncounted = promised === undefined && walked === 0 && rows > 0;
    const done = promised === undefined ? `${formatCount(walked)}/${formatCount(blocks)} blocks` : undefined;
    const count = isUncounted
      ? `${formatCount(rows)} rows`
      : (done ?? `${formatCount(rows)}/${formatCount(promised ?? 0)} rows`);
    const left = leftOf(stage, now);
    const parts = [
      count,
      this.#pause ?? (rows > 0 ? rate : ''),
      left === undefined ? '' : `${formatDuration(left)} left`,
    ];
    return [pipeline, isUncounted ? '' : bar(share), ...parts].filter((part) => part !== '').join('  ');
  }

  #wholeLine(stage: Stage, now: number): string {
    const at = this.#stages.findIndex(({ pipeline }) => pipeline === stage.pipeline);
    const total = Math.max(1, blocksOf(this.#stages));
    const later = blocksOf(this.#stages.slice(at + 1));
    const share = Math.min(1, (blocksOf(this.#stages.slice(0, at)) + shareOf(stage) * stage.blocks) / total);
    const left = leftOf(stage, now);
    const perBlock = left === undefined ? 0 : (left + secondsSince(stage.startedAt, now)) / Math.max(1, stage.blocks);
    const all =
      left === undefined
        ? ''
        : `about ${formatDuration(left + later * Math.max(perBlock, this.#secondsPerBlock))} left`;
    const elapsed = `${formatDuration(Math.floor(secondsSince(this.#startedAt, now)))} elapsed`;
    const parts = [
      bar(share),
      `${Math.floor(100 * share)} %`,
      `stage ${at + 1} of ${this.#stages.length}`,
      elapsed,
      all,
    ];
    return ['all', ...parts].filter((part) => part !== '').join('  ');
  }
}

function blocksOf(stages: RunStages['stages']): number {
  return stages.reduce((sum, { blocks }) => sum + blocks, 0);
}

function shareOf({ promised, rows, blocks, walked }: Stage): number {
  const [done, total] = promised === undefined ? [walked, blocks] : [rows, promised];
  return Math.min(1, done / Math.max(1, total));
}

/** Remaining seconds of a stage at its average speed; undefined before the first progress. */
function leftOf(stage: Stage, now: number): number | undefined {
  const share = shareOf(stage);
  return share === 0 ? undefined : (secondsSince(stage.startedAt, now) * (1 - share)) / share;
}

function secondsSince(then: number, now: number): number {
  return Math.max(LEAST_SECONDS, (now - then) / 1000);
}

function bar(share: number): string {
  const full = Math.round(BAR_WIDTH * share);
  return '='.repeat(full) + '-'.repeat(BAR_WIDTH - full);
}
