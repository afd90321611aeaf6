import { formatCount, formatDuration } from '../core/format.ts';
import type { RunEvent, RunStages } from '../export/run.ts';

const BAR_WIDTH = { least: 10, most: 30 };
/** Rates over less time than this are unreliable. */
const LEAST_SECONDS = 0.1;
/** The time left is not estimated from less than one of these: a share of the stage, or a number of steps. */
const ENOUGH = { share: 0.01, steps: 10 };
const GAP = '  ';

interface Stage {
  readonly pipeline: string;
  readonly blocks: number;
  /** Number of rows according to the headers; without headers, blocks are counted. */
  readonly promised: number | undefined;
  readonly startedAt: number;
  rows: number;
  walked: number;
  /** How often it came nearer to its end. */
  steps: number;
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
      this.#stage = { pipeline, blocks, promised, startedAt: now, rows: 0, walked: 0, steps: 0 };
    } else if (event.event === 'progress' && this.#stage !== undefined) {
      this.#pause = undefined;
      this.#stage.rows += event.records;
      this.#stage.walked += event.seqnos;
      // Rows of headers say nothing of how many blocks are left.
      if (this.#stage.promised !== undefined || event.seqnos > 0) this.#stage.steps++;
    }
  }

  pause(why: string): void {
    this.#pause = why;
  }

  /** A line for the current stage, and one for the total if there are several stages; bars leave room for the rest of a line. */
  lines(now: number, width = Number.POSITIVE_INFINITY): readonly string[] {
    const stage = this.#stage;
    if (stage === undefined) return [];
    const several = this.#stages.filter(({ blocks }) => blocks > 0).length > 1;
    return [this.#stageLine(stage, now, width), ...(several ? [this.#wholeLine(stage, now, width)] : [])];
  }

  #finish(now: number): void {
    const stage = this.#stage;
    if (stage === undefined || stage.blocks === 0) return;
    const seconds = secondsSince(stage.startedAt, now);
    this.#secondsPerBlock = Math.max(this.#secondsPerBlock, seconds / stage.blocks);
  }

  #stageLine(stage: Stage, now: number, width: number): string {
    const { pipeline, promised, blocks, rows, walked } = stage;
    const rate = `${formatCount(Math.round(rows / secondsSince(stage.startedAt, now)))} rows/s`;
    const isUncounted = promised === undefined && walked === 0 && rows > 0;
    const counted =
      promised === undefined
        ? `${formatCount(walked)}/${formatCount(blocks)} blocks`
        : // Blocks that are requested again bring some rows twice.
          `${formatCount(Math.min(rows, promised))}/${formatCount(promised)} rows`;
    const count = isUncounted ? `${formatCount(rows)} rows` : counted;
    const left = leftOf(stage, now);
    const rest = [left === undefined ? '' : `${formatDuration(left)} left`, this.#pause ?? ''];
    const share = isUncounted ? undefined : shareOf(stage);
    const isRated = rows > 0 && this.#pause === undefined;
    return lineOf({ label: pipeline, share, parts: [count, isRated ? rate : '', ...rest], spare: rate, width });
  }

  #wholeLine(stage: Stage, now: number, width: number): string {
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
    const stages = `stage ${at + 1} of ${this.#stages.length}`;
    return lineOf({
      label: 'all',
      share,
      parts: [`${Math.floor(100 * share)} %`, stages, elapsed, all],
      spare: elapsed,
      width,
    });
  }
}

interface LineParts {
  readonly label: string;
  /** Length of the bar; undefined for no bar. */
  readonly share: number | undefined;
  readonly parts: readonly string[];
  /** The part that is left out where the line is too long without a bar. */
  readonly spare: string;
  readonly width: number;
}

/** One line: its bar is as long as the other parts permit. */
function lineOf({ label, share, parts, spare, width }: LineParts): string {
  const texts = parts.filter((part) => part !== '');
  const bare = [label, ...texts].join(GAP);
  if (share === undefined) return bare;
  const room = Math.min(BAR_WIDTH.most, width - bare.length - GAP.length);
  if (room >= BAR_WIDTH.least) return [label, bar(share, room), ...texts].join(GAP);
  return bare.length <= width ? bare : [label, ...texts.filter((part) => part !== spare)].join(GAP);
}

function blocksOf(stages: RunStages['stages']): number {
  return stages.reduce((sum, { blocks }) => sum + blocks, 0);
}

function shareOf({ promised, rows, blocks, walked }: Stage): number {
  const [done, total] = promised === undefined ? [walked, blocks] : [rows, promised];
  return Math.min(1, done / Math.max(1, total));
}

/** Remaining seconds of a stage at its average speed; undefined if too little of it is done. */
function leftOf(stage: Stage, now: number): number | undefined {
  const share = shareOf(stage);
  if (share === 0 || (share < ENOUGH.share && stage.steps < ENOUGH.steps)) return undefined;
  return (secondsSince(stage.startedAt, now) * (1 - share)) / share;
}

function secondsSince(then: number, now: number): number {
  return Math.max(LEAST_SECONDS, (now - then) / 1000);
}

function bar(share: number, width: number): string {
  const full = Math.round(width * share);
  return '='.repeat(full) + '-'.repeat(width - full);
}
