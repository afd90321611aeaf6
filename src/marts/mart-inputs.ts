import { type DaySpan, isFullDay } from '../chain/day-spans.ts';
import { groupBy } from '../core/group-by.ts';
import { sha256Of } from '../core/sha256.ts';
import { haveCommon, hullOf, intersectSpans, type Span, unionSpans } from '../core/span.ts';
import { WHOLE } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { Covered, ForgottenSpans, LedgerEntry, Store } from '../warehouse/index.ts';
import {
  type Contents,
  coverage,
  type LeftOutGap,
  lacks,
  leftOutGaps,
  rangeOf,
  spansIn,
} from '../warehouse/query/coverage.ts';
import { describeForgotten } from '../warehouse/query/left-out-gaps.ts';
import { originOf } from '../warehouse/query/row-origins.ts';
import type { MartDef } from './load-marts.ts';

/** The active entries with rows of each table: of one day, or all. */
type Parts = ReadonlyMap<string, readonly LedgerEntry[]>;

/** A day of a mart's inputs; `date` is undefined for a mart that is not built day by day. */
export interface Slice {
  readonly date: string | undefined;
  readonly parts: Parts;
  /** Days of the rows of tables with days that it reads; undefined for all. */
  readonly days: readonly string[] | undefined;
}

/** Entries with rows of a table, by the day of the rows. */
type EntriesByDay = ReadonlyMap<string, readonly LedgerEntry[]>;

/** Reads the entries of tables by day: each table once, for several checks between which nothing is committed. */
export function dayReader(store: Store): (table: string) => Promise<EntriesByDay> {
  const read = new Map<string, Promise<EntriesByDay>>();
  return (table) => {
    const days = read.get(table) ?? readDays(store, table);
    read.set(table, days);
    return days;
  };
}

async function readDays(store: Store, table: string): Promise<EntriesByDay> {
  const days = groupBy(await store.rows.days(table), ({ date }) => date);
  return new Map([...days].map(([date, found]) => [date, found.map(({ entry }) => entry)]));
}

/** The inputs of a mart, slice by slice. */
export async function readSlices(
  store: Store,
  mart: Pick<MartDef, 'inputs' | 'isDaily'>,
  dated: ReadonlySet<string>,
  daysOf = dayReader(store),
): Promise<readonly Slice[]> {
  const all = new Map(mart.inputs.map((table) => [table, entriesOf(store.ledger(), table)]));
  if (!mart.isDaily) return [{ date: undefined, parts: all, days: undefined }];
  const days = new Map<string, Map<string, readonly LedgerEntry[]>>();
  for (const table of mart.inputs.filter((name) => dated.has(name))) {
    for (const [date, entries] of await daysOf(table)) {
      const day = days.get(date) ?? new Map<string, readonly LedgerEntry[]>();
      days.set(date, day.set(table, entries));
    }
  }
  // Inputs without rows make an empty mart, which can still be queried.
  if (days.size === 0) return [{ date: undefined, parts: all, days: undefined }];
  const undated = [...all].filter(([table]) => !dated.has(table));
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, parts]) => ({ date, parts: new Map([...undated, ...parts]), days: [date] }));
}

/** Number of the newest entry, including removals. */
export function newestNumber(store: Store): number {
  return Math.max(store.ledger().at(-1)?.number ?? 0, store.forgotten().at(-1)?.number ?? 0);
}

/** Active entries of a table. */
export function entriesOf(ledger: readonly LedgerEntry[], table: string): readonly LedgerEntry[] {
  return ledger.filter((entry) => entry.tables[table] !== undefined);
}

/** Hash of a select and of the macros that it calls. To be made once, because a select has a stamp for each day. */
export function hashSelect(sql: string, macros: readonly string[]): string {
  return sha256Of(JSON.stringify([sql, macros]), 16);
}

/**
 * Hash of a select and of the rows that it reads: 16 hex digits. Merges of its inputs do not change it.
 * @param select of {@link hashSelect}
 */
export function stampOf(
  select: string,
  { parts, days }: Pick<Slice, 'parts' | 'days'>,
  ...more: readonly unknown[]
): string {
  const origins = [...parts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([table, entries]) => [table, originOf(entries, table, days)]);
  return sha256Of(JSON.stringify([select, origins, ...more]), 16);
}

/** The worst state of some blocks, or of all blocks of the warehouse, among some pipelines. */
type CoveredSpan = (span: Span | undefined) => Covered;

/** @param days all blocks that will be passed to the result */
export function coveredIn(contents: Contents, pipelines: readonly PipelineDef[], days: readonly Span[]): CoveredSpan {
  const whole = rangeOf(contents);
  const within = unionSpans([...whole, ...days]);
  const parts = pipelines.filter(isOfBlocks).map((pipeline) => coverage(contents, pipeline, within));
  return (span) => {
    const wanted = span === undefined ? whole : [span];
    const has = (of: 'missing' | 'unproven'): boolean =>
      parts.some((part) => haveCommon(spansIn<string>(part[of]), wanted));
    if (parts.length > 0 && (wanted.length === 0 || has('missing'))) return 'missing';
    return has('unproven') || !pipelines.every(isOfBlocks) ? 'unproven' : 'proven';
  };
}

/** Columns read by a mart, or by the marts it reads, that exports left out. */
export function leftOutBehind(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  marts: readonly MartDef[],
  mart: MartDef,
): readonly LeftOutGap[] {
  // An optional table that is left out is read as empty.
  const isOptional = ({ table, columns }: LeftOutGap): boolean =>
    columns.includes(WHOLE) && mart.optional.includes(table);
  const others = marts.filter(({ name }) => mart.inputs.includes(name));
  return [
    ...leftOutGaps(ledger, registry, mart.reads).filter((gap) => !isOptional(gap)),
    ...others.flatMap((each) => leftOutBehind(ledger, registry, marts, each)),
  ];
}

/** The first gap whose table no entry has with the columns that are read; undefined if there is none. */
export function neverExported(ledger: readonly LedgerEntry[], gaps: readonly LeftOutGap[]): LeftOutGap | undefined {
  return gaps.find(({ table, columns }) =>
    ledger
      .filter(({ without, tables }) => tables[table] !== undefined || without?.[table] !== undefined)
      .every(({ without }) => lacks(without, table, new Set(columns)).length > 0),
  );
}

/** The pipelines behind a mart whose rows belong to blocks. */
export function pipelinesBehind(registry: Registry, marts: readonly MartDef[], mart: MartDef): readonly string[] {
  return feedingPipelines(registry, marts, mart)
    .filter(isOfBlocks)
    .map(({ name }) => name);
}

/** False for snapshots and lookups: they describe the current state, which no block proves. */
function isOfBlocks({ walk }: PipelineDef): boolean {
  return walk.kind !== 'snapshot' && walk.kind !== 'lookup';
}

/** All pipelines behind a mart. */
export function feedingPipelines(registry: Registry, marts: readonly MartDef[], mart: MartDef): readonly PipelineDef[] {
  const tables = new Set<string>();
  const visit = ({ inputs }: MartDef): void => {
    for (const name of inputs) {
      const next = marts.find((each) => each.name === name);
      if (next === undefined) tables.add(name);
      else visit(next);
    }
  };
  visit(mart);
  return registry.pipelines.filter((pipeline) => pipeline.tables.some(({ name }) => tables.has(name)));
}

/** The blocks that a mart's rows come from. */
export function spanOf({ parts }: Slice, day: Span | undefined): Span {
  const whole = hullOf([...parts.values()].flat().map(({ span }) => span)) ?? { from: 0, to: 0 };
  return (day === undefined ? undefined : intersectSpans([whole], [day])[0]) ?? whole;
}

/** A day with an earlier build. */
interface BuiltDay {
  readonly date: string;
  /** Blocks of the day, if the warehouse has headers of it. */
  readonly day: DaySpan | undefined;
  readonly before: LedgerEntry;
}

/** True if inputs of a day were forgotten, so that rebuilding it would lose rows. `forgotten`: of the pipelines behind the mart. */
export function isForgotten(forgotten: readonly ForgottenSpans[], { date, day, before }: BuiltDay): boolean {
  return forgotten.some(({ spans, days }) => {
    if (day !== undefined && isFullDay(day)) return intersectSpans(spans, [day]).length > 0;
    if (days === undefined) return intersectSpans(spans, [before.span]).length > 0;
    return days.from <= date && date <= days.to;
  });
}

/** `transactions forgotten 1:4999; built without them`; undefined for a mart that keeps its days, or if nothing is missing. */
export function forgottenReason(
  forgotten: readonly ForgottenSpans[],
  registry: Registry,
  marts: readonly MartDef[],
  mart: MartDef,
): string | undefined {
  if (mart.isDaily) return undefined;
  const gone = describeForgottenInputs(forgotten, pipelinesBehind(registry, withoutDaily(marts), mart));
  return gone === undefined ? undefined : `${gone}; built without them`;
}

/** `transactions forgotten 1:4999`; undefined if nothing of the pipelines is forgotten. */
export function describeForgottenInputs(
  forgotten: readonly ForgottenSpans[],
  pipelines: readonly string[],
): string | undefined {
  const own = forgotten.filter(({ pipeline }) => pipelines.includes(pipeline));
  if (own.length === 0) return undefined;
  const names = [...new Set(own.map(({ pipeline }) => pipeline))].sort();
  return `${names.join(', ')} ${describeForgotten(own)}`;
}

/** Marts without daily ones, which keep their days when inputs are forgotten. */
function withoutDaily(marts: readonly MartDef[]): readonly MartDef[] {
  return marts.filter(({ isDaily }) => !isDaily);
}
