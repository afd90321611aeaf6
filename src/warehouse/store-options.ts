import { resolve } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { requireLocalPath } from '../files/local-path.ts';

export interface StoreOptions {
  /** Relative to the working folder, or absolute. Made if it does not exist. */
  readonly path: string;
  readonly network: string;
  /** Every table that the warehouse may hold. */
  readonly tables: readonly TableDef[];
  /** Pipelines whose declarations are stored with what they commit. Default none. */
  readonly pipelines?: readonly PipelineDef[];
  /** Tables made by selects that may be committed. What the warehouse holds of them may have been made by older selects. */
  readonly marts?: readonly TableDef[];
  readonly effects: Effects;
  /** How long superseded files stay for readers that still hold them: at most a day, as checkpoints forget them then. Default one hour. */
  readonly graceMs?: number;
  /** What tonlake is doing, for the message that a second writer gets; others may read it. Default `tonlake`. */
  readonly command?: string;
  /** Least time between two rebuilds of the catalog. Default 3 s. */
  readonly catalogMs?: number;
  /** Ids of damaged entries: they are taken as not in force, so that their spans count as missing and can be superseded. */
  readonly setAside?: ReadonlySet<string>;
  /** Awaited before each step that a crash can part from the one before it; for tests. */
  readonly onStep?: (step: string) => Promise<void>;
}

/**
 * The absolute path of a warehouse.
 * @throws {UsageError} `not-local` for a URL
 * @throws {StoreError} `wrong-path` when it holds a `?`: DuckDB takes what follows for options, and writes elsewhere.
 */
export function warehousePath(path: string): string {
  requireLocalPath(path, '--warehouse');
  const absolute = resolve(path);
  if (!absolute.includes('?')) return absolute;
  throw new StoreError(
    `store: warehouse ${absolute} cannot be used: DuckDB does not open a path with a question mark`,
    {
      code: 'wrong-path',
      hint: 'choose another --warehouse',
    },
  );
}
