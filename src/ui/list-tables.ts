import { didYouMean } from '../core/did-you-mean.ts';
import { oneLine, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { ColumnDef } from '../declare/column.ts';
import { tableSummary } from '../declare/describe-tables.ts';
import { kinds } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { readBuiltTables } from '../marts/built-tables.ts';
import { loadMarts, type MartDef } from '../marts/load-marts.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { readHeld } from '../warehouse/query/coverage.ts';
import { lacksOfTable } from '../warehouse/query/query-coverage.ts';
import { ownRelations } from '../warehouse/query/state-relations.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import type { TableColumn, TableDetail, TableFileItem, TableItem } from './ui-types.ts';

/** Files of a table that are shown. */
const MAX_FILES = 50;

/** Everything that a query can name: tables with their views, marts, and what tells of the warehouse. */
export async function listTables({ reader, registry }: OpenWarehouse): Promise<readonly TableItem[]> {
  const held = await readHeld(reader, registry);
  const { ledger } = held;
  const marts = await loadMarts(registry);
  const tables = registry.tables.flatMap((table) => [
    {
      ...{ name: table.name, kind: 'table' as const, doc: table.grain },
      of: tableSummary(registry, table).pipeline ?? null,
      ...sizeOf(ledger, table.name),
    },
    ...table.views.map(({ name, doc }) => ({
      ...{ name, kind: 'view' as const, doc, of: table.name },
      ...{ rows: null, bytes: null, files: null },
    })),
  ]);
  const built = marts.map(({ name, question }) => ({
    ...{ name, kind: 'mart' as const, doc: question, of: null },
    ...sizeOf(ledger, name),
  }));
  const others = (await readBuiltTables(reader, registry, marts)).map(({ name, grain }) => ({
    ...{ name, kind: 'mart' as const, doc: grain, of: null },
    ...sizeOf(ledger, name),
  }));
  const own = ownRelations.map(({ name, grain, rows }) => ({
    ...{ name, kind: 'table' as const, doc: grain, of: null },
    ...{ rows: rows(held).length, bytes: null, files: null },
  }));
  return [...tables, ...built, ...others, ...own];
}

function sizeOf(
  ledger: readonly LedgerEntry[],
  name: string,
): { readonly rows: number | null; readonly bytes: number | null; readonly files: number | null } {
  const entries = ledger.flatMap(({ tables }) => tables[name] ?? []);
  if (entries.length === 0) return { rows: null, bytes: null, files: null };
  const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
  const files = entries.flatMap((entry) => entry.files);
  // The rows of a DuckDB warehouse lie in one file with all others.
  if (files.length === 0) return { rows, bytes: null, files: null };
  return { rows, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files: files.length };
}

/** What is known of a table, view or mart without reading its rows. @throws {UsageError} `unknown-table` */
export async function findRelation(
  opened: OpenWarehouse,
  name: string,
): Promise<Omit<TableDetail, 'gaps' | 'newestFiles'>> {
  const { reader, registry } = opened;
  const items = await listTables(opened);
  const item = items.find((each) => each.name === name);
  if (item === undefined) {
    const names = items.map((each) => each.name);
    throw usage('a table', name, {
      code: 'unknown-table',
      hint: `${didYouMean(name, names)}${suggest('show')} lists them`,
    });
  }
  const marts = await loadMarts(registry);
  const built = await readBuiltTables(reader, registry, marts);
  return { ...item, ...declarationOf(registry, marts, built, name) };
}

/** A table, view or mart in full. @throws {UsageError} `unknown-table` */
export async function describeRelation(opened: OpenWarehouse, name: string): Promise<TableDetail> {
  const { reader, registry } = opened;
  const relation = await findRelation(opened, name);
  const gaps = await lacksOfTable(reader, registry, name);
  return { ...relation, gaps, newestFiles: filesOf(await reader.ledger(), name) };
}

type Declaration = Pick<TableDetail, 'grain' | 'key' | 'endpoint' | 'sql' | 'columns'>;

function declarationOf(
  registry: Registry,
  marts: readonly MartDef[],
  built: readonly TableDef[],
  name: string,
): Declaration {
  const none = { grain: null, key: [], endpoint: null, sql: null };
  const inner = ownRelations.find((each) => each.name === name);
  if (inner !== undefined) {
    const { grain, key } = inner;
    const columns = inner.columns.map(({ name, type, unit, nullable, doc }) => ({
      ...{ name, type, unit: unit ?? null, doc },
      ...{ isNullable: nullable === true, isKey: key.includes(name) },
    }));
    return { ...none, grain, key, columns };
  }
  const mart = marts.find((each) => each.name === name);
  if (mart !== undefined) {
    const { table, grain, file } = mart;
    return { ...none, grain, key: table.key, sql: file.sql.trim(), columns: columnsOf(table.columns, table.key) };
  }
  const own = built.find((each) => each.name === name);
  if (own !== undefined) return { ...none, grain: own.grain, key: own.key, columns: columnsOf(own.columns, own.key) };
  const table = registry.tableOf(name);
  if (table === undefined) return { ...none, columns: [] };
  const columns = columnsOf(table.columns, table.key);
  const view = table.views.find((each) => each.name === name);
  if (view === undefined) {
    const { endpoint } = tableSummary(registry, table);
    return { ...none, grain: table.grain, key: table.key, endpoint: endpoint ?? null, columns };
  }
  const added = Object.entries(view.adds ?? {}).map(([column, doc]) => ({
    ...{ name: column, type: '', unit: null, doc, isNullable: true, isKey: false },
  }));
  return { ...none, sql: oneLine(view.sql), columns: [...columns, ...added] };
}

function columnsOf(columns: readonly ColumnDef[], key: readonly string[]): readonly TableColumn[] {
  return columns.map(({ name, kind, unit, doc, nullable }) => ({
    ...{ name, type: kinds[kind].sql, unit: unit ?? null, doc: doc ?? '' },
    ...{ isNullable: nullable, isKey: key.includes(name) },
  }));
}

function filesOf(ledger: readonly LedgerEntry[], name: string): readonly TableFileItem[] {
  return [...ledger]
    .reverse()
    .flatMap(({ number, tables }) =>
      (tables[name]?.files ?? []).map(({ path, rows, bytes }) => ({ path, rows, bytes, entry: number })),
    )
    .slice(0, MAX_FILES);
}
