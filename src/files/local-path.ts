import { usage } from '../core/errors.ts';

/** Paths that DuckDB and other tools treat as remote; Node would create a folder of that name. */
const ELSEWHERE =
  /^([a-z][a-z0-9+.-]*:\/\/|(s3|s3a|gs|gcs|r2|az|azure|abfss?|https?|hf|file|postgres(ql)?|mysql|sqlite|md|motherduck|ducklake|jdbc):)/i;

/** Requires a local path: with a URL, a folder of that name would be created. @throws {UsageError} */
export function requireLocalPath(path: string, option: '--warehouse' | '--output' | '--log' | '--to'): void {
  if (isLocalPath(path)) return;
  const [scheme = ''] = path.split(':');
  const isFile = scheme.toLowerCase() === 'file';
  throw usage(
    'a local path',
    `the URL ${scheme}:... (${option})`,
    isFile
      ? 'use the path without file://'
      : option === '--warehouse'
        ? 'use s3://bucket/prefix for an object store that speaks S3, or a local path'
        : 'write to a local folder, and copy or mount it from there',
  );
}

export function isLocalPath(path: string): boolean {
  return !ELSEWHERE.test(path);
}
