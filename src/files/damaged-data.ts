import { StoreError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';

/** Committed data that is not there, or is other data. @param problem what is wrong where */
export function damagedData(warehouse: string, problem: string, cause?: unknown): StoreError {
  return new StoreError(`store: ${problem}`, {
    code: 'damaged',
    hint: suggest('verify', '--repair', { warehouse }),
    cause,
  });
}

/** A data file that the ledger names, and that is not there. */
export const missingFile = (warehouse: string, path: string, cause?: unknown): StoreError =>
  damagedData(warehouse, `warehouse ${warehouse}: missing file ${path}, which its ledger names`, cause);
