import { oncePer } from '../../core/once-per.ts';
import { sha256Of } from '../../core/sha256.ts';
import type { CopiedRows, LedgerEntry, TableFile } from '../store.ts';

const DIGITS = 16;

/** Cached, because each day of each mart needs it. */
const digestOf = oncePer(({ id }: Pick<LedgerEntry, 'id'>) => sha256Of(id, DIGITS));

/** Number of the newest entry that first committed rows of a file, or of an entry without files. */
export function newestOf(entry: Pick<LedgerEntry, 'number' | 'copies'>, file?: TableFile): number {
  return file?.copied?.newest ?? entry.copies ?? entry.number;
}

/** The commits in which the rows of a file, or of an entry without files, were new. */
export function sourcesOf(entry: Pick<LedgerEntry, 'id' | 'number' | 'copies'>, file?: TableFile): CopiedRows {
  return file?.copied ?? { newest: newestOf(entry), origin: digestOf(entry) };
}

/** The sources of several files. Does not depend on how their rows were merged. */
export function addSources(all: readonly CopiedRows[]): CopiedRows {
  const sum = all.reduce((total, { origin }) => BigInt.asUintN(4 * DIGITS, total + BigInt(`0x${origin}`)), 0n);
  const newest = all.reduce((greatest, each) => Math.max(greatest, each.newest), 0);
  return { newest, origin: sum.toString(16).padStart(DIGITS, '0') };
}
