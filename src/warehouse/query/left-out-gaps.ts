import { type Span, shortSpans, subtractSpans, unionSpans } from '../../core/span.ts';
import { isLeftOut, WHOLE } from '../../declare/left-out.ts';
import type { Registry } from '../../declare/registry.ts';
import type { LeftOut } from '../../declare/table.ts';
import { doneSpans, spansOf } from '../ledger/done-spans.ts';
import type { ForgottenSpans } from '../ledger/forgotten-spans.ts';
import type { LedgerEntry } from '../store.ts';
import { EmptyDatabase } from './empty-database.ts';
import type { Parameters, Scan } from './scans.ts';

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

/** The columns of declared tables that some scans read. */
export function readsIn(registry: Registry, scans: readonly Scan[]): Reads {
  const reads = new Map<string, ReadonlySet<string> | 'all'>();
  for (const { relation, columns } of scans) {
    const table = registry.tableOf(relation)?.name;
    if (table === undefined) continue;
    const before = reads.get(table) ?? new Set<string>();
    reads.set(table, before === 'all' || columns === 'all' ? 'all' : new Set([...before, ...columns]));
  }
  return reads;
}

/** What was asked of {@link readsOf}. It depends on nothing else, and a database to plan in takes 50 ms of CPU time. */
const known = new WeakMap<Registry, Map<string, Promise<Reads>>>();

/** What a query reads of the declared tables. */
export function readsOf(registry: Registry, sql: string, parameters?: Parameters): Promise<Reads> {
  const asked = known.get(registry) ?? new Map<string, Promise<Reads>>();
  known.set(registry, asked);
  const key = JSON.stringify([sql, parameters]);
  const before = asked.get(key);
  if (before !== undefined) return before;
  const reads = planReads(registry, sql, parameters);
  asked.set(key, reads);
  // What failed is planned again: the next one may have more memory.
  reads.catch(() => asked.delete(key));
  return reads;
}

async function planReads(registry: Registry, sql: string, parameters: Parameters): Promise<Reads> {
  const empty = await EmptyDatabase.open(registry);
  try {
    empty.declareViews(registry.tables);
    return readsIn(registry, await empty.scans(sql, parameters));
  } finally {
    empty.close();
  }
}

/** What of the columns that are read was left out, and where. */
export function leftOutGaps(ledger: readonly LedgerEntry[], registry: Registry, reads: Reads): readonly LeftOutGap[] {
  const narrow = ledger.filter(({ without, verdict }) => without !== undefined && verdict === 'accepted');
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
      const pipeline = registry.writerOf(table)?.name ?? '';
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

/** `forgotten 1010:1034`, or `forgotten by retention 1:4999`. */
export function describeForgotten(forgotten: readonly ForgottenSpans[]): string {
  const by = forgotten.every((each) => each.by === 'retention') ? ' by retention' : '';
  return `forgotten${by} ${shortSpans(unionSpans(forgotten.flatMap(({ spans }) => spans)))}`;
}
