import { fetchEnds, type IndexHead, type MasterBlock } from '../chain/index-head.ts';
import type { Effects } from '../core/effects.ts';
import { intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import type { CommitSteps } from '../export/commit-steps.ts';
import type { OpenExport } from '../export/open-export.ts';
import type { ProvenChain } from '../export/proven-chain.ts';
import { RecentRequests } from '../rate-limit/recent-requests.ts';
import { doneFor } from '../warehouse/index.ts';
import type { FollowEvent } from './follow-event.ts';
import type { FollowPosition } from './follow-status.ts';
import { Outage } from './outage.ts';
import { ReadingTimes } from './reading-times.ts';
import { isReading } from './round-plan.ts';
import type { Rounds } from './rounds.ts';

/** Maximum difference between the heads of replicas behind one address, in blocks. */
const REPLICA_BLOCKS = 20;
/** A head that has not moved for this time, and for the time of some blocks, is reported. */
const STANDS_MS = 30_000;
const STANDS_BLOCKS = 20;

export interface HeadLoopOptions {
  readonly chain: ProvenChain;
  readonly rounds: Rounds;
  readonly from: number;
  readonly lagMs: number;
  readonly refreshMs: Readonly<Record<string, number>>;
  readonly stop: AbortSignal;
  readonly report: (event: FollowEvent) => void;
  /** Requests since the start. */
  readonly requests: () => number;
  /** Lag of the marts behind the rows, in seconds; undefined without marts. */
  readonly martsBehind: () => number | undefined;
  readonly steps: CommitSteps;
}

/** Requests the head, exports missing blocks, and sleeps, until stopped. */
export class HeadLoop {
  private readonly exporting: OpenExport;
  private readonly options: HeadLoopOptions;
  private readonly clock: NetworkClock;
  private readonly interval: RoundInterval;
  private readonly readings: ReadingTimes;
  private readonly recent = new RecentRequests();
  /** Requests that {@link HeadLoop.recent} has counted. */
  private counted = 0;
  private readonly outage: Outage;
  /** For a source that responds, but without new blocks. */
  private readonly stalledHead: Outage;
  /** The head of the next round, if it was already fetched. */
  private nextHead: IndexHead | undefined;
  private highest = 0;
  private movedAt = 0;
  /** Newest proven block. */
  private newest: MasterBlock | undefined;
  private holes: readonly Span[] = [];
  /** Time of the last activity, or the latest time of the next one; on the monotonic clock. */
  private aliveAt: number;
  /** Newest block of the last round. */
  head = 0;

  constructor(exporting: OpenExport, options: HeadLoopOptions) {
    this.exporting = exporting;
    this.options = options;
    this.clock = new NetworkClock(exporting.effects);
    this.interval = new RoundInterval(options.lagMs);
    this.readings = new ReadingTimes(exporting.effects, options.refreshMs);
    this.outage = new Outage(exporting.effects, options.report, 'head');
    this.stalledHead = new Outage(exporting.effects, options.report, 'new-blocks');
    this.aliveAt = exporting.effects.monotonic();
  }

  /** Records activity. */
  beat(): void {
    this.aliveAt = Math.max(this.aliveAt, this.exporting.effects.monotonic());
  }

  get position(): FollowPosition {
    const { clock, newest, head, holes } = this;
    const seconds = newest === undefined ? undefined : Math.max(0, Math.round(clock.now() - newest.time) / 1000);
    const now = this.exporting.effects.monotonic();
    return {
      head,
      block: newest?.seqno,
      seconds,
      holes: totalSize(holes),
      oldestHole: holes[0]?.from,
      silentMs: Math.max(0, now - this.aliveAt),
      rps: this.exporting.session.source.rps,
      requestsPerSecond: this.recent.summary(now).usedLastMinute / 60,
    };
  }

  /** @param first the head of the first round @throws the reason of `stop` */
  async run(first: IndexHead): Promise<void> {
    const { stop } = this.options;
    const { effects, session } = this.exporting;
    this.nextHead = first;
    while (!stop.aborted) {
      const nextAt = await this.outage.waitOut(() => this.runRound(), stop, session);
      if (nextAt <= effects.monotonic()) continue;
      this.aliveAt = nextAt;
      await effects.sleep(nextAt - effects.monotonic(), stop);
    }
  }

  /** @returns when the next round should start, on the monotonic clock */
  private async runRound(): Promise<number> {
    const { stop, steps, requests } = this.options;
    const startedAt = this.exporting.effects.monotonic();
    this.beat();
    this.recent.add(startedAt, requests() - this.counted);
    this.counted = requests();
    try {
      const head = this.nextHead ?? (await fetchEnds(this.exporting.session.source, { signal: stop }));
      this.nextHead = undefined;
      return (await this.exportRound(head)) ? startedAt : startedAt + this.interval.nextMs;
    } finally {
      steps.look();
    }
  }

  /** @returns true if the next round should start at once */
  private async exportRound(head: IndexHead): Promise<boolean> {
    const { exporting, options } = this;
    const { chain, rounds, from, steps, stop } = options;
    const { effects, store, pipelines, session } = exporting;
    const startedAt = effects.monotonic();
    const isBack = head.last < this.highest || this.highest === 0;
    this.noteHead(head);
    if (isBack) await chain.requireSame(session.source, head, stop);
    const requested = head.last < from ? [] : [{ from, to: head.last }];
    const due = requested.length === 0 ? new Set<string>() : this.readings.takeDue(pipelines, store.ledger());
    const before = this.proven(requested);
    const isFull = await rounds.exportMissing(exporting, { requested, ends: head, due });
    const added = subtractSpans(this.proven(requested), before);
    await this.notePosition(head, requested);
    if (added.length > 0) {
      if (!isFull) this.interval.noteRound(effects.monotonic() - startedAt);
      await this.reportLag(added);
    }
    await rounds.retry(exporting, requested, head);
    const late = subtractSpans(this.proven(requested), unionSpans([...before, ...added]));
    if (late.length > 0) {
      await this.notePosition(head, requested);
      await this.reportLag(late);
    }
    if (added.length + late.length > 0) steps.committed();
    return isFull;
  }

  private noteHead({ head, tail, last }: IndexHead): void {
    const { clock } = this;
    const { lagMs, report } = this.options;
    const { effects } = this.exporting;
    const reason = clock.observe(head.time);
    if (reason !== undefined) report({ event: 'clock', why: reason, message: CLOCK_RESETS[reason] });
    this.interval.noteHead(head, tail, clock.now() - head.time);
    this.head = last;
    const now = effects.monotonic();
    if (last > this.highest) {
      this.highest = last;
      this.movedAt = now;
      this.stalledHead.end();
    } else if (last < this.highest - REPLICA_BLOCKS) {
      const message = `the head went back from block ${this.highest} to ${last}: waiting until it passes what is proven`;
      this.stalledHead.note('head-back', message, this.interval.nextMs);
    } else if (now - this.movedAt > Math.max(lagMs, STANDS_MS, STANDS_BLOCKS * this.interval.cadenceMs)) {
      const seconds = Math.round((now - this.movedAt) / 1000);
      this.stalledHead.note('head-stands', `the head stands at block ${last} for ${seconds} s`, this.interval.nextMs);
    }
  }

  /** Blocks that every followed pipeline has. */
  private proven(requested: readonly Span[]): readonly Span[] {
    const { pipelines, store } = this.exporting;
    const ledger = store.ledger();
    return pipelines
      .filter((pipeline) => !isReading(pipeline))
      .map((pipeline) => doneFor(ledger, pipeline))
      .reduce(intersectSpans, requested);
  }

  private async notePosition({ head, last }: IndexHead, requested: readonly Span[]): Promise<void> {
    const proven = this.proven(requested);
    const block = proven.at(-1)?.to;
    this.holes = block === undefined ? [] : subtractSpans(requested, [...proven, { from: block + 1, to: last }]);
    if (block === undefined || block === this.newest?.seqno) return;
    this.newest = block === head.seqno ? head : await this.options.chain.read(block);
  }

  private async reportLag(added: readonly Span[]): Promise<void> {
    const { chain, requests, martsBehind, report } = this.options;
    const { head, block = 0, seconds = 0, holes, oldestHole } = this.position;
    const oldest = added[0]?.from ?? block;
    const time = oldest === block ? this.newest?.time : (await chain.read(oldest))?.time;
    const longest = time === undefined ? seconds : Math.max(0, Math.round(this.clock.now() - time) / 1000);
    report({
      event: 'lag',
      block,
      head,
      blocks: head - block,
      seconds,
      longest,
      holes,
      oldestHole,
      requests: requests(),
      martsBehind: martsBehind(),
    });
  }
}

/** A first head with a greater age belongs to a network with its own clock, such as a sandbox. */
const FOREIGN_MS = 86_400_000;

/** Block times are whole seconds, and clocks differ a little: smaller differences are not reported. */
const REPORTED_MS = 60_000;

/** Why the clock was reset, for messages. */
const CLOCK_RESETS = {
  foreign: "the head is more than a day from the time of this machine: lags are measured by the network's own clock",
  slept: 'the machine slept: catching up',
  jumped: 'the time of the head jumped, by more than has passed: lags are measured from there',
} as const;

/**
 * The time of the network, from which lags are measured. It starts at the wall clock and then counts elapsed time, so that setting the wall
 * clock changes nothing. After a head from the future it is reset: if the wall clock also moved ahead, the machine was suspended; otherwise
 * the block times jumped.
 */
export class NetworkClock {
  private readonly effects: Pick<Effects, 'now' | 'monotonic'>;
  private base: { readonly time: number; readonly at: number } | undefined;
  private isForeign = false;
  /** Both clocks of this machine at the last head. */
  private last = { wall: 0, elapsed: 0 };

  constructor(effects: Pick<Effects, 'now' | 'monotonic'>) {
    this.effects = effects;
  }

  /** Records the time of a head that was just received. @returns why the clock was reset, if that is worth reporting */
  observe(headTime: number): keyof typeof CLOCK_RESETS | undefined {
    const { now, monotonic } = this.effects;
    const unnoticed = now() - this.last.wall - (monotonic() - this.last.elapsed);
    this.last = { wall: now(), elapsed: monotonic() };
    if (this.base === undefined) {
      this.isForeign = Math.abs(now() - headTime) > FOREIGN_MS;
      this.set(this.isForeign ? headTime : Math.max(now(), headTime));
      return this.isForeign ? 'foreign' : undefined;
    }
    const ahead = headTime - this.now();
    if (ahead <= 0) return undefined;
    const isPlausible = !this.isForeign && now() >= headTime && now() - headTime < FOREIGN_MS;
    this.set(isPlausible ? now() : headTime);
    if (ahead <= REPORTED_MS) return undefined;
    return unnoticed > REPORTED_MS ? 'slept' : 'jumped';
  }

  /** Milliseconds since 1970; 0 before the first head. */
  now(): number {
    return this.base === undefined ? 0 : this.base.time + this.effects.monotonic() - this.base.at;
  }

  private set(time: number): void {
    this.base = { time, at: this.effects.monotonic() };
  }
}

/** Share of the promised lag that a round may use; the rest is for slower rounds. */
const SHARE = 0.7;
/** Decay of the maxima, per round. */
const DECAY = 0.9;
const MIN_INTERVAL_MS = 200;
/** Assumed time between two blocks until it is measured. */
const CADENCE_MS = 1000;

/**
 * Time between two requests for the head. The oldest block of a round is proven within the promised lag if that covers the delay of the
 * index, this interval, and the duration of the round.
 */
class RoundInterval {
  private readonly lagMs: number;
  private roundMs = 0;
  private delayMs = 0;
  private before: MasterBlock | undefined;
  /** Time between two masterchain blocks, in milliseconds. */
  cadenceMs = CADENCE_MS;

  constructor(lagMs: number) {
    this.lagMs = lagMs;
  }

  /**
   * Measures the time between blocks.
   *
   * @param first an older block, for the first measurement
   */
  noteHead(head: MasterBlock, first: MasterBlock, ageMs: number): void {
    const from = this.before ?? first;
    const blocks = head.seqno - from.seqno;
    if (blocks > 0 && head.time > from.time) {
      const measured = (head.time - from.time) / blocks;
      this.cadenceMs = this.before === undefined ? measured : 0.8 * this.cadenceMs + 0.2 * measured;
    }
    if (blocks > 0 || this.before === undefined) this.before = head;
    // If the index is behind by more than the lag, shorter intervals do not help.
    if (ageMs < this.lagMs) this.delayMs = Math.max(ageMs, this.delayMs * DECAY);
  }

  /** Records the time from a head to the last commit of its blocks. */
  noteRound(ms: number): void {
    this.roundMs = Math.max(ms, this.roundMs * DECAY);
  }

  /** In milliseconds. */
  get nextMs(): number {
    const free = SHARE * this.lagMs - this.roundMs - this.delayMs;
    return Math.max(MIN_INTERVAL_MS, Math.min(this.cadenceMs, this.lagMs / 2), free);
  }
}
