import { closeAll } from '../files/file-failure.ts';
import type { CommitStep, Store } from '../warehouse/index.ts';

/** The steps of a command that has a warehouse open for writing. */
export class CommitSteps {
  readonly #steps: readonly CommitStep[];
  readonly #store: Store;
  readonly #network: string;
  #end: Promise<void> | undefined;

  constructor(steps: readonly CommitStep[], store: Store, network: string) {
    this.#steps = steps;
    this.#store = store;
    this.#network = network;
  }

  async begin(): Promise<void> {
    for (const step of this.#steps) await step.begin?.(this.#store, this.#network);
  }

  readonly committed = (): void => {
    for (const step of this.#steps) step.committed(this.#store, this.#network);
  };

  look(): void {
    for (const step of this.#steps) step.look?.(this.#store);
  }

  /** Ends one step after the other: what one commits, those after it still see. */
  end(): Promise<void> {
    this.#end ??= closeAll(this.#steps.map((step) => () => step.end()));
    return this.#end;
  }
}
