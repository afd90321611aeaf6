import { readFileSync } from 'node:fs';
import { usage } from '../core/errors.ts';

/** Reads a file that the user names. @param what with its article: `a job file` @throws {UsageError} if it cannot be read */
export function readNamedFile(path: string, what: string, hint: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw usage(`${what}, cannot read ${path}`, undefined, hint, { cause });
  }
}
