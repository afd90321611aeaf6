import type { Effects } from '../core/effects.ts';

/** A head that is older than this when it is first seen belongs to a network with a clock of its own, such as a sandbox. */
const FOREIGN_MS = 86_400_000;

/** Times of blocks are whole seconds, and clocks differ a little: a smaller difference is no news. */
const NEWS_MS = 60_000;

/** Why the clock was set anew. */
export type ClockNews = 'foreign' | 'slept' | 'jumped';

/**
 * The time of the network, by which lags are measured. It starts from the clock of this machine and then counts elapsed time, so a wall
 * clock that is moved changes nothing. A head from the future shows that time has passed unnoticed, if the wall clock has seen it: the machine
 * slept. Otherwise the times of the blocks jumped.
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

  /** Notes the time of a head that was just received. @returns why the clock was set, if a user should know */
  observe(headTime: number): ClockNews | undefined {
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
    if (ahead <= NEWS_MS) return undefined;
    return unnoticed > NEWS_MS ? 'slept' : 'jumped';
  }

  /** Milliseconds since 1970; 0 before the first head. */
  now(): number {
    return this.base === undefined ? 0 : this.base.time + this.effects.monotonic() - this.base.at;
  }

  private set(time: number): void {
    this.base = { time, at: this.effects.monotonic() };
  }
}
