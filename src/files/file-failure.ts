import { oneLine, StoreError, UsageError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';

/** The option, or the key of a job file, with a path; `path` where several have it. */
export type Place = '--warehouse' | 'path' | '--output' | '--log' | 'output' | 'TMPDIR';

interface Cause {
  readonly code: string;
  readonly says: RegExp;
  readonly text: string;
  /** `PLACE` is replaced by the option. */
  readonly hint: string;
}

/** DuckDB errors that quote statements or values, so that their words prove nothing, and the causes that they can still have. */
const quoting: readonly { readonly says: RegExp; readonly causes: readonly string[] }[] = [
  {
    says: /^(Binder|Catalog|Constraint|Conversion|Invalid Type|Out of Range|Parser|Syntax) Error/,
    causes: ['read-only'],
  },
  // Also for a damaged file, and with the text of error().
  { says: /^Invalid Input Error/, causes: ['read-only', 'damaged'] },
];

/** Code of an interrupted query. */
export const INTERRUPTED = 'interrupted';

const causes: readonly Cause[] = [
  {
    code: INTERRUPTED,
    says: /^INTERRUPT Error: /,
    text: 'the query was interrupted',
    hint: 'run it again',
  },
  {
    code: 'disk-full',
    says: /ENOSPC|EDQUOT|no space left on device|disk quota exceeded|max_temp_directory_size/i,
    text: 'the disk is full',
    hint: 'free some space and run the same command again; committed data is safe',
  },
  {
    code: 'not-writable',
    says: /EACCES|EPERM|EROFS|permission denied|read-only file system/i,
    text: 'permission denied',
    hint: 'choose another PLACE, or give this user the right to read and write it',
  },
  {
    code: 'wrong-path',
    says: /ENOTDIR|EISDIR|EEXIST: .*mkdir|is a directory|not a directory/i,
    text: 'a part of the path is a file instead of a folder, or the other way round',
    hint: 'choose another PLACE',
  },
  {
    code: 'wrong-path',
    says: /ENOENT: .*mkdir/i,
    text: 'the folder cannot be created there',
    hint: 'choose another PLACE',
  },
  {
    code: 'busy',
    says: /could not set lock|conflicting lock/i,
    text: 'another process holds the file',
    hint: 'wait until it ends; a Parquet warehouse can be read while it is written',
  },
  {
    code: 'read-only',
    says: /attached in read-only mode|launched in read-only mode|can only (delete from|update) base table|is not an? table/i,
    text: 'queries cannot change a warehouse',
    hint: 'use CREATE TEMP for tables, views and macros; they last as long as the query',
  },
  {
    code: 'no-database',
    says: /not a valid DuckDB database file/i,
    text: 'it is not a DuckDB file',
    hint: 'choose another PLACE',
  },
  {
    code: 'damaged',
    says: /[/\\](tables|pinned)[/\\][^"]*-[0-9a-f]{12}\.parquet/,
    text: 'a data file is missing or damaged',
    get hint() {
      return suggest('verify', '--repair');
    },
  },
];

/**
 * Wraps an error in a StoreError whose message starts with `store: <subject>: `; a StoreError is returned as it is.
 *
 * @param place the option with the path of the subject, for the hint
 */
export function asStoreError(error: unknown, subject: string, place: Place = '--warehouse'): StoreError {
  if (error instanceof StoreError) return error;
  const message = oneLine(error instanceof Error ? error.message : String(error));
  const possible = quoting.find(({ says }) => says.test(message))?.causes;
  const cause = causes.find(({ code, says }) => (possible?.includes(code) ?? true) && says.test(message));
  if (cause === undefined) return new StoreError(`store: ${subject}: ${message}`, { code: 'failed', cause: error });
  return new StoreError(`store: ${subject}: ${cause.text} (${message})`, {
    code: cause.code,
    hint: cause.hint.replace('PLACE', place),
    cause: error,
  });
}

/** Runs `work` and wraps its errors in a StoreError about `subject`, except those of the user's. */
export async function guarded<T>(subject: string, work: () => Promise<T>, place?: Place): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UsageError ? error : asStoreError(error, subject, place);
  }
}

/** Runs all steps in order, even after one has failed. @throws the first error */
export async function closeAll(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
