import { intersectSpans, type Span, shortSpans, subtractSpans, unionSpans, wholeRange } from '../../core/span.ts';
import { isEphemeral, type PipelineDef } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { FOLLOW_PENDING } from '../../declare/walk.ts';
import type { Query } from '../../sql/query-result.ts';
import { parseSql, relationsIn } from '../../sql/sql-tree.ts';
import { tonInputs } from '../../sql/ton-views.ts';
import { contradictedSpans, doneSpans, quarantinedSpans } from '../ledger/done-spans.ts';
import { describeForgotten, type ForgottenSpans } from '../ledger/forgotten-spans.ts';
import type { LedgerEntry } from '../store.ts';
import { suggestRun } from './suggest-run.ts';

/** Seconds since 1970, from one up to but not including another; undefined: without an end. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** What is not sealed of a pipeline: between the first and the last block that the warehouse holds, or in a period that is asked for. */
export interface CoverageGap {
  readonly pipeline: string;
  readonly missing: readonly Span[];
  readonly quarantined: readonly Span[];
  /** Blocks with transactions whose content contradicts their hashes. */
  readonly contradicted: readonly Span[];
  /** The period, where one is asked for. */
  readonly period?: Period | undefined;
  /** What blocks the warehouse holds of the period, where those are not all: UTC times of the first and the last one, or nothing. */
  readonly held?: string | undefined;
}

/** What a query reads of a table or a mart. */
export interface ReadPart {
  readonly relation: string;
  /** Undefined: all of it. */
  readonly periods: readonly Period[] | undefined;
}

/** The gaps of the pipelines that feed some tables, or views of theirs. The range is that of the whole warehouse, so that tables compare. */
export function coverageGaps(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  relations: readonly string[],
): readonly CoverageGap[] {
  const whole = lastingRange(ledger, registry);
  return feeding(registry, relations)
    .filter(({ name }) => ledger.some(({ pipeline }) => pipeline === name))
    .map(({ name }) => gapWithin(ledger, name, whole))
    .filter(isGap);
}

/** `actions was never exported here: tonlake run actions --range 1000:1999`, one line for each table of which nothing is held. */
export function absentTables(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  relations: readonly string[],
  forgotten: readonly ForgottenSpans[] = [],
): readonly string[] {
  return registry.pipelines
    .filter(({ name }) => ledger.every(({ pipeline }) => pipeline !== name))
    .flatMap((pipeline) => pipeline.tables.map(({ name }) => ({ pipeline, name })))
    .filter(({ name }) => relations.some((relation) => registry.tableOf(relation)?.name === name))
    .map(({ pipeline, name }) => {
      const gone = forgotten.filter((each) => each.pipeline === pipeline.name);
      if (gone.length > 0) return `${name} is empty: ${describeForgotten(gone)}`;
      return isEphemeral(pipeline)
        ? `${name} was never watched here: ${FOLLOW_PENDING}`
        : `${name} was never exported here: ${suggestRun(ledger, registry, pipeline)}`;
    });
}

/** Marts behind views of `ton` that were never built: the views are empty. */
export function unbuiltMarts(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  relations: readonly string[],
): readonly string[] {
  return tonInputs()
    .filter((name) => relations.includes(name) && registry.tableOf(name) === undefined)
    .filter((name) => ledger.every(({ tables }) => tables[name] === undefined))
    .map((name) => `${name} was never built here: tonlake build ${name}`);
}

/**
 * The gaps of tables within the periods that a query asks for: blocks that are not sealed, and the beginning or end of a period that the
 * headers of the warehouse do not reach. Lists and lookups tell how things are now, and have no such gaps.
 */
export async function periodGaps(
  query: Query,
  ledger: readonly LedgerEntry[],
  registry: Registry,
  parts: readonly ReadPart[],
): Promise<readonly CoverageGap[]> {
  const gaps: CoverageGap[] = [];
  const whole = lastingRange(ledger, registry);
  const told = new Set<string>();
  for (const { relation, periods = [] } of parts) {
    const pipelines = feeding(registry, [relation]).filter(
      ({ name, walk }) =>
        !['snapshot', 'lookup'].includes(walk.kind) && ledger.some(({ pipeline }) => pipeline === name),
    );
    for (const { name } of pipelines) {
      for (const period of periods) {
        const key = `${name} ${period.from} ${period.to}`;
        if (told.has(key)) continue;
        told.add(key);
        const { span, held } = await blocksOf(query, period, whole);
        const gap = gapWithin(ledger, name, span);
        if (held !== undefined || isGap(gap)) gaps.push({ ...gap, period, held });
      }
    }
  }
  return gaps;
}

function isGap({ missing, quarantined, contradicted }: CoverageGap): boolean {
  return missing.length + quarantined.length + contradicted.length > 0;
}

/** Lasting pipelines that feed some tables, or views of theirs. */
function feeding(registry: Registry, relations: readonly string[]): readonly PipelineDef[] {
  const tables = relations.map((name) => registry.tableOf(name)?.name);
  return registry.pipelines
    .filter((pipeline) => !isEphemeral(pipeline))
    .filter((pipeline) => pipeline.tables.some(({ name }) => tables.includes(name)));
}

/** From the first to the last block that the warehouse holds anything of. */
export function lastingRange(ledger: readonly LedgerEntry[], registry: Registry): readonly Span[] {
  const lasting = new Set(registry.lasting);
  return wholeRange(ledger.filter(({ pipeline }) => lasting.has(pipeline)).map(({ span }) => span));
}

function gapWithin(ledger: readonly LedgerEntry[], pipeline: string, spans: readonly Span[]): CoverageGap {
  const quarantined = quarantinedSpans(ledger, pipeline);
  return {
    pipeline,
    quarantined: intersectSpans(spans, quarantined),
    contradicted: intersectSpans(spans, contradictedSpans(ledger, pipeline)),
    missing: subtractSpans(spans, [...doneSpans(ledger, pipeline), ...quarantined]),
  };
}

/** The blocks of a period by the headers that the warehouse holds, and what they are where they may not be all. */
async function blocksOf(
  query: Query,
  { from, to }: Period,
  [whole]: readonly Span[],
): Promise<{ readonly span: readonly Span[]; readonly held: string | undefined }> {
  const within = `gen_utime >= ${from ?? 0} AND gen_utime < ${to ?? Number.MAX_SAFE_INTEGER}`;
  const { rows } = await query(
    `WITH headers AS (SELECT workchain, seqno, mc_block_seqno, gen_utime FROM _headers),
      masterchain AS (SELECT seqno, gen_utime FROM headers WHERE workchain = -1),
      asked AS (SELECT *, CASE WHEN lag(seqno) OVER by_seqno = seqno - 1 THEN gen_utime - lag(gen_utime) OVER by_seqno END AS gap
        FROM masterchain WHERE ${within} WINDOW by_seqno AS (ORDER BY seqno))
    SELECT (SELECT max(seqno) FROM masterchain WHERE gen_utime < ${from ?? 0}),
      (SELECT min(seqno) FROM masterchain WHERE gen_utime >= ${to ?? Number.MAX_SAFE_INTEGER}),
      (SELECT max(mc_block_seqno) FROM headers WHERE ${within}),
      min(seqno), max(seqno), coalesce(max(gap), 0), min(gen_utime), max(gen_utime) FROM asked`,
  );
  const [before, after, lastOfShards, first, last, gap, firstTime, lastTime] = (rows[0] ?? []).map((value) =>
    value === null ? undefined : Number(value),
  );
  if (first === undefined || last === undefined) {
    const isBetween = before !== undefined && after === before + 1;
    return { span: [], held: isBetween ? undefined : 'none of it is in the warehouse' };
  }
  const isBegun = from === undefined || before === first - 1 || first <= 1 || Number(firstTime) - from <= Number(gap);
  const isEnded = to === undefined || after === last + 1;
  const span = {
    from: from === undefined ? Math.min(first, whole?.from ?? first) : first,
    to: to === undefined ? Math.max(last, whole?.to ?? last) : Math.max(last, lastOfShards ?? last),
  };
  const times = [firstTime, lastTime].map((time) => timeText(Number(time)));
  return { span: [span], held: isBegun && isEnded ? undefined : `only ${times.join(' to ')} is in the warehouse` };
}

/**
 * `transactions is not whole: missing 1500:1520`, or `transactions is not whole in 2026-05-01: only ... is held`, one line a gap.
 *
 * @param all what was removed on purpose: it is not missing, but `forgotten 1010:1034`
 */
export function describeGap(
  { pipeline, missing, quarantined, contradicted, period, held }: CoverageGap,
  all: readonly ForgottenSpans[] = [],
): string {
  const own = all.filter((each) => each.pipeline === pipeline);
  const gone = unionSpans(own.flatMap(({ spans }) => spans));
  const rest = subtractSpans(missing, gone);
  const told = own.filter(
    ({ spans, days }) =>
      intersectSpans(spans, missing).length > 0 ||
      (held !== undefined && period !== undefined && days !== undefined && overlaps(period, days)),
  );
  const parts = [
    held ?? '',
    rest.length === 0 ? '' : `missing ${shortSpans(rest)}`,
    told.length === 0 ? '' : describeForgotten(told),
    quarantined.length === 0 ? '' : `quarantined ${shortSpans(quarantined)}`,
    contradicted.length === 0 ? '' : `content contradicts hashes in ${shortSpans(contradicted)}`,
  ];
  const where = period === undefined ? '' : ` ${periodText(period)}`;
  return `${pipeline} is not whole${where}: ${parts.filter((part) => part !== '').join('; ')}`;
}

/** Whether a period and some UTC days have a moment in common. */
function overlaps({ from, to }: Period, days: { readonly from: string; readonly to: string }): boolean {
  return (from ?? 0) < dayStart(days.to) + DAY && (to ?? Number.MAX_SAFE_INTEGER) > dayStart(days.from);
}

/** `gas_fees_daily is not whole: 2026-05-01`, one line for each mart with rows that are asked for of days that are not sealed, or not whole. */
export function martGaps(ledger: readonly LedgerEntry[], parts: readonly ReadPart[]): readonly string[] {
  return [...new Set(parts.map(({ relation }) => relation))].flatMap((name) => {
    const periods = parts.filter(({ relation }) => relation === name).map((part) => part.periods);
    const isAsked = (day: string | undefined): boolean =>
      day === undefined || periods.some((each) => each === undefined || each.some((period) => holdsDay(period, day)));
    const built = ledger.filter(({ mart, tables }) => mart !== undefined && tables[name] !== undefined);
    const open = built.filter(({ mart }) => mart?.sealed === false && isAsked(mart.day));
    const days = open.map(({ mart }) => mart?.day ?? 'what it reads').sort();
    const unbuilt = unbuiltDays(
      built,
      periods.flatMap((each) => each ?? []),
    );
    return [
      ...(days.length === 0 ? [] : [`${name} is not whole: ${days.join(', ')}`]),
      ...(unbuilt === undefined ? [] : [`${name} is not whole: nothing is built ${unbuilt}`]),
    ];
  });
}

/** Days that are asked for by their ends, before or after all those that a mart is built for. Between them a day may be without rows. */
function unbuiltDays(built: readonly LedgerEntry[], periods: readonly Period[]): string | undefined {
  const days = built.flatMap(({ mart }) => mart?.day ?? []).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [start, end] = [dayStart(first), dayStart(last) + DAY];
  const outside = periods.flatMap(({ from, to }) => [
    ...(from !== undefined && from < start ? [{ from, to: Math.min(to ?? start, start) }] : []),
    ...((to ?? from ?? 0) > end || (to === undefined && from === end) ? [{ from: Math.max(from ?? 0, end), to }] : []),
  ]);
  return outside.length === 0 ? undefined : outside.map(periodText).join(', ');
}

const DAY = 86_400;

function holdsDay({ from, to }: Period, day: string): boolean {
  return (from ?? 0) < dayStart(day) + DAY && (to ?? Number.MAX_SAFE_INTEGER) > dayStart(day);
}

function dayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** `in 2026-05-01`, `in 2026-05-01:2026-05-07`, `since 2026-05-01`, `before 2026-05-01`; UTC times where it is not of whole days. */
function periodText({ from, to }: Period): string {
  const isOfDays = (from ?? 0) % DAY === 0 && (to ?? 0) % DAY === 0;
  const textOf = isOfDays ? dayText : timeText;
  if (to === undefined) return from === undefined ? 'at any time' : `since ${textOf(from)}`;
  if (from === undefined) return `before ${textOf(to)}`;
  if (!isOfDays) return `in ${timeText(from)} to ${timeText(to)}`;
  const [first, last] = [dayText(from), dayText(to - 1)];
  return `in ${first === last ? first : `${first}:${last}`}`;
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
