import { didYouMean } from '../core/did-you-mean.ts';
import { oneLine, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { ColumnDef } from '../declare/column.ts';
import { tableSummary } from '../declare/describe-tables.ts';
import { kinds } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { readBuiltTables } from '../marts/built-tables.ts';
import { loadMarts } from '../marts/load-marts.ts';
import type { LedgerEntry, OwnRelation } from '../warehouse/index.ts';
import { readContents } from '../warehouse/query/coverage.ts';
import { lacksOfTable } from '../warehouse/query/query-coverage.ts';
import { ownRelations } from '../warehouse/query/state-relations.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import type { TableColumn, TableDetail, TableFileItem, TableItem } from './ui-types.ts';

/** Files of a table that are shown. */
const MAX_FILES = 50;

/** A table, view or mart, described without reading its rows. */
export type Relation = Omit<TableDetail, 'gaps' | 'newestFiles'>;

/** All relations that a query can name: tables, views, marts, and those about the warehouse itself. Only commits change them. */
export async function readRelations({ reader, registry }: OpenWarehouse): Promise<readonly Relation[]> {
  const contents = await readContents(reader, registry);
  const { ledger } = contents;
  const marts = await loadMarts(registry);
  return [
    ...registry.tables.flatMap((table) => tableRelations(registry, ledger, table)),
    ...marts.map(({ name, question, grain, table, file }) => ({
      ...NONE,
      name,
      kind: 'mart' as const,
      doc: question,
      ...sizeOf(ledger, name),
      grain,
      key: table.key,
      sql: file.sql.trim(),
      columns: columnsOf(table.columns.map(typed), table.key),
    })),
    ...(await readBuiltTables(reader, registry, marts)).map((table) => ({
      ...NONE,
      name: table.name,
      kind: 'mart' as const,
      doc: table.grain,
      ...sizeOf(ledger, table.name),
      grain: table.grain,
      key: table.key,
      columns: columnsOf(table.columns.map(typed), table.key),
    })),
    ...ownRelations.map((own) => ({
      ...NONE,
      name: own.name,
      kind: 'table' as const,
      doc: own.grain,
      rows: own.rows(contents).length,
      grain: own.grain,
      key: own.key,
      columns: columnsOf(own.columns, own.key),
    })),
  ];
}

/** What most relations have. */
const NONE = {
  of: null,
  rows: null,
  bytes: null,
  files: null,
  grain: null,
  key: [],
  endpoint: null,
  sql: null,
} as const;

/** A table and its views. */
function tableRelations(registry: Registry, ledger: readonly LedgerEntry[], table: TableDef): readonly Relation[] {
  const { name, grain, key, views } = table;
  const { pipeline = null, endpoint = null } = tableSummary(registry, table);
  const columns = columnsOf(table.columns.map(typed), key);
  return [
    { ...NONE, name, kind: 'table', doc: grain, of: pipeline, ...sizeOf(ledger, name), grain, key, endpoint, columns },
    ...views.map((view): Relation => {
      const added = Object.entries(view.adds ?? {}).map(([column, doc]) => ({
        name: column,
        type: '',
        doc,
        nullable: true,
      }));
      const all = [...columns, ...columnsOf(added, [])];
      return { ...NONE, name: view.name, kind: 'view', doc: view.doc, of: name, sql: oneLine(view.sql), columns: all };
    }),
  ];
}

function sizeOf(ledger: readonly LedgerEntry[], name: string): Pick<TableItem, 'rows' | 'bytes' | 'files'> {
  const entries = ledger.flatMap(({ tables }) => tables[name] ?? []);
  if (entries.length === 0) return { rows: null, bytes: null, files: null };
  const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
  const files = entries.flatMap((entry) => entry.files);
  // A DuckDB warehouse is a single file.
  if (files.length === 0) return { rows, bytes: null, files: null };
  return { rows, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files: files.length };
}

function typed(column: ColumnDef) {
  return { ...column, type: kinds[column.kind].sql };
}

function columnsOf(columns: readonly OwnRelation['columns'][number][], key: readonly string[]): readonly TableColumn[] {
  return columns.map(({ name, type, unit, nullable, doc }) => ({
    name,
    type,
    unit: unit ?? null,
    doc,
    isNullable: nullable === true,
    isKey: key.includes(name),
  }));
}

/** A relation in a list. */
export function itemOf({ name, kind, doc, of, rows, bytes, files }: Relation): TableItem {
  return { name, kind, doc, of, rows, bytes, files };
}

/** @throws {UsageError} `unknown-table` */
export function findRelation(relations: readonly Relation[], name: string): Relation {
  const found = relations.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = relations.map((each) => each.name);
  throw usage('a table', name, `${didYouMean(name, names)}${suggest('show')} lists them`, { code: 'unknown-table' });
}

/** A relation in full. */
export async function describeRelation({ reader, registry }: OpenWarehouse, relation: Relation): Promise<TableDetail> {
  const gaps = await lacksOfTable(reader, registry, relation.name);
  return { ...relation, gaps, newestFiles: filesOf(await reader.ledger(), relation.name) };
}

function filesOf(ledger: readonly LedgerEntry[], name: string): readonly TableFileItem[] {
  return [...ledger]
    .reverse()
    .flatMap(({ number, tables }) =>
      (tables[name]?.files ?? []).map(({ path, rows, bytes }) => ({ path, rows, bytes, entry: number })),
    )
    .slice(0, MAX_FILES);
}
