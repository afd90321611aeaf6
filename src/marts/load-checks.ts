import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { DECLARED_CHECKS } from '../sql/shipped-queries.ts';
import { headerList, headerText, readSqlFiles } from '../sql/sql-file.ts';
import { withoutEnd } from '../sql/statements.ts';
import { COMMITS, type LedgerEntry } from '../warehouse/index.ts';
import type { Reads } from '../warehouse/query/coverage.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { allLeftOut, readsIn } from '../warehouse/query/left-out-gaps.ts';
import { loadMarts, requireIncremental, requireSameInputs } from './load-marts.ts';
import { readReferences, requireKnown, sqlError } from './sql-references.ts';

/** A rule, and the selects that return the rows that break it. */
export interface CheckDef {
  readonly name: string;
  /** The rule, in one sentence. */
  readonly rule: string;
  readonly parts: readonly CheckPart[];
}

/**
 * The rows that a select must read again after a change. `day`: rows of changed days. `rows`: rows of new entries, and rows that were read at the
 * same time or later, because no others can contradict them. `all`: all rows.
 */
type CheckScope = 'day' | 'rows' | 'all';

/** A select that returns rows which break a rule. */
export interface CheckPart {
  readonly sql: string;
  /** As shown in messages. */
  readonly path: string;
  readonly scope: CheckScope;
  /** True if it also compares rows of different days when everything is read. */
  readonly acrossDays: boolean;
  /** Tables and marts that it reads. */
  readonly inputs: readonly string[];
  /** Inputs that may be missing: they are read as empty if they were never exported. */
  readonly optional: readonly string[];
  readonly readsCommits: boolean;
  /** Columns of declared tables that it reads. */
  readonly reads: Reads;
  /** Definitions of the macros that it calls. */
  readonly macros: readonly string[];
}

interface CheckFolders {
  /** Folder of the user's own checks. */
  readonly folder?: string | undefined;
  /** Folder of the user's own marts, which checks may read. */
  readonly marts?: string | undefined;
}

const keys = { required: ['rule', 'inputs'], optional: ['optional', 'incremental'] };

/**
 * Loads the checks of files.
 * @throws {MartError} with file and line if a header or a select is wrong
 */
export async function loadChecks(
  registry: Registry,
  { folder, marts: martFolder }: CheckFolders = {},
): Promise<readonly CheckDef[]> {
  const marts = await loadMarts(registry, martFolder);
  const tables = [...registry.tables, ...marts.map(({ table }) => table)];
  const known = new Set([...tables.map(({ name }) => name), COMMITS]);
  const dated = new Set(tables.filter(({ time }) => time !== undefined).map(({ name }) => name));
  const files = await readSqlFiles('checks', folder, keys);
  const scratch = await EmptyDatabase.open(registry);
  for (const { table } of marts) scratch.declare(table);
  try {
    const checks: CheckDef[] = [];
    for (const file of files) {
      const references = await readReferences(scratch.query, file);
      requireKnown(file.path, references, known);
      await scratch.query(`DESCRIBE ${file.sql}`).catch((error: unknown) => {
        throw sqlError(file, error);
      });
      const optional = headerList(file, 'optional');
      const read = references.map(({ name }) => name);
      const inputs = read.filter((name) => name !== COMMITS);
      requireSameInputs(file, [...headerList(file, 'inputs'), ...optional], inputs);
      const isDaily = requireIncremental(
        file,
        inputs.some((name) => dated.has(name)),
        'a table with days among its inputs',
      );
      const part: CheckPart = {
        sql: withoutEnd(file.sql),
        path: file.path,
        scope: isDaily ? 'day' : 'all',
        acrossDays: false,
        inputs,
        optional,
        readsCommits: read.includes(COMMITS),
        reads: readsIn(registry, await scratch.scans(file.sql)),
        macros: scratch.macrosIn(file.sql),
      };
      checks.push({ name: file.name, rule: headerText(file, 'rule'), parts: [part] });
    }
    return checks;
  } finally {
    await scratch.close();
  }
}

/**
 * Adds the checks that follow from declarations, sorted by name. A file replaces a declared check of the same name.
 *
 * @param ledger its entries say which columns were left out. Default: none
 */
export function withDeclared(
  checks: readonly CheckDef[],
  registry: Registry,
  ledger: readonly LedgerEntry[] = [],
): readonly CheckDef[] {
  const all = new Map([...declaredChecks(registry, ledger), ...checks].map((check) => [check.name, check]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The checks that follow from the declarations of all tables, without the columns that exports left out. */
function declaredChecks(registry: Registry, ledger: readonly LedgerEntry[]): readonly CheckDef[] {
  // A record that could not be decoded may be refused again.
  const tables = registry.tables.filter(({ name }) => name !== 'quarantine');
  const names = tables.map(({ name }) => name);
  const leftOut = new Map<string, ReadonlySet<string>>();
  for (const { table, columns } of allLeftOut(ledger, registry, names)) {
    leftOut.set(table, new Set([...(leftOut.get(table) ?? []), ...columns]));
  }
  return Object.entries(DECLARED_CHECKS).map(([name, rule]) => {
    const select = name === 'unique_keys' ? repeatedKeys : nullValues;
    const parts = (['day', 'rows'] as const).map((scope): CheckPart => {
      const selects = tables
        .filter(({ time }) => (time !== undefined) === (scope === 'day'))
        .flatMap((table) => {
          const sql = select(table, leftOut.get(table.name) ?? new Set());
          return sql === undefined ? [] : [{ table: table.name, sql }];
        });
      const inputs = selects.map(({ table }) => table);
      return {
        sql: selects.map(({ sql }) => sql).join('\nUNION ALL\n'),
        path: name,
        scope,
        inputs,
        optional: inputs,
        readsCommits: false,
        reads: new Map(),
        macros: [],
        acrossDays: name === 'unique_keys',
      };
    });
    return { name, rule, parts };
  });
}

/** Groups by hash first: groups of keys would take several times the memory, and few hashes occur twice. */
function repeatedKeys({ name, key }: TableDef, without: ReadonlySet<string>): string | undefined {
  if (key.some((column) => without.has(column))) return undefined;
  const columns = key.map(quoteName).join(', ');
  const table = quoteName(name);
  return `SELECT ${quoteText(name)} AS table_name, concat_ws(' ', ${columns}) AS key, count(*) AS rows
FROM ${table} WHERE hash(${columns}) IN (SELECT hash(${columns}) FROM ${table} GROUP BY 1 HAVING count(*) > 1)
GROUP BY ${columns} HAVING count(*) > 1`;
}

function nullValues({ name, key, columns }: TableDef, without: ReadonlySet<string>): string | undefined {
  const filled = columns.filter((column) => !column.nullable && !without.has(column.name));
  if (filled.length === 0) return undefined;
  const shown = key.filter((column) => !without.has(column)).map(quoteName);
  const lost = filled.map((column) => `CASE WHEN ${quoteName(column.name)} IS NULL THEN ${quoteText(column.name)} END`);
  return `SELECT ${quoteText(name)} AS table_name, concat_ws(' ', ${[...shown, "''"].join(', ')}) AS key,
concat_ws(', ', ${lost.join(', ')}) AS columns
FROM ${quoteName(name)} WHERE ${filled.map((column) => `${quoteName(column.name)} IS NULL`).join(' OR ')}`;
}
