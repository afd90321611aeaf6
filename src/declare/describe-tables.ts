import { oneLine } from '../core/errors.ts';
import { alignColumns, counted } from '../core/format.ts';
import { suggest } from '../core/suggest.ts';
import { columnProofs } from '../proof/column-proofs.ts';
import type { OwnRelation } from '../warehouse/index.ts';
import { kinds } from './kind.ts';
import type { Registry } from './registry.ts';
import type { TableDef, ViewDef } from './table.ts';

/** The description of a table as data. */
export function tableSummary(registry: Registry, table: TableDef) {
  const pipeline = registry.writerOf(table.name);
  const { rows } = table;
  const parent = rows.kind === 'projection' ? pipeline?.tables.find(({ name }) => name === rows.of) : undefined;
  const proofs = columnProofs(table, parent);
  return {
    table: table.name,
    grain: table.grain,
    key: table.key,
    sort: table.sort,
    partition: table.time === undefined ? undefined : 'block_date',
    pipeline: pipeline?.name,
    endpoint: pipeline?.endpoint,
    columns: table.columns.map((column) => ({
      name: column.name,
      type: kinds[column.kind].sql,
      nullable: column.nullable,
      unit: column.unit,
      doc: column.doc,
      meaning: kinds[column.kind].meaning,
      proof: proofs?.get(column.name),
    })),
    views: table.views.map((view) => viewSummary(table, view)),
  };
}

/** The description of a view as data. */
export function viewSummary(table: TableDef, { name, doc, sql, adds }: ViewDef) {
  return { view: name, of: table.name, doc, sql: oneLine(sql), adds };
}

/** Name and meaning of a table. */
export function tableLine({ name, grain, views }: TableDef): readonly string[] {
  const more = views.length === 0 ? '' : ` [${counted(views.length, 'view')}]`;
  return [name, `${grain}${more}`];
}

/** One line per table. */
export function describeTables(tables: readonly TableDef[]): string {
  const [first] = tables;
  const next =
    first === undefined ? '' : `\n${suggest('show', first.name)} shows its columns and views, and so with each\n`;
  return `${alignColumns(tables.map(tableLine)).join('\n')}\n${next}`;
}

/** A table with its columns, for a terminal. @param notes the parts that a warehouse lacks */
export function describeTable(registry: Registry, table: TableDef, notes: readonly string[]): string {
  const { endpoint, pipeline, partition, columns, views } = tableSummary(registry, table);
  const order = `key (${table.key.join(', ')}), sorted by (${table.sort.join(', ')})`;
  const days = partition === undefined ? '' : `, partitioned by ${partition}`;
  const isProven = columns.some(({ proof }) => proof !== undefined);
  const head = [
    `${table.name}: ${table.grain}`,
    // Of a mart of the user's own, the warehouse has only the rows.
    table.key.length === 0 ? 'its file has its key and what its columns mean' : `${order}${days}`,
    ...(endpoint === undefined ? [] : [`pipeline ${pipeline}, from ${endpoint}`]),
    ...(isProven ? ['beside each column: what proves its values (docs/proof.md)'] : []),
    '',
  ];
  const rows = columns.map(({ name, type, nullable, unit, doc, proof }) => {
    const facts = [unit, nullable ? 'or null' : undefined].filter((fact) => fact !== undefined).join(', ');
    const by = isProven ? [proof?.by.join(', ') ?? ''] : [];
    return [name, type, ...by, `${doc}${facts === '' ? '' : ` [${facts}]`}`];
  });
  const lines = alignColumns(rows);
  const viewLines = alignColumns(views.map(({ view, doc }) => [view, doc]));
  return `${[...head, ...lines, ...(views.length === 0 ? [] : ['', 'views', ...viewLines]), ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')}\n`;
}

/** A relation about the warehouse, as data. */
export function ownSummary({ name, grain, key, columns }: OwnRelation) {
  return { table: name, grain, key, columns };
}

/** A relation about the warehouse, for a terminal. */
export function describeOwn({ name, grain, key, columns }: OwnRelation): string {
  const lines = alignColumns(columns.map((column) => [column.name, column.type, column.doc]));
  return `${[`${name}: ${grain}`, `key (${key.join(', ')})`, '', ...lines].join('\n')}\n`;
}

/** A view, for a terminal. */
export function describeView(table: TableDef, view: ViewDef): string {
  const { sql, adds } = viewSummary(table, view);
  const more = Object.entries(adds ?? {}).map(([name, doc]) => `${name}  ${doc}`);
  const columns = adds === undefined ? [] : [`columns of ${table.name}${more.length === 0 ? '' : ', and'}`, ...more];
  return `${[`${view.name}: ${view.doc}`, sql, ...(columns.length === 0 ? [] : ['', ...columns])].join('\n')}\n`;
}
