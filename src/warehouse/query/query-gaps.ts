import type { Registry } from '../../declare/registry.ts';
import { Database } from '../../sql/database.ts';
import type { Query } from '../../sql/query-result.ts';
import { isNode, parseSql, type SqlNode } from '../../sql/sql-tree.ts';
import { selectWithin, splitStatements } from '../../sql/statements.ts';
import { tonSelects } from '../../sql/ton-views.ts';
import type { ForgottenSpans } from '../ledger/forgotten-spans.ts';
import type { LedgerEntry } from '../store.ts';
import {
  absentTables,
  coverageGaps,
  describeGap,
  martGaps,
  periodGaps,
  type ReadPart,
  unbuiltMarts,
} from './coverage-gaps.ts';
import { describeLeftOut, leftOutGaps, readsOf } from './left-out-gaps.ts';
import { periodsOf } from './sql-periods.ts';
import { type Resolve, type Scan, scansIn } from './sql-scans.ts';

export type Parameters = Readonly<Record<string, unknown>> | undefined;

/** What some SQL reads of which relations; names that it makes itself apart, and views by what they read. */
export async function readScans(query: Query, registry: Registry, sql: string): Promise<readonly Scan[]> {
  const own = new Map<string, SqlNode>();
  const scans: Scan[] = [];
  for (const statement of splitStatements(sql)) {
    const { select, name } = selectWithin(statement);
    const node = await treeOf(query, select);
    if (node === undefined) {
      for (const relation of (await tablesIn(statement)).map((table) => table.toLowerCase())) {
        if (!own.has(relation)) scans.push({ relation, filters: [] });
      }
    } else if (name === undefined) {
      scans.push(...(await scansWithViews(query, registry, node, (each) => own.get(each))));
    } else {
      own.set(name.toLowerCase(), node);
    }
  }
  return scans;
}

/** As `readScans`, of a tree. Names that `resolve` does not know may be views that come with tables. */
export async function scansWithViews(
  query: Query,
  registry: Registry,
  tree: SqlNode,
  resolve: Resolve,
): Promise<readonly Scan[]> {
  const views = new Map([
    ...tonSelects(),
    ...registry.tables.flatMap((table) => table.views.map(({ name, sql }) => [name, sql] as const)),
  ]);
  const trees = new Map<string, SqlNode>();
  for (;;) {
    const scans = scansIn(tree, (name) => resolve(name) ?? trees.get(name));
    const unread = scans.map(({ relation }) => relation).filter((name) => views.has(name) && !trees.has(name));
    if (unread.length === 0) return scans;
    for (const name of unread) trees.set(name, (await treeOf(query, views.get(name) ?? '')) ?? {});
  }
}

/** The tree of a select; undefined for any other statement. */
export async function treeOf(query: Query, select: string): Promise<SqlNode | undefined> {
  const parsed = await parseSql(query, select).catch(() => undefined);
  if (parsed === undefined || 'fault' in parsed) return undefined;
  const [statement] = parsed.statements;
  const node = isNode(statement) ? statement['node'] : undefined;
  return isNode(node) ? node : undefined;
}

async function tablesIn(statement: string): Promise<readonly string[]> {
  // DuckDB looks at files that a statement names when it lists its tables.
  const database = await Database.open(':memory:', { enable_external_access: 'false' });
  try {
    return database.tablesIn(statement);
  } finally {
    database.close();
  }
}

/** Which periods are read of each relation. A condition that DuckDB cannot answer by itself is none. */
export async function partsOf(
  query: Query,
  scans: readonly Scan[],
  parameters: Parameters,
): Promise<readonly ReadPart[]> {
  const parts: ReadPart[] = [];
  let times: readonly number[] | undefined;
  for (const { relation, filters } of scans) {
    if (filters.length > 0) times ??= await timesOf(query);
    const periods = filters.length === 0 ? undefined : await periodsOf(query, filters, parameters, times ?? []);
    const isAll = periods?.some(({ from, to }) => from === undefined && to === undefined) === true;
    parts.push({ relation, periods: isAll ? undefined : periods });
  }
  return parts;
}

/** First and last time of the warehouse's blocks. */
async function timesOf(query: Query): Promise<readonly number[]> {
  const { rows } = await query('SELECT min(gen_utime), max(gen_utime) FROM _headers WHERE workchain = -1');
  return (rows[0] ?? []).flatMap((value) => (value === null ? [] : [Number(value)]));
}

export interface AskedSql {
  readonly sql: string;
  readonly parameters: Parameters;
  /** What was removed on purpose: it lacks, too, and is told as that. */
  readonly forgotten: readonly ForgottenSpans[];
}

/**
 * What the tables and marts of some SQL lack, one line each: tables that were never exported, blocks that are not sealed, days that are asked for
 * and not whole, and columns that were left out.
 */
export async function gapsOf(
  query: Query,
  ledger: readonly LedgerEntry[],
  registry: Registry,
  { sql, parameters, forgotten }: AskedSql,
): Promise<readonly string[]> {
  const parts = await partsOf(query, await readScans(query, registry, sql), parameters);
  const relations = parts.map(({ relation }) => relation);
  const whole = parts.filter(({ periods }) => periods === undefined).map(({ relation }) => relation);
  return [
    ...absentTables(ledger, registry, relations, forgotten),
    ...unbuiltMarts(ledger, registry, relations),
    ...coverageGaps(ledger, registry, whole).map((gap) => describeGap(gap, forgotten)),
    ...(await periodGaps(query, ledger, registry, parts)).map((gap) => describeGap(gap, forgotten)),
    ...leftOutGaps(ledger, registry, await readsOf(query, registry, sql)).map(describeLeftOut),
    ...martGaps(ledger, parts),
  ];
}
