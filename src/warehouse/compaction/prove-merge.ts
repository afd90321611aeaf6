import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import type { TableDef } from '../../declare/table.ts';
import type { Query } from '../../sql/query-result.ts';
import { placedRows, selectFiles } from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import { addEvidence, boundedColumns, measureBy } from '../staging/row-evidence.ts';
import { rowSum, sumRows } from '../staging/row-sum.ts';
import type { FileBounds, TableEvidence, TableFile } from '../store.ts';

/** A merged file, and those that it was made of. */
export interface MergedFile {
  /** Folder of a table or a date. */
  readonly place: string;
  readonly stagedPath: string;
  readonly sources: readonly TableFile[];
}

/** Evidence of the rows of a file. */
export interface FileEvidence extends TableEvidence {
  readonly bounds: FileBounds;
}

export interface ProveOptions {
  readonly query: Query;
  /** Path of the warehouse. */
  readonly warehouse: string;
  readonly table: TableDef;
  readonly span: Span;
  readonly merged: readonly MergedFile[];
  /** Evidence of the merged entries. */
  readonly parts: readonly TableEvidence[];
}

/**
 * Compares the rows of merged files with those of their sources, and their evidence with that of the entries. DuckDB reads both.
 *
 * @returns the evidence and bounds of each file
 * @throws {StoreError} `not-the-same`
 */
export async function proveMerge(options: ProveOptions): Promise<readonly FileEvidence[]> {
  const { query, warehouse, table, merged, parts } = options;
  const proven: FileEvidence[] = [];
  const bounded = boundedColumns(table);
  for (const { place, stagedPath, sources } of merged) {
    const paths = sources.map(({ path }) => join(warehouse, path));
    const old = `(${selectFiles(table, [{ columns: schemaOf(table).columns, paths }])})`;
    const [fresh] = await measureBy(query, table, {
      relation: placedRows(table, stagedPath, place),
      more: [rowSum(table)],
      bounded,
    });
    if (fresh === undefined || String([fresh.evidence.rows, ...fresh.more]) !== (await sumRows(query, table, old))) {
      throw differs(options);
    }
    proven.push({ ...fresh.evidence, bounds: fresh.bounds });
  }
  if (JSON.stringify(addEvidence(proven, table)) !== JSON.stringify(addEvidence(parts, table))) throw differs(options);
  return proven;
}

function differs({ warehouse, table, span }: ProveOptions): StoreError {
  return new StoreError(`store: ${table.name} ${span.from}:${span.to}: merged rows differ from the original rows`, {
    code: 'not-the-same',
    hint: suggest('verify', '', { warehouse }),
  });
}
