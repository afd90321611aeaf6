import { UsageError } from '../core/errors.ts';
import { FORGOTTEN, type LedgerEntry } from '../warehouse/index.ts';

const HINT = 'a warehouse that was restored, or made again, needs a new cursor: start without one';

/**
 * Requires that the entry at a position is the one that was there.
 *
 * @param log from that entry on
 * @throws {UsageError} `foreign-cursor`
 */
export function requireSameLedger(
  log: readonly LedgerEntry[],
  { number, id }: { readonly number: number; readonly id: string | null },
): void {
  if (number === 0) return;
  const found = log.find((entry) => entry.number === number);
  if (found !== undefined && (found.id === id || isFilled(found))) return;
  throw foreignCursor();
}

/** True for the entry by which a repair fills the number of a lost one: it supersedes itself. */
function isFilled({ id, supersedes, scope }: LedgerEntry): boolean {
  return supersedes.includes(id) && scope !== FORGOTTEN;
}

export function foreignCursor(which = ''): UsageError {
  return new UsageError(`usage: expected a cursor of this warehouse, got one of another warehouse${which}`, {
    code: 'foreign-cursor',
    hint: HINT,
  });
}
