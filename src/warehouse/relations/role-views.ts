import { ROLES, type RoleName } from '../../declare/roles.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Declared } from '../../sql/lazy-declarations.ts';

/** The relations of all roles, over the tables that play them. They are temporary. */
export function roleViews(tables: readonly TableDef[]): readonly Declared<string>[] {
  const roles = Object.keys(ROLES) as RoleName[];
  return roles.flatMap(
    (role) =>
      roleView(
        role,
        tables.find(({ plays }) => plays === role),
      ) ?? [],
  );
}

/** The relation of a role; it has no rows if no table plays the role. Undefined for a role without columns. */
export function roleView(role: RoleName, table: TableDef | undefined): Declared<string> | undefined {
  const { relation, columns } = ROLES[role];
  const names = Object.entries(columns);
  if (names.length === 0) return undefined;
  const body =
    table === undefined
      ? `SELECT ${names.map(([name, type]) => `NULL::${type} AS ${quoteName(name)}`).join(', ')} WHERE false`
      : `SELECT ${names.map(([name]) => quoteName(name)).join(', ')} FROM ${quoteName(table.name)}`;
  return { name: relation, body, isInner: true, statement: () => `CREATE OR REPLACE TEMP VIEW ${relation} AS ${body}` };
}
