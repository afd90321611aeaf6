import { readdir } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import { packageFile } from '../core/own-package.ts';

type Kind = 'marts' | 'checks' | 'reports' | 'show' | 'ton' | 'questions';

/** A folder of SQL that comes with tonlake. */
export function shippedFolder(kind: Kind): string {
  return packageFile(`sql/${kind}/`);
}

/** Checks that are generated from the declarations of all tables, and their rules. */
export const DECLARED_CHECKS = {
  not_null: 'columns that the source always fills are never null',
  unique_keys: 'no two rows of a table have the same key',
} as const;

/** Their names, sorted. Reports are folders, the others `.sql` files. */
export async function shippedNames(kind: Kind): Promise<readonly string[]> {
  const found = await readdir(shippedFolder(kind), { withFileTypes: true });
  const right = found.filter((entry) => (kind === 'reports' ? entry.isDirectory() : entry.name.endsWith('.sql')));
  const made = kind === 'checks' ? Object.keys(DECLARED_CHECKS) : [];
  return [...right.map(({ name }) => basename(name, '.sql')), ...made].sort();
}

/** A path for messages: relative to the working folder if it is inside. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
