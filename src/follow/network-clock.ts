import type { Effects } from '../core/effects.ts';

/** A head that is older than this when it is first seen belongs to a network with a clock of its own, such as a sandbox. */
const FOREIGN_MS = 86_400_000;

/** Why the clock was set anew. */
export type ClockNews = 'foreign' | 'slept';

/**
 * The time of the network, by which lags are measured. It starts from the clock of this machine and then counts elapsed time, so a wall
 * clock that is moved changes nothing. A head from the future shows that time has passed unnoticed: the machine slept.
 */
export class NetworkClock {
  private readonly effects: Pick<Effects, 'now' | 'monotonic'>;
  private base: { readonly time: number; readonly at: number } | undefined;
  private isForeign = false;

  constructor(effects: Pick<Effects, 'now' | 'monotonic'>) {
    this.effects = effects;
  }

  /** Notes the time of a head that was just received. @returns why the clock was set, if a user should know */
  observe(headTime: number): ClockNews | undefined {
    const { now } = this.effects;
    if (this.base === undefined) {
      this.isForeign = Math.abs(now() - headTime) > FOREIGN_MS;
      this.set(this.isForeign ? headTime : Math.max(now(), headTime));
      return this.isForeign ? 'foreign' : undefined;
    }
    const ahead = headTime - this.now();
    if (ahead <= 0) return undefined;
    const isPlausible = !this.isForeign && now() >= headTime && now() - headTime < FOREIGN_MS;
    this.set(isPlausible ? now() : headTime);
    // Times of blocks are whole seconds, and clocks differ a little.
    return ahead > 60_000 ? 'slept' : undefined;
  }

  /** Milliseconds since 1970; 0 before the first head. */
  now(): number {
    return this.base === undefined ? 0 : this.base.time + this.effects.monotonic() - this.base.at;
  }

  private set(time: number): void {
    this.base = { time, at: this.effects.monotonic() };
  }
}
