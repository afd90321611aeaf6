import { UsageError } from '../core/errors.ts';

/** What DuckDB, and other tools, take for a place elsewhere; here it would be a folder of that name. */
const ELSEWHERE =
  /^([a-z][a-z0-9+.-]*:\/\/|(s3|s3a|gs|gcs|r2|az|azure|abfss?|https?|hf|file|postgres(ql)?|mysql|sqlite|md|motherduck|ducklake|jdbc):)/i;

/**
 * Demands a path of this machine: a URL would make a folder that is called like it.
 *
 * @throws {UsageError} `not-local`
 */
export function requireLocalPath(path: string, option: '--warehouse' | '--output' | '--log'): void {
  if (isLocalPath(path)) return;
  const [scheme = ''] = path.split(':');
  const isFile = scheme.toLowerCase() === 'file';
  throw new UsageError(`usage: expected a path of this machine for ${option}, got the URL ${scheme}:...`, {
    code: 'not-local',
    hint: isFile
      ? 'give the path without file://'
      : 'write to a folder of this machine, and copy or mount it from there',
  });
}

export function isLocalPath(path: string): boolean {
  return !ELSEWHERE.test(path);
}
