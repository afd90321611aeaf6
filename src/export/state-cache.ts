import type { NamedHeader } from '../chain/headers.ts';
import { fetchShardState, type StateOptions } from '../chain/index-ends.ts';
import type { Source } from '../http/source.ts';

/** Maximum number of states. */
const MOST = 1_000;

/**
 * Caches shard states. They never change, so the pipelines of a round share them, and the state at the end of a span or a round is the one
 * before the next. Clear it when rows do not agree with the chain: a state may be wrong.
 */
export class StateCache {
  readonly #states = new Map<number, Promise<readonly NamedHeader[]>>();

  has(seqno: number): boolean {
    return this.#states.has(seqno);
  }

  /**
   * @param options.isAgain ignores the cached state, which did not agree with the rows
   * @throws as `fetchShardState`
   */
  async fetch(
    source: Source,
    seqno: number,
    label: string,
    { isAgain = false, ...options }: StateOptions & { readonly isAgain?: boolean } = {},
  ): Promise<readonly NamedHeader[]> {
    const begun = isAgain ? undefined : this.#states.get(seqno);
    if (begun !== undefined) {
      // A request that failed or was stopped is of its caller alone.
      const known = await begun.catch(() => undefined);
      if (known !== undefined) return known;
    }
    const state = fetchShardState(source, seqno, label, options);
    const [oldest] = this.#states.keys();
    if (oldest !== undefined && this.#states.size >= MOST) this.#states.delete(oldest);
    this.#states.set(seqno, state);
    state.catch(() => {
      if (this.#states.get(seqno) === state) this.#states.delete(seqno);
    });
    return state;
  }

  clear(): void {
    this.#states.clear();
  }
}
