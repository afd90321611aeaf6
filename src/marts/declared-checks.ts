import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { DECLARED_CHECKS } from '../sql/shipped-queries.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { allLeftOut } from '../warehouse/query/left-out-gaps.ts';
import type { CheckDef, CheckPart } from './check-def.ts';

/** The checks that follow from the declarations of all tables: their selects, without the columns that exports left out. */
export function declaredChecks(registry: Registry, ledger: readonly LedgerEntry[]): readonly CheckDef[] {
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
        ...{ sql: selects.map(({ sql }) => sql).join('\nUNION ALL\n'), path: name, scope },
        ...{ inputs, optional: inputs, readsCommits: false, reads: new Map(), macros: [] },
        acrossDays: name === 'unique_keys',
      };
    });
    return { name, rule, parts };
  });
}

/** Groups of keys would take several times the memory of those of their hashes, of which hardly any is there twice. */
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
