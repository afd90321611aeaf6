import type { Effects } from '../core/effects.ts';
import { DeliveryError } from '../core/errors.ts';
import type { DeliveryTarget, Send } from './delivery-target.ts';

export interface RetryingSenderOptions {
  readonly effects: Effects;
  readonly send: Send;
  /** When aborted, a failed attempt is the last one. */
  readonly ending: AbortSignal;
  /** Ends what is being sent. */
  readonly stop: AbortSignal;
  /** Attempts for each body. Default: until it is taken. */
  readonly attempts?: number | undefined;
  /** Told of each failed attempt that is followed by another one. */
  readonly onFailure: (error: DeliveryError) => void;
  /** Told when a body was taken. */
  readonly onTaken: () => void;
}

const PAUSE_MS = { base: 1000, cap: 60_000 };

/** Sends bodies one after the other, each until it is taken. */
export class RetryingSender {
  readonly #options: RetryingSenderOptions;

  constructor(options: RetryingSenderOptions) {
    this.#options = options;
  }

  /** @throws {DeliveryError} the last one, after all attempts */
  async send(target: DeliveryTarget, body: string): Promise<void> {
    const { effects, send, ending, stop, attempts = Number.POSITIVE_INFINITY, onFailure, onTaken } = this.#options;
    for (let attempt = 1; ; attempt++) {
      stop.throwIfAborted();
      try {
        await send(target, body, stop);
        return onTaken();
      } catch (error) {
        if (!(error instanceof DeliveryError) || attempt >= attempts || ending.aborted) throw error;
        onFailure(error);
        await effects
          .sleep(Math.min(PAUSE_MS.cap, PAUSE_MS.base * 2 ** Math.min(attempt - 1, 20)), ending)
          .catch((reason: unknown) => {
            if (!ending.aborted) throw reason;
          });
        // Whoever ends does not wait for another attempt.
        if (ending.aborted) throw error;
      }
    }
  }
}
