import type { FollowEvent } from './follow-event.ts';
import type { FollowFigures, FollowStatus } from './follow-status.ts';

/** Time without a sign of life after which something hangs: longer than any single request with its retries. */
const SILENT_MS = 600_000;

/** `starting`: nothing is sealed yet. `behind`: the lag is above the bound. `hanging`: nothing has happened for ten minutes. */
export type HealthStatus = 'ok' | 'starting' | 'behind' | 'hanging';

/** The response of `/healthz` while the head is followed. */
export interface FollowHealthState extends Pick<FollowFigures, 'head' | 'block' | 'holes' | 'oldestHole'> {
  readonly status: HealthStatus;
  /** Age of the newest sealed block. */
  readonly lagSeconds: number | undefined;
  readonly maxLagSeconds: number;
  /** What keeps it from catching up. */
  readonly waiting: string | undefined;
}

export class FollowHealth {
  readonly #status: FollowStatus;
  readonly #maxLagMs: number;
  #waiting: string | undefined;

  constructor(status: FollowStatus, maxLagMs: number) {
    this.#status = status;
    this.#maxLagMs = maxLagMs;
  }

  see(event: FollowEvent): void {
    if (event.event === 'waiting') this.#waiting = event.message;
    if (event.event === 'resumed') this.#waiting = undefined;
  }

  read(): FollowHealthState {
    const { head, block, holes, oldestHole, seconds, silentMs } = this.#status.read();
    const maxLagSeconds = this.#maxLagMs / 1000;
    const isBehind = seconds !== undefined && seconds > maxLagSeconds;
    const reached = seconds === undefined ? 'starting' : isBehind ? 'behind' : 'ok';
    return {
      status: silentMs > SILENT_MS ? 'hanging' : reached,
      ...{ lagSeconds: seconds, maxLagSeconds, head, block, holes, oldestHole, waiting: this.#waiting },
    };
  }
}
