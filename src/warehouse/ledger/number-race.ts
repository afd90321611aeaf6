import type { Effects } from '../../core/effects.ts';

/** Bounds of the pause after the first lost number, and after many. */
const PAUSE_MS = { first: 25, most: 2000 } as const;

/**
 * The pauses of one commit between its attempts at the next number of the ledger. They are random and their bound doubles with each number
 * that was lost, so that of many writers that lost together, few come back together.
 */
export class NumberRace {
  readonly #effects: Pick<Effects, 'random' | 'sleep'>;
  #losses = 0;

  constructor(effects: Pick<Effects, 'random' | 'sleep'>) {
    this.#effects = effects;
  }

  /** Waits before the next attempt. */
  async lost(): Promise<void> {
    const bound = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** this.#losses++);
    await this.#effects.sleep(this.#effects.random() * bound);
  }
}
