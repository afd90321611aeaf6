import { isEphemeral } from './declare/pipeline.ts';
import type { Registry } from './registry.ts';
import { formatSpans, type Span, subtractSpans, unionSpans } from './span.ts';
import { parseSql, relationsIn } from './sqltree.ts';
import { doneSpans, quarantinedSpans } from './store/progress.ts';
import type { LedgerEntry, Query } from './store/store.ts';

/** What is not sealed of a pipeline, between the first and the last block that the warehouse holds. */
export interface CoverageGap {
  readonly pipeline: string;
  readonly missing: readonly Span[];
  readonly quarantined: readonly Span[];
}

/** The gaps of the pipelines that feed some tables, or views of theirs. The range is that of the whole warehouse, so that tables compare. */
export function coverageGaps(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  relations: readonly string[],
): readonly CoverageGap[] {
  const lasting = registry.pipelines.filter((pipeline) => !isEphemeral(pipeline));
  const walked = new Set(ledger.map((entry) => entry.pipeline));
  const all = unionSpans(
    ledger.filter(({ pipeline }) => lasting.some(({ name }) => name === pipeline)).map((entry) => entry.span),
  );
  const [first] = all;
  const last = all.at(-1);
  if (first === undefined || last === undefined) return [];
  const whole = [{ from: first.from, to: last.to }];
  const tables = relations.map((name) => registry.tableOf(name)?.name);
  return lasting
    .filter(({ name }) => walked.has(name))
    .filter((pipeline) => pipeline.tables.some(({ name }) => tables.includes(name)))
    .map(({ name }) => {
      const quarantined = quarantinedSpans(ledger, name);
      return {
        pipeline: name,
        quarantined,
        missing: subtractSpans(whole, [...doneSpans(ledger, name), ...quarantined]),
      };
    })
    .filter(({ missing, quarantined }) => missing.length + quarantined.length > 0);
}

/** `transactions is not whole in 1000:1999: missing 1500:1520`, one line a gap. */
export function describeGap({ pipeline, missing, quarantined }: CoverageGap): string {
  const parts = [
    missing.length === 0 ? '' : `missing ${formatSpans(missing)}`,
    quarantined.length === 0 ? '' : `quarantined ${formatSpans(quarantined)}`,
  ];
  return `${pipeline} is not whole: ${parts.filter((part) => part !== '').join('; ')}`;
}

/** `gas_fees_daily is not whole: 2026-05-01`, one line for each mart with rows of days that are not sealed, or not whole. */
export function martGaps(ledger: readonly LedgerEntry[], relations: readonly string[]): readonly string[] {
  return relations.flatMap((name) => {
    const open = ledger.filter(({ mart, tables }) => mart?.sealed === false && tables[name] !== undefined);
    const days = open.map(({ mart }) => mart?.day ?? 'what it reads').sort();
    return days.length === 0 ? [] : [`${name} is not whole: ${days.join(', ')}`];
  });
}

/** Names of the relations that a query reads; all of them where DuckDB cannot say (it can for selects). */
export async function relationsOf(query: Query, sql: string, all: readonly string[]): Promise<readonly string[]> {
  try {
    const parsed = await parseSql(query, sql);
    return 'fault' in parsed ? all : [...new Set(relationsIn(parsed.statements).map(({ name }) => name))];
  } catch {
    return all;
  }
}
