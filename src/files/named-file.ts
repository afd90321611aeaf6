import { readFileSync } from 'node:fs';
import { usage } from '../core/errors.ts';

/** Purpose of a file that the user names, for its error. */
export interface NamedFile {
  /** With its article: `a job file`. */
  readonly what: string;
  readonly code: string;
  readonly hint: string;
}

/** Reads a file that the user names. @throws {UsageError} with the code if it cannot be read */
export function readNamedFile(path: string, { what, code, hint }: NamedFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw usage(`${what}, cannot read ${path}`, undefined, { code, hint, cause });
  }
}
