import { shortSpans, unionSpans } from '../../core/span.ts';
import { WHOLE } from '../../declare/left-out.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Parameters } from '../../sql/parameters.ts';
import type { ForgottenSpans } from '../ledger/forgotten-spans.ts';
import type { LedgerEntry } from '../store.ts';
import { type LeftOutGap, leftOutGaps, type Reads } from './coverage.ts';
import { EmptyDatabase } from './empty-database.ts';
import type { Scan } from './scans.ts';

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

/** Cached results of {@link readsOf}. A database to plan in takes 50 ms of CPU time. */
const cache = new WeakMap<Registry, Map<string, Promise<Reads>>>();

/** The columns of declared tables that a query reads. */
export function readsOf(registry: Registry, sql: string, parameters?: Parameters): Promise<Reads> {
  const cached = cache.get(registry) ?? new Map<string, Promise<Reads>>();
  cache.set(registry, cached);
  const key = JSON.stringify([sql, parameters]);
  const before = cached.get(key);
  if (before !== undefined) return before;
  const reads = planReads(registry, sql, parameters);
  cached.set(key, reads);
  // A failed query is planned again, because there may be more memory then.
  reads.catch(() => cached.delete(key));
  return reads;
}

async function planReads(registry: Registry, sql: string, parameters: Parameters): Promise<Reads> {
  const empty = await EmptyDatabase.open(registry);
  try {
    empty.declareViews(registry.tables);
    return readsIn(registry, await empty.scans(sql, parameters));
  } finally {
    await empty.close();
  }
}

/** Maximum number of columns that a line names; more are counted. */
const MAX_NAMED = 8;

/** `messages was exported without body_boc in 1000:1199`. */
export function describeLeftOut({ table, columns, missing }: LeftOutGap): string {
  const where = shortSpans(missing);
  if (columns.includes(WHOLE)) return `${table} was left out in ${where}`;
  return `${table} was exported without ${nameSome(columns)} in ${where}`;
}

/** `a, b, c and 5 more`. */
export function nameSome(names: readonly string[]): string {
  if (names.length <= MAX_NAMED + 1) return names.join(', ');
  return `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;
}

/** Everything that selections left out of some tables, and where. */
export function allLeftOut(ledger: readonly LedgerEntry[], registry: Registry, tables: readonly string[]) {
  return leftOutGaps(ledger, registry, new Map(tables.map((table) => [table, 'all'] as const)));
}

/** `forgotten 1010:1034`, or `forgotten by retention 1:4999`. */
export function describeForgotten(forgotten: readonly ForgottenSpans[]): string {
  const by = forgotten.every((each) => each.by === 'retention') ? ' by retention' : '';
  return `forgotten${by} ${shortSpans(unionSpans(forgotten.flatMap(({ spans }) => spans)))}`;
}
