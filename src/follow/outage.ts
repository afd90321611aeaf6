import type { Effects } from '../core/effects.ts';
import { formatError, TonlakeError } from '../core/errors.ts';
import { retry } from '../http/retry.ts';
import type { Session } from '../http/session.ts';
import type { FollowEvent, Waiting } from './follow-event.ts';

/** Interval between two reports of the same condition. */
const REPORT_MS = 300_000;

/** Errors that end a run, but that a resident process waits out: somebody frees the disk or replaces the key. */
const REPAIRABLE: ReadonlySet<string> = new Set(['disk-full', 'bad-api-key']);

/** True for an error that is transient, or that can be repaired while this process waits. The source has responded before. */
function canPass(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (error.retryable || error.stage === 'source' || REPAIRABLE.has(error.code));
}

/** True if the source refused the key, or the key cannot be read. */
function isKeyError({ code }: TonlakeError): boolean {
  return ['unauthorized', 'forbidden', 'bad-api-key'].includes(code);
}

/** Reports a failure when it begins, every five minutes while it lasts, and when it ends. */
export class Outage {
  private readonly effects: Effects;
  private readonly report: (event: FollowEvent) => void;
  private readonly of: Waiting;
  private current: { readonly code: string; readonly since: number; reportedAt: number } | undefined;

  constructor(effects: Effects, report: (event: FollowEvent) => void, of: Waiting) {
    this.effects = effects;
    this.report = report;
    this.of = of;
  }

  /**
   * Retries work until it succeeds or fails for good.
   *
   * @param session renewed when its key was refused: a key file that is being replaced may be unreadable for a moment
   * @throws errors that retrying cannot repair, and the reason of `stop`
   */
  async waitOut<T>(work: () => Promise<T>, stop: AbortSignal, session: Pick<Session, 'renew'>): Promise<T> {
    let isKeyRefused = false;
    const attempt = async (): Promise<T> => {
      if (isKeyRefused) await session.renew();
      isKeyRefused = false;
      return work();
    };
    const done = await retry(attempt, {
      effects: this.effects,
      signal: stop,
      attempts: Number.POSITIVE_INFINITY,
      waitMs: 0,
      pauseAfter: (error) => (canPass(error) ? { kind: 'backoff' } : undefined),
      onRetry: ({ error, sleepMs }) => {
        isKeyRefused = isKeyError(error);
        this.note(error.code, formatError(error), sleepMs);
      },
    });
    this.end();
    return done;
  }

  /** Records a failure. @param nextMs time until the next attempt */
  note(code: string, message: string, nextMs: number): void {
    const now = this.effects.monotonic();
    const isNew = this.current?.code !== code;
    if (!isNew && now - (this.current?.reportedAt ?? now) < REPORT_MS) return;
    this.current = { code, since: this.current?.since ?? now, reportedAt: now };
    this.report({ event: 'waiting', of: this.of, code, message, seconds: Math.round(nextMs / 1000) });
  }

  /** Records success. */
  end(): void {
    if (this.current === undefined) return;
    const { code, since } = this.current;
    this.current = undefined;
    const seconds = Math.round((this.effects.monotonic() - since) / 1000);
    this.report({ event: 'resumed', of: this.of, code, seconds });
  }
}
