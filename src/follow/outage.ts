import type { Effects } from '../core/effects.ts';
import { formatError, TonlakeError } from '../core/errors.ts';
import { retry } from '../http/retry.ts';
import type { Session } from '../http/session.ts';
import type { FollowEvent } from './follow-event.ts';

/** How often the same trouble is told. */
const TELL_MS = 300_000;

/** Codes of errors that are not retryable for a run, but pass while somebody repairs the machine or replaces the key. */
const PASSING: ReadonlySet<string> = new Set(['disk-full', 'bad-api-key']);

/** True for an error that can pass by itself, or be repaired from outside, once the source has answered. */
function canPass(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (error.retryable || error.stage === 'source' || PASSING.has(error.code));
}

/** True if the source refused the key, or the key cannot be read. */
function isOfKey({ code }: TonlakeError): boolean {
  return ['unauthorized', 'forbidden', 'bad-api-key'].includes(code);
}

/** Something is wrong: told when it begins, now and then while it lasts, and when it ends. */
export class Outage {
  private readonly effects: Effects;
  private readonly tell: (event: FollowEvent) => void;
  private current: { readonly code: string; readonly since: number; toldAt: number } | undefined;

  constructor(effects: Effects, tell: (event: FollowEvent) => void) {
    this.effects = effects;
    this.tell = tell;
  }

  /**
   * Does work, again and again while it fails in a way that can pass.
   *
   * @param session opened anew when its key was refused: one that is being replaced may be unreadable for a moment
   * @throws other errors, and the reason of `stop`
   */
  async waitOut<T>(work: () => Promise<T>, stop: AbortSignal, session: Pick<Session, 'renew'>): Promise<T> {
    let isKeyRefused = false;
    const attempt = async (): Promise<T> => {
      if (isKeyRefused) await session.renew();
      isKeyRefused = false;
      return work();
    };
    const done = await retry(attempt, {
      ...{ effects: this.effects, signal: stop, attempts: Number.POSITIVE_INFINITY, waitMs: 0 },
      pauseAfter: (error) => (canPass(error) ? { kind: 'backoff' } : undefined),
      onRetry: ({ error, sleepMs }) => {
        isKeyRefused = isOfKey(error);
        this.note(error.code, formatError(error), sleepMs);
      },
    });
    this.end();
    return done;
  }

  /** Notes what is wrong. */
  note(code: string, message: string, nextMs: number): void {
    const now = this.effects.monotonic();
    const isNew = this.current?.code !== code;
    if (!isNew && now - (this.current?.toldAt ?? now) < TELL_MS) return;
    this.current = { code, since: this.current?.since ?? now, toldAt: now };
    this.tell({ event: 'waiting', code, message, seconds: Math.round(nextMs / 1000) });
  }

  /** Notes that all is well. */
  end(): void {
    if (this.current === undefined) return;
    const { code, since } = this.current;
    this.current = undefined;
    this.tell({ event: 'resumed', code, seconds: Math.round((this.effects.monotonic() - since) / 1000) });
  }
}
