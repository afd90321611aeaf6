import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { rethrowAccessError } from '../../core/errors.ts';
import { isNewer } from '../../core/newer-tonlake.ts';
import type { LedgerEntry } from '../store.ts';
import { Entries } from './entries.ts';
import type { LedgerFolder } from './ledger-folder.ts';

/** A state of a ledger that `verify` has proven. */
export interface ProvenLedger {
  /** Number of the newest entry, which may be one that records removed rows. */
  readonly entry: number;
  /** {@link digestOf} the entries in force. */
  readonly digest: string;
}

/** Hash of the entries in force, in order of commit: 32 hex digits. */
export function digestOf(entries: readonly LedgerEntry[]): string {
  const hash = createHash('sha256');
  for (const entry of entries) hash.update(`${JSON.stringify(entry)}\n`);
  return hash.digest('hex').slice(0, 32);
}

/**
 * Reads a ledger from its newest checkpoint, as readers do, and compares it with a proven state plus the files of all later entries.
 * @returns false if they differ or cannot be compared. The ledger must not be used then; a new one is to be read from all files
 */
export async function readSince(ledger: LedgerFolder, { entry, digest }: ProvenLedger): Promise<boolean> {
  try {
    await ledger.refresh();
    const { entries, schemas } = ledger;
    if (schemas.unread.size > 0) return false;
    const before = inForceAt(entries, entry);
    if (digestOf(before) !== digest) return false;
    const expected = new Entries();
    expected.restore({ number: entry, since: entry + 1, published: [], entries: before }, true);
    for (const later of await ledger.readAfter(entry)) expected.add(later);
    return isDeepStrictEqual(entries.effective, expected.effective);
  } catch (error) {
    rethrowAccessError(error);
    if (isNewer(error)) throw error;
    return false;
  }
}

/** The entries that were in force when a number was the last one. */
function inForceAt(entries: Entries, number: number): readonly LedgerEntry[] {
  const wasReplaced = ({ id }: LedgerEntry): boolean => {
    const successor = entries.successorOf(id);
    return successor !== undefined && successor.number <= number;
  };
  return entries.after(0).filter((entry) => entry.number <= number && !wasReplaced(entry));
}
