import type { Effects } from '../core/effects.ts';
import { formatError, TonlakeError } from '../core/errors.ts';
import type { FollowEvent } from './follow-event.ts';

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** How often the same trouble is told. */
const TELL_MS = 300_000;

/** Codes of errors that are not retryable for a run, but pass while somebody repairs the machine or replaces the key. */
const PASSING: ReadonlySet<string> = new Set(['disk-full', 'bad-api-key']);

/** True for an error that can pass by itself, or be repaired from outside, once the source has answered. */
export function canPass(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (error.retryable || error.stage === 'source' || PASSING.has(error.code));
}

/** True if the source refused the key, or the key cannot be read. */
export function isOfKey(error: unknown): boolean {
  return error instanceof TonlakeError && ['unauthorized', 'forbidden', 'bad-api-key'].includes(error.code);
}

/** Waits while something is wrong, longer and longer, and tells when it begins, now and then while it lasts, and when it ends. */
export class Outage {
  private readonly effects: Pick<Effects, 'monotonic' | 'sleep'>;
  private readonly tell: (event: FollowEvent) => void;
  private tries = 0;
  private current: { readonly code: string; readonly since: number; toldAt: number } | undefined;

  constructor(effects: Pick<Effects, 'monotonic' | 'sleep'>, tell: (event: FollowEvent) => void) {
    this.effects = effects;
    this.tell = tell;
  }

  /** Waits after an error. */
  async wait(error: TonlakeError, stop: AbortSignal): Promise<void> {
    const ms = Math.min(MOST_MS, FIRST_MS * 2 ** this.tries++);
    this.note(error.code, formatError(error), ms);
    await this.effects.sleep(ms, stop).catch((reason: unknown) => {
      if (!stop.aborted) throw reason;
    });
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
    this.tries = 0;
    if (this.current === undefined) return;
    const { code, since } = this.current;
    this.current = undefined;
    this.tell({ event: 'resumed', code, seconds: Math.round((this.effects.monotonic() - since) / 1000) });
  }
}
