import { AuditError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import { stillForgotten } from '../ledger/forgotten-spans.ts';
import { openReader } from '../open-store.ts';
import type { Reader } from '../reader.ts';
import { requireCopiesOutside } from './copy-targets.ts';
import { defineBodies } from './define-bodies.ts';
import { gapsOf, type Parameters } from './query-gaps.ts';
import { warehouseRegistry } from './warehouse-registry.ts';

/** A warehouse opened for reading: `query`, `ledger`, `files`. */
export type Warehouse = Reader;

/** What happens when a query reads tables that are not whole: never exported, or with blocks missing or quarantined in the days that it asks for. */
export interface WarehouseOptions {
  /** Refuses such a query. Default false: it warns. */
  readonly strict?: boolean | undefined;
  /** Told once of each gap; default a warning of the process, on stderr. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens a warehouse for reading. A Parquet warehouse can be read at any moment, also while it is written; each call sees what is
 * committed then.
 *
 * @param path folder of Parquet files, or a DuckDB file
 * @throws {StoreError} `no-warehouse` when nothing is there; `busy` when a writer holds a DuckDB file
 * @throws {AuditError} `not-whole`, by `query`, with `strict`
 */
export async function openWarehouse(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  const registry = await warehouseRegistry(path);
  const reader = await openReader(path, registry.tables);
  const told = new Set<string>();
  return {
    ...reader,
    query: async (given, parameters) => {
      await requireCopiesOutside(reader.path, given);
      const sql = await defineBodies(reader, given);
      const gaps = await findGaps(reader, registry, { sql, parameters }, options.strict);
      const result = await reader.query(sql, parameters);
      for (const gap of gaps.filter((message) => !told.has(message))) {
        told.add(gap);
        warn(gap, options.onWarning);
      }
      return result;
    },
  };
}

/** Gaps in the tables of a query, one line each. @throws {AuditError} `not-whole` when there are any and none may be */
export async function findGaps(
  reader: Reader,
  registry: Registry,
  asked: { readonly sql: string; readonly parameters?: Parameters },
  isStrict = false,
): Promise<readonly string[]> {
  const ledger = await reader.ledger();
  const forgotten = stillForgotten(await reader.forgotten(), ledger);
  const gaps = await gapsOf(reader.query, ledger, registry, { parameters: undefined, ...asked, forgotten });
  if (isStrict && gaps.length > 0) {
    throw new AuditError(`audit: ${gaps.join('; ')}`, {
      code: 'not-whole',
      hint: 'tonlake status shows what is missing; without strict, the query answers with what is there',
    });
  }
  return gaps;
}

function warn(message: string, onWarning: WarehouseOptions['onWarning']): void {
  if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_NOT_WHOLE' });
  else onWarning(message);
}
