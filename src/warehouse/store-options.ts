import { resolve } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { requireLocalPath } from '../files/local-path.ts';
import { formatLocation, isObjectUrl, parseLocation } from '../objects/s3-location.ts';

/** Minimum pause between two updates of the catalog, or of the views of a DuckDB file, as a multiple of the duration of the last one. */
export const CATALOG_PAUSE = 20;

/** Default of `graceMs`, in milliseconds. */
export const GRACE_MS = 3_600_000;

export interface StoreOptions {
  /** Relative to the working folder, absolute, or `s3://bucket/prefix`. Created if it does not exist. */
  readonly path: string;
  readonly network: string;
  /** Every table that the warehouse may hold. */
  readonly tables: readonly TableDef[];
  /** Every pipeline that the warehouse may have rows of. Their declarations are stored with their commits. */
  readonly pipelines: readonly PipelineDef[];
  /** Marts that may be committed. Stored rows may come from older versions of their selects. */
  readonly marts?: readonly TableDef[];
  readonly effects: Effects;
  /** How long superseded files stay for open readers, in milliseconds. At most a day, after which checkpoints leave them out. Default one hour. */
  readonly graceMs?: number;
  /** The command that is running, for the message to a second writer. Other users can read it. Default `tonlake`. */
  readonly command?: string;
  /** Minimum time between two updates of the catalog, in milliseconds. Default 3000. */
  readonly catalogMs?: number;
  /** Ids of damaged entries. They are not in force, so their spans are missing, but they can be superseded. */
  readonly setAside?: ReadonlySet<string>;
  /** Awaited before each step that a crash can interrupt; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/**
 * The absolute path of a warehouse, or its address in an object store.
 * @throws {UsageError} for another URL, or a name that DuckDB cannot open
 */
export function warehousePath(path: string): string {
  if (isObjectUrl(path)) return formatLocation(parseLocation(path));
  requireLocalPath(path, '--warehouse');
  const absolute = resolve(path);
  if (/[\\/]ton\.duckdb$/i.test(absolute)) {
    throw usage(
      'another name than ton.duckdb for a warehouse',
      path,
      'DuckDB could not tell the file from the schema ton in it; choose another --warehouse',
    );
  }
  if (!absolute.includes('?')) return absolute;
  throw usage(
    'a path without a question mark for a warehouse',
    absolute,
    'DuckDB would take what follows as options, and write to another file; choose another --warehouse',
  );
}

/** Awaits `onStep`, if there is one. */
export function stepOf({ onStep }: Pick<StoreOptions, 'onStep'>): (step: string) => Promise<void> {
  return async (step) => onStep?.(step);
}
