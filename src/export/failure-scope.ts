import { TonlakeError } from '../core/errors.ts';

/** Codes of failures of a single block or span. */
const LOCAL: ReadonlySet<string> = new Set(['not-indexed', 'no-horizon', 'wrong-block']);

/** True for a failure of single blocks, not of the source: the run continues with the others. */
export function isLocalFailure(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return LOCAL.has(error.code) || (error.stage === 'decode' && error.retryable);
}
