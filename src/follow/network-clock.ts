import type { Effects } from '../core/effects.ts';

/** A first head with a greater age belongs to a network with its own clock, such as a sandbox. */
const FOREIGN_MS = 86_400_000;

/** Block times are whole seconds, and clocks differ a little: smaller differences are not reported. */
const REPORTED_MS = 60_000;

export type ClockReset = 'foreign' | 'slept' | 'jumped';

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
  observe(headTime: number): ClockReset | undefined {
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
