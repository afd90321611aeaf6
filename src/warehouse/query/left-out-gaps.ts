import { type Span, shortSpans, subtractSpans, unionSpans } from '../../core/span.ts';
import { isLeftOut, WHOLE } from '../../declare/left-out.ts';
import type { Registry } from '../../declare/registry.ts';
import type { LeftOut } from '../../declare/table.ts';
import type { Query } from '../../sql/query-result.ts';
import { columnsIn, type NamedColumns, parseSql, relationsIn } from '../../sql/sql-tree.ts';
import { tonSelects } from '../../sql/ton-views.ts';
import { doneSpans, spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/** Columns that a query may read, by table. It cannot always be told which, then it is all of them. */
export type Reads = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

/** Columns of a table that are not there in some spans, because a selection left them out. */
export interface LeftOutGap {
  readonly pipeline: string;
  readonly table: string;
  /** `*` for the table as a whole. */
  readonly columns: readonly string[];
  readonly missing: readonly Span[];
}

/** What a text of selects reads of the declared tables, also by way of their views. A text that cannot be read names everything. */
export async function readsOf(query: Query, registry: Registry, sql: string): Promise<Reads> {
  const reads = new Map<string, ReadonlySet<string> | 'all'>();
  const found = await relationsAndColumns(query, sql);
  if (found === undefined) return new Map(registry.tables.map(({ name }) => [name, 'all'] as const));
  for (const relation of found.relations) {
    const table = registry.tableOf(relation);
    const select = tonSelects().get(relation);
    if (table === undefined && select !== undefined) {
      for (const [name, columns] of await readsOf(query, registry, select)) reads.set(name, columns);
    }
    if (table === undefined) continue;
    const view = table.views.find(({ name }) => name === relation);
    const within = view === undefined ? undefined : await relationsAndColumns(query, view.sql);
    // A star inside a view is that of the query which reads it.
    const names = new Set([...found.columns.names, ...(within?.columns.names ?? [])]);
    for (const name of within?.relations ?? [table.name]) {
      const own = registry.tableOf(name);
      const before = own === undefined ? undefined : reads.get(own.name);
      if (own === undefined || before === 'all') continue;
      const named = own.columns.map((column) => column.name).filter((column) => names.has(column.toLowerCase()));
      reads.set(own.name, found.columns.hasStar ? 'all' : new Set([...(before ?? []), ...named]));
    }
  }
  return reads;
}

/** What several texts read together. */
export async function readsOfAll(query: Query, registry: Registry, texts: readonly string[]): Promise<Reads> {
  const reads = new Map<string, ReadonlySet<string> | 'all'>();
  for (const text of texts) {
    for (const [table, columns] of await readsOf(query, registry, text)) {
      const before = reads.get(table) ?? new Set<string>();
      reads.set(table, before === 'all' || columns === 'all' ? 'all' : new Set([...before, ...columns]));
    }
  }
  return reads;
}

async function relationsAndColumns(
  query: Query,
  sql: string,
): Promise<{ readonly relations: readonly string[]; readonly columns: NamedColumns } | undefined> {
  try {
    const parsed = await parseSql(query, sql);
    if ('fault' in parsed) return undefined;
    return {
      relations: [...new Set(relationsIn(parsed.statements).map(({ name }) => name))],
      columns: columnsIn(parsed.statements),
    };
  } catch {
    return undefined;
  }
}

/** What of the columns that are read was left out, and where. */
export function leftOutGaps(ledger: readonly LedgerEntry[], registry: Registry, reads: Reads): readonly LeftOutGap[] {
  const narrow = ledger.filter(({ without, verdict }) => without !== undefined && verdict === 'sealed');
  const gaps: LeftOutGap[] = [];
  for (const [table, columns] of reads) {
    const own = narrow.filter(({ without }) => lacks(without, table, columns).length > 0);
    const groups = new Map<string, LedgerEntry[]>();
    for (const entry of own) {
      const key = lacks(entry.without, table, columns).join(' ');
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    }
    for (const [key, entries] of groups) {
      const lacking = key.split(' ');
      const pipeline = registry.pipelines.find(({ tables }) => tables.some(({ name }) => name === table))?.name ?? '';
      const had = doneSpans(ledger, pipeline, (without) => lacks(without, table, new Set(lacking)).length === 0);
      const missing = subtractSpans(unionSpans(entries.flatMap(spansOf)), had);
      if (missing.length > 0) gaps.push({ pipeline, table, columns: lacking, missing });
    }
  }
  return gaps;
}

/** Which of some columns of a table are left out; `*` where the table is. */
export function lacks(
  without: LeftOut | undefined,
  table: string,
  columns: ReadonlySet<string> | 'all',
): readonly string[] {
  if (isLeftOut(without, table)) return [WHOLE];
  const out = without?.[table] ?? [];
  return columns === 'all' ? out : out.filter((column) => columns.has(column));
}

/** Columns that a line names; more are counted. */
const MOST_NAMED = 8;

/** `messages was exported without body_boc in 1000:1199`. */
export function describeLeftOut({ table, columns, missing }: LeftOutGap): string {
  const where = shortSpans(missing);
  if (columns.includes(WHOLE)) return `${table} was left out in ${where}`;
  return `${table} was exported without ${nameSome(columns)} in ${where}`;
}

/** `a, b, c and 5 more`. */
export function nameSome(names: readonly string[]): string {
  if (names.length <= MOST_NAMED + 1) return names.join(', ');
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`;
}

/** Everything that was left out of some tables, and where, in one line each. */
export function allLeftOut(ledger: readonly LedgerEntry[], registry: Registry, tables: readonly string[]) {
  return leftOutGaps(ledger, registry, new Map(tables.map((table) => [table, 'all'] as const)));
}
