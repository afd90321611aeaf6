import { TonlakeError } from '../core/errors.ts';

/** Codes of failures that a block, or a span, can have by itself. */
const LOCAL: ReadonlySet<string> = new Set(['not-indexed', 'no-horizon', 'wrong-block']);

/** A failure of single blocks, not of the source as a whole: the rest is brought in all the same. */
export function isLocalFailure(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return LOCAL.has(error.code) || (error.stage === 'decode' && error.retryable);
}
