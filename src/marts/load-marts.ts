import { unknownName } from '../core/did-you-mean.ts';
import { MartError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { COVERAGE, kindOfType, type SelectedColumn, selectedTable } from '../declare/selected-table.ts';
import type { TableDef } from '../declare/table.ts';
import type { ScalarFunction } from '../sql/database.ts';
import { lakeFileHashes } from '../sql/lake-files.ts';
import { columnDocs, headerList, headerText, martKeys, readSqlFiles, type SqlFile } from '../sql/sql-file.ts';
import type { Reads } from '../warehouse/query/coverage.ts';
import { bodyCalls } from '../warehouse/query/define-bodies.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { readsIn } from '../warehouse/query/left-out-gaps.ts';
import { type Reference, readReferences, requireKnown, sqlError } from './sql-references.ts';

interface MartFile extends SqlFile {
  /** Functions over bodies that its select calls. */
  readonly functions: readonly ScalarFunction[];
}

/** Combines some columns of an existing row with those of a row from new blocks, which has the same key. */
type MergeRule =
  | { readonly kind: 'latest' | 'earliest'; readonly by: string; readonly columns: readonly string[] }
  | { readonly kind: 'sum'; readonly columns: readonly string[] };

/** A table built by a select over others. */
export interface MartDef {
  readonly name: string;
  readonly file: MartFile;
  readonly question: string;
  readonly grain: string;
  /** Units of its numbers, as text. */
  readonly units: string;
  /** Tables and marts that it reads. */
  readonly inputs: readonly string[];
  /** Inputs that may be missing: they are read as empty if they were never exported. */
  readonly optional: readonly string[];
  /** Columns of declared tables that it reads. */
  readonly reads: Reads;
  /** Definitions of the macros that its select calls. */
  readonly macros: readonly string[];
  /** Built day by day of `block_date`: only days with changed inputs are rebuilt. */
  readonly isDaily: boolean;
  /** Number of masterchain blocks before a day that its rows also depend on. */
  readonly before: number;
  /** Rules to merge new rows of its inputs; undefined if it is rebuilt in full or day by day. */
  readonly merge: readonly MergeRule[] | undefined;
  /** The columns of the select, and `_coverage`. */
  readonly table: TableDef;
}

/** Cache by registry: the shipped files do not change. */
const shipped = new WeakMap<Registry, Promise<readonly MartDef[]>>();

/**
 * Loads the marts, each after those that it reads.
 * @param folder with the user's own marts; they replace shipped ones of the same name
 * @throws {MartError} with file and line: a header or a select is wrong, a reference is unknown, or marts read each other
 */
export function loadMarts(registry: Registry, folder?: string): Promise<readonly MartDef[]> {
  if (folder !== undefined) return readMarts(registry, folder);
  const known = shipped.get(registry);
  if (known !== undefined) return known;
  const marts = readMarts(registry);
  shipped.set(registry, marts);
  marts.catch(() => shipped.delete(registry));
  return marts;
}

async function readMarts(registry: Registry, folder?: string): Promise<readonly MartDef[]> {
  const scratch = await EmptyDatabase.open(registry);
  try {
    const references = new Map<string, readonly Reference[]>();
    const files: MartFile[] = [];
    for (const given of await readSqlFiles('marts', folder, martKeys)) {
      const file = { ...given, ...(await bodyCalls(given.sql, { path: given.path })) };
      files.push(file);
      requireFreeName(registry, file);
      references.set(file.name, await readReferences(scratch.query, file));
    }
    const marts: MartDef[] = [];
    for (const file of inOrder(files, references)) {
      marts.push(await declareMart(scratch, registry, file, references.get(file.name) ?? [], marts));
    }
    return marts;
  } finally {
    await scratch.close();
  }
}

/** @throws {UsageError} with the closest valid name */
export function martOf(marts: readonly MartDef[], name: string): MartDef {
  const found = marts.find((mart) => mart.name === name);
  if (found !== undefined) return found;
  const names = marts.map((mart) => mart.name);
  throw unknownName('a mart', name, names);
}

/** The named marts and those that they read, in build order. */
export function withInputs(marts: readonly MartDef[], names: readonly string[] | undefined): readonly MartDef[] {
  if (names === undefined || names.length === 0) return marts;
  const wanted = new Set<MartDef>();
  const add = (mart: MartDef): void => {
    wanted.add(mart);
    for (const each of marts.filter(({ name }) => mart.inputs.includes(name))) add(each);
  };
  for (const name of names) add(martOf(marts, name));
  return marts.filter((mart) => wanted.has(mart));
}

function requireFreeName(registry: Registry, { name, path }: SqlFile): void {
  if (registry.tables.every((table) => table.name !== name)) return;
  throw new MartError(`mart: expected an unused table name, got ${name} (${path})`);
}

function inOrder(
  files: readonly MartFile[],
  references: ReadonlyMap<string, readonly Reference[]>,
): readonly MartFile[] {
  const ordered: MartFile[] = [];
  const visit = (file: MartFile, open: readonly MartFile[]): void => {
    if (ordered.includes(file)) return;
    for (const { name, line } of references.get(file.name) ?? []) {
      const next = files.find((each) => each.name === name);
      if (next === undefined) continue;
      const way = [...open, file];
      if (way.includes(next)) {
        const cycle = [...way.slice(way.indexOf(next)), next].map((each) => each.name).join(' -> ');
        throw new MartError(`mart: expected marts that do not read each other, got ${cycle} (${file.path}:${line})`);
      }
      visit(next, way);
    }
    ordered.push(file);
  };
  for (const file of files) visit(file, []);
  return ordered;
}

async function declareMart(
  scratch: EmptyDatabase,
  registry: Registry,
  file: MartFile,
  references: readonly Reference[],
  earlier: readonly MartDef[],
): Promise<MartDef> {
  const { name, path } = file;
  const tables = new Set([...registry.tables, ...earlier.map(({ table }) => table)].map((table) => table.name));
  requireKnown(path, references, tables);
  const optional = headerList(file, 'optional');
  const inputs = references.map((reference) => reference.name);
  requireSameInputs(file, [...headerList(file, 'inputs'), ...optional], inputs);
  await scratch.define(file.functions);
  const columns = [...(await describe(scratch, file)), COVERAGE];
  const key = headerList(file, 'key');
  const isDated = columns.some((each) => each.name === 'block_date' && each.type === 'DATE');
  const isDaily = requireIncremental(file, isDated, 'a DATE of that name');
  for (const column of key) {
    if (columns.some((each) => each.name === column)) continue;
    throw new MartError(`mart: expected the key of ${name} among its columns, got ${column} (${path})`);
  }
  const grain = headerText(file, 'grain');
  const table = selectedTable({ name, grain, key, isDated: isDaily, columns });
  // Later marts may read it.
  scratch.declare(table);
  const [question, units] = [headerText(file, 'question'), headerText(file, 'units')];
  const reads = readsIn(registry, await scratch.scans(file.sql));
  const macros = [...scratch.macrosIn(file.sql), ...lakeFileHashes(file.sql)];
  const merge = mergeRulesOf(file, table);
  const before = blocksBefore(file, isDaily);
  return { name, file, question, grain, units, inputs, optional, reads, macros, isDaily, before, merge, table };
}

/** Requires that the header names the inputs of the select. */
export function requireSameInputs({ path }: SqlFile, declared: readonly string[], read: readonly string[]): void {
  const [a, b] = [[...declared].sort().join(', '), [...read].sort().join(', ')];
  if (a === b) return;
  throw new MartError(`mart: expected the inputs of the select (${b}) in its header, got ${a} (${path})`);
}

/** True if the header says that rows of a day depend on rows of the same day alone. @throws {MartError} */
export function requireIncremental(file: SqlFile, isDated: boolean, expected: string): boolean {
  const by = headerText(file, 'incremental');
  if (by === '') return false;
  if (by === 'block_date' && isDated) return true;
  throw new MartError(`mart: expected incremental: block_date and ${expected}, got ${by} (${file.path})`);
}

/** Reads `before: 200` of a mart that is built day by day. @throws {MartError} */
function blocksBefore(file: SqlFile, isDaily: boolean): number {
  const before = headerText(file, 'before');
  if (before === '' || (isDaily && /^[1-9]\d{0,5}$/.test(before))) return Number(before);
  const expected = isDaily ? 'a number of masterchain blocks in before' : 'before only with incremental';
  throw new MartError(`mart: expected ${expected}, got ${before} (${file.path})`);
}

async function describe(scratch: EmptyDatabase, file: SqlFile): Promise<readonly SelectedColumn[]> {
  const { rows } = await scratch.query(`DESCRIBE ${file.sql}`).catch((error: unknown) => {
    throw sqlError(file, error);
  });
  const docs = columnDocs(file);
  return rows.map(([column, type]) => {
    const name = String(column);
    if (kindOfType(String(type)) !== undefined) return { name, type: String(type), ...docs.get(name) };
    throw new MartError(`mart: expected a supported type for ${name}, got ${String(type)} (${file.path})`, {
      hint: 'cast it, for example to BIGINT, DECIMAL(38,0) or VARCHAR; numbers must not become floats',
    });
  });
}

/** Parses `latest lt: a, b` and `sum: c` of a header. @throws {MartError} unless each non-key column has one rule */
function mergeRulesOf(file: SqlFile, { key, columns }: TableDef): readonly MergeRule[] | undefined {
  const lines = file.header.get('merge');
  if (lines === undefined) return undefined;
  const fault = (expected: string, got: string): MartError =>
    new MartError(`mart: expected ${expected}, got ${got} (${file.path})`);
  const rules = lines.map((line): MergeRule => {
    const [, kind, by, list = ''] = /^(latest|earliest|sum)(?: (\w+))?: (.+)$/.exec(line) ?? [];
    const named = list.split(',').map((name) => name.trim());
    if (kind === 'sum' && by === undefined) return { kind, columns: named };
    if ((kind === 'latest' || kind === 'earliest') && by !== undefined) return { kind, by, columns: named };
    throw fault('latest column: columns, earliest column: columns, or sum: columns', line);
  });
  const ruled = rules.flatMap((rule) => [...rule.columns, ...(rule.kind === 'sum' ? [] : [rule.by])]).sort();
  const needed = columns.map(({ name }) => name).filter((name) => !key.includes(name) && name !== '_coverage');
  if (ruled.join(', ') === needed.sort().join(', ')) return rules;
  throw fault(`each column beside the key once in merge (${needed.join(', ')})`, ruled.join(', '));
}
