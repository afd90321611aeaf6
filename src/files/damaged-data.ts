import { StoreError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';

/** The error for committed data that is missing or damaged. @param problem the problem and its place */
export function damagedData(warehouse: string, problem: string, cause?: unknown): StoreError {
  return new StoreError(`store: ${problem}`, {
    code: 'damaged',
    hint: suggest('verify', '--repair', { warehouse }),
    cause,
  });
}

/** The error for a missing data file of the ledger. */
export const missingFile = (warehouse: string, path: string, cause?: unknown): StoreError =>
  damagedData(warehouse, `warehouse ${warehouse}: missing file ${path}, which its ledger names`, cause);
