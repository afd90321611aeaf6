import { alignColumns } from '../core/format.ts';
import {
  describeOwn,
  describeTable,
  describeTables,
  describeView,
  ownSummary,
  tableLine,
  tableSummary,
  viewSummary,
} from '../declare/describe-tables.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { readBuiltTables } from '../marts/built-tables.ts';
import { describeMart, describeMarts, martSummary } from '../marts/describe-marts.ts';
import { loadMarts, type MartDef } from '../marts/load-marts.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { tablesIn } from '../warehouse/query/coverage.ts';
import { allLeftOut, describeLeftOut } from '../warehouse/query/left-out-gaps.ts';
import { ownRelations } from '../warehouse/query/state-relations.ts';
import { type OpenOptions, openWarehouse } from '../warehouse/query/warehouse-registry.ts';

/** What a warehouse can be described by. */
export interface Declared {
  readonly registry: Registry;
  /** Empty if there is no warehouse. */
  readonly ledger: readonly LedgerEntry[];
  /** Tables of the warehouse that neither pipelines nor shipped marts declare. */
  readonly built: readonly TableDef[];
}

/** The pipelines of a warehouse beside those that are loaded, and its ledger. @throws {StoreError} `no-warehouse`, `other-network` */
export async function declaredIn(
  warehouse: string,
  options: Pick<OpenOptions, 'registry' | 'network'> = {},
): Promise<Declared> {
  const { registry, reader } = await openWarehouse(warehouse, options);
  try {
    const built = await readBuiltTables(reader, registry, await loadMarts(registry));
    return { registry, ledger: await reader.ledger(), built };
  } finally {
    await reader.close();
  }
}

/** Describes a table, mart or view, the ledger, or lists all tables and marts. @throws {UsageError} `unknown-table` */
export async function describeName(
  name: string | undefined,
  { registry, ledger, built }: Declared,
  format: 'text' | 'json' = 'text',
): Promise<string> {
  const isText = format === 'text';
  const json = (summaries: readonly unknown[]): string => `${JSON.stringify(summaries)}\n`;
  const inner = ownRelations.find((each) => each.name === name);
  if (inner !== undefined) return isText ? describeOwn(inner) : json([ownSummary(inner)]);
  const of = name === undefined ? undefined : registry.tableOf(name);
  const view = of?.views.find((candidate) => candidate.name === name);
  if (of !== undefined && view !== undefined) return isText ? describeView(of, view) : json([viewSummary(of, view)]);
  const marts = of === undefined ? await loadMarts(registry) : [];
  const mart = marts.find((candidate) => candidate.name === name);
  if (mart !== undefined) return isText ? describeMart(mart) : json([martSummary(mart)]);
  const own = built.find((candidate) => candidate.name === name);
  const tables = name === undefined ? registry.tables : [own ?? registry.table(name)];
  const gaps = allLeftOut(
    ledger,
    registry,
    tables.map((table) => table.name),
  );
  if (!isText) {
    const summaries = tables.map((table) => ({
      ...tableSummary(registry, table),
      leftOut: gaps.filter((gap) => gap.table === table.name),
    }));
    const others =
      name === undefined ? [...marts.map(martSummary), ...built.map((table) => tableSummary(registry, table))] : [];
    return json([...summaries, ...others]);
  }
  if (name === undefined && ledger.length > 0) return describeContents({ registry, ledger, built }, marts);
  if (name === undefined) return `${describeTables(registry.tables)}\n${describeMarts(marts)}`;
  return tables.map((table) => describeTable(registry, table, gaps.map(describeLeftOut))).join('');
}

/** One line for each table and mart of a warehouse, then those that it could have. */
function describeContents({ registry, ledger, built }: Declared, marts: readonly MartDef[]): string {
  const filled = tablesIn(ledger);
  const isThere = ({ name }: { readonly name: string }): boolean => filled.has(name);
  const [tables, others] = [registry.tables.filter(isThere), registry.tables.filter((table) => !isThere(table))];
  const lines = [
    ...tables.map(tableLine),
    ...marts.filter(isThere).map(({ name, question }) => [name, question]),
    ...built.map(({ name, grain }) => [name, grain]),
  ];
  const unbuilt = marts.filter((mart) => !isThere(mart));
  return [
    `in the warehouse:\n${alignColumns(lines).join('\n')}\n`,
    ...(unbuilt.length === 0 ? [] : [describeMarts(unbuilt, 'marts that are not built')]),
    `not exported:\n${describeTables(others)}`,
  ].join('\n');
}
