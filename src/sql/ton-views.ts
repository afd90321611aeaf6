import { MartError } from '../core/errors.ts';
import { quoteName } from './canonical-text.ts';
import type { Declared } from './lazy-declarations.ts';
import { afterComments } from './pieces.ts';
import { headerList, headerText, readShippedSql } from './sql-file.ts';

/** The schema of the public TON data lake. */
export const TON = 'ton';

/** A relation of the schema `ton`. */
export interface TonView {
  readonly name: string;
  readonly title: string;
  readonly grain: string;
  /** Tables and marts that it reads. */
  readonly inputs: readonly string[];
  /** The file of the project that it reads. */
  readonly file: string | undefined;
  readonly columns: readonly TonColumn[];
  /** Empty if all its rows come from a file. */
  readonly sql: string;
}

export interface TonColumn {
  readonly name: string;
  readonly type: string;
  readonly unit: string | undefined;
  readonly doc: string;
}

let shipped: readonly TonView[] | undefined;

/** The relations of `ton`, each after those that it reads. */
export function tonViews(): readonly TonView[] {
  shipped ??= readViews();
  return shipped;
}

function readViews(): readonly TonView[] {
  const files = readShippedSql(TON, { required: ['grain', 'columns'], optional: ['inputs', 'file'] });
  const views = files.map((file) => ({
    name: file.name,
    title: file.title,
    grain: headerText(file, 'grain'),
    inputs: headerList(file, 'inputs'),
    file: headerText(file, 'file') || undefined,
    columns: (file.header.get('columns') ?? []).map((line) => columnOf(line, file.path)),
    sql: afterComments(file.sql).trim(),
  }));
  return views.sort((a, b) => Number(a.sql !== '') - Number(b.sql !== ''));
}

function columnOf(line: string, path: string): TonColumn {
  const [, name, type, unit, doc] =
    /^(\w+) ([A-Z]\w*(?:\([^)]*\))?(?:\[\])?)(?: \(([\w ]+)\))?: (.+)$/.exec(line) ?? [];
  if (name !== undefined && type !== undefined && doc !== undefined) return { name, type, unit, doc };
  throw new MartError(`mart: expected name TYPE (unit): meaning, got ${line} (${path})`);
}

/**
 * The schema and its views. A view of a mart that was never built has no rows.
 * @param tables existing tables and marts
 * @param isPlanned true for a database that only plans selects: a view without rows reads a table of its name, which the plan shows
 */
export function declaredTon(
  tables: readonly { readonly name: string }[],
  isPlanned = false,
): readonly Declared<string>[] {
  const relations = new Set(tables.map(({ name }) => name));
  const views = tonViews().map((relation) => {
    const { name, inputs, columns, sql } = relation;
    const isReal = inputs.every((input) => relations.has(input));
    const none = `SELECT ${columns.map(emptyColumn).join(', ')} WHERE false`;
    const [view, table] = [`${TON}.${name}`, `${TON}.${quoteName(unbuilt(name))}`];
    const body = isReal ? (sql === '' ? rowsOfFile(relation) : sql) : isPlanned ? `SELECT * FROM ${table}` : none;
    const before = isReal || !isPlanned ? '' : `CREATE TABLE IF NOT EXISTS ${table} AS ${none};\n`;
    return { name: view, body, statement: () => `${before}CREATE OR REPLACE VIEW ${view} AS ${body}` };
  });
  return [{ name: `${TON}.`, body: '', statement: () => `CREATE SCHEMA IF NOT EXISTS ${TON}` }, ...views];
}

/** Name of the variable with the rows of the file of a relation. */
export function rowsVariable({ name }: TonView): string {
  return `ton_${name}`;
}

/** Types of the columns by name, for `from_json`. */
export function rowType({ columns }: TonView): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type]));
}

/** Reads a variable, so that neither a catalog nor a confined database needs the file. */
function rowsOfFile(view: TonView): string {
  const fields = view.columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(', ');
  const names = view.columns.map(({ name }) => `r.${quoteName(name)}`).join(', ');
  return `SELECT ${names} FROM (SELECT unnest(getvariable('${rowsVariable(view)}')::STRUCT(${fields})[]) AS r)`;
}

function unbuilt(name: string): string {
  return `${name} without rows`;
}

/** The inputs of a `ton` view that was not built, by the name of its table in a plan; undefined for other names. */
export function inputsOfUnbuilt(relation: string): readonly string[] | undefined {
  return tonViews().find(({ name }) => relation === `${TON}.${unbuilt(name)}`)?.inputs;
}

/** Tables and marts that a view reads; the name itself if there is no such view. */
export function inputsOfTon(name: string): readonly string[] {
  return tonViews().find((view) => view.name === name.toLowerCase())?.inputs ?? [`${TON}.${name}`];
}

/** Tables and marts that the views read. */
export function tonInputs(): readonly string[] {
  return [...new Set(tonViews().flatMap(({ inputs }) => inputs))];
}

function emptyColumn({ name, type }: TonColumn): string {
  return `NULL::${type} AS ${quoteName(name)}`;
}
