import { oncePer } from '../../core/once-per.ts';
import { sha256Of } from '../../core/sha256.ts';
import type { CopiedRows, LedgerEntry, TableFile } from '../store.ts';

const DIGITS = 16;

/** Each day of each mart asks for it. */
const digestOf = oncePer(({ id }: Pick<LedgerEntry, 'id'>) => sha256Of(id, DIGITS));

/** Number of the newest entry that brought rows of a file, or of an entry without files. */
export function newestOf(entry: Pick<LedgerEntry, 'number' | 'copies'>, file?: TableFile): number {
  return file?.copied?.newest ?? entry.copies ?? entry.number;
}

/** The commits that brought the rows of a file, or of an entry without files. */
export function sourcesOf(entry: Pick<LedgerEntry, 'id' | 'number' | 'copies'>, file?: TableFile): CopiedRows {
  return file?.copied ?? { newest: newestOf(entry), origin: digestOf(entry) };
}

/** The commits that brought the rows of several files: the same for one file, however its rows were merged. */
export function addSources(all: readonly CopiedRows[]): CopiedRows {
  const sum = all.reduce((total, { origin }) => BigInt.asUintN(4 * DIGITS, total + BigInt(`0x${origin}`)), 0n);
  const newest = all.reduce((greatest, each) => Math.max(greatest, each.newest), 0);
  return { newest, origin: sum.toString(16).padStart(DIGITS, '0') };
}
