import { COVERAGE, type SelectedColumn, selectedTable } from '../../declare/selected-table.ts';
import type { TableDef } from '../../declare/table.ts';
import { columnDocs, headerText, martKeys, readShippedSql } from '../../sql/sql-file.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import type { LedgerEntry } from '../store.ts';
import type { SchemaColumn } from './table-schema.ts';

interface MartDocs {
  readonly grain: string;
  readonly docs: ReadonlyMap<string, Pick<SelectedColumn, 'unit' | 'doc'>>;
}

let shipped: ReadonlyMap<string, MartDocs> | undefined;

/** Grains and column docs of the shipped marts, from their SQL files. */
function shippedDocs(): ReadonlyMap<string, MartDocs> {
  shipped ??= new Map(
    readShippedSql('marts', martKeys).map((file) => [
      file.name,
      { grain: headerText(file, 'grain'), docs: columnDocs(file).set(COVERAGE.name, COVERAGE) },
    ]),
  );
  return shipped;
}

/**
 * The marts of a warehouse, with the columns of their newest rows. No declaration is needed to read them.
 * @param entries in force
 * @param columnsOf the columns of a table's rows, by the name of the table or the identifier of their schema
 */
export function committedMarts(
  entries: readonly LedgerEntry[],
  columnsOf: (table: string, schema: string) => readonly SchemaColumn[],
): readonly TableDef[] {
  const marts = new Map<string, { readonly schema: string; readonly isDated: boolean }>();
  for (const { mart, tables } of entries) {
    if (mart === undefined) continue;
    for (const [name, { schema }] of Object.entries(tables)) {
      // A mart without any day yet has one entry without rows and day.
      marts.set(name, { schema, isDated: mart.day !== undefined || marts.get(name)?.isDated === true });
    }
  }
  return [...marts].map(([name, { schema, isDated }]) => {
    const { grain = '', docs } = shippedDocs().get(name) ?? {};
    const columns = columnsOf(name, schema).map((column) => ({ ...column, ...docs?.get(column.name) }));
    return selectedTable({ name, grain, key: [], isDated, columns });
  });
}

/** {@link committedMarts} of a ledger that has the schemas. */
export function martsIn(ledger: LedgerFolder): readonly TableDef[] {
  return committedMarts(ledger.entries.effective, (_, schema) => ledger.schemas.get(schema).columns);
}
