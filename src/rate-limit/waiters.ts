import type { Permit } from './permit.ts';

interface Waiter {
  readonly admit: (permit: Permit) => void;
  readonly fail: (reason: unknown) => void;
}

/** Requests that wait for a permit, by ticket. */
export class Waiters {
  readonly #waiters = new Map<number, Waiter>();
  #last = 0;

  /** Tickets of waiting requests, in order. */
  get tickets(): readonly number[] {
    return [...this.#waiters.keys()];
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits for a permit. `ask` gets the ticket; `drop` is called if the signal ends the wait. */
  take(signal: AbortSignal, ask: (ticket: number) => void, drop: (ticket: number) => void): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const ticket = ++this.#last;
      const giveUp = (): void => {
        this.#waiters.delete(ticket);
        drop(ticket);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const settle = (): void => {
        this.#waiters.delete(ticket);
        signal.removeEventListener('abort', giveUp);
      };
      this.#waiters.set(ticket, {
        admit: (permit) => {
          settle();
          resolve(permit);
        },
        fail: (reason) => {
          settle();
          reject(reason);
        },
      });
      ask(ticket);
    });
  }

  admit(ticket: number, permit: Permit): void {
    this.#waiters.get(ticket)?.admit(permit);
  }

  failAll(reason: unknown): void {
    for (const waiter of [...this.#waiters.values()]) waiter.fail(reason);
  }
}
