import { selectedTable } from '../../declare/selected-table.ts';
import type { TableDef } from '../../declare/table.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';

/** The marts of a warehouse, with the columns of their newest rows. No declaration is needed to read them. */
export function committedMarts(ledger: LedgerFolder): readonly TableDef[] {
  const held = new Map<string, TableDef>();
  for (const { mart, tables } of ledger.entries.effective) {
    if (mart === undefined) continue;
    for (const [name, { schema }] of Object.entries(tables)) {
      const { columns } = ledger.schema(schema);
      held.set(name, selectedTable({ name, grain: '', key: [], isDated: mart.day !== undefined, columns }));
    }
  }
  return [...held.values()];
}
