import { type DaySpan, isFullDay } from '../chain/day-spans.ts';
import type { Effects } from '../core/effects.ts';
import { isCommittedMeanwhile, StoreError } from '../core/errors.ts';
import { oncePer } from '../core/once-per.ts';
import { sha256Of } from '../core/sha256.ts';
import { haveCommon, type Span } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { COVERAGE } from '../declare/selected-table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import {
  type Covered,
  type ForgottenSpans,
  type LedgerEntry,
  type MartStamp,
  type SideConnection,
  type Store,
  stillForgotten,
} from '../warehouse/index.ts';
import { ALL_ROWS, type LeftOutGap, readContents } from '../warehouse/query/coverage.ts';
import { readHeaderDays } from '../warehouse/query/header-days.ts';
import { describeLeftOut } from '../warehouse/query/left-out-gaps.ts';
import { suggestRun } from '../warehouse/query/suggest-run.ts';
import { commitSelect, martEntries } from './commit-mart.ts';
import type { MartDef } from './load-marts.ts';
import {
  coveredIn,
  describeForgottenInputs,
  entriesOf,
  feedingPipelines,
  hashSelect,
  isForgotten,
  leftOutBehind,
  neverExported,
  newestNumber,
  pipelinesBehind,
  readSlices,
  type Slice,
  spanOf,
  stampOf,
} from './mart-inputs.ts';
import {
  committedRowsOf,
  isMergeable,
  limitedSelect,
  mergedSelect,
  newRowsOf,
  selectStamp,
  selectWithin,
} from './merge-rows.ts';
import { sqlErrorWithin } from './sql-references.ts';

/** Shared context of the builds on a warehouse. */
export interface MartContext {
  readonly store: Store;
  /** Runs the selects, apart from the store. */
  readonly connection: SideConnection;
  readonly network: string;
  readonly effects: Effects;
  readonly marts: readonly MartDef[];
  readonly registry: Registry;
  /** Tables with a day. */
  readonly dated: ReadonlySet<string>;
  readonly days: ReadonlyMap<string, DaySpan>;
  readonly forgotten: readonly ForgottenSpans[];
}

export async function readMartContext(given: Omit<MartContext, 'dated' | 'days' | 'forgotten'>): Promise<MartContext> {
  const { store, connection, marts, registry } = given;
  const tables = [...registry.tables, ...marts.map(({ table }) => table)];
  return {
    ...given,
    forgotten: stillForgotten(store.forgotten(), store.ledger()),
    dated: new Set(tables.filter(({ time }) => time !== undefined).map(({ name }) => name)),
    days: await readHeaderDays(connection.query, store.ledger(), registry),
  };
}

/** The slices of a mart to build. */
interface MartPlan {
  readonly work: readonly SliceWork[];
  /** Days, or `all`, with missing source rows. */
  readonly marked: readonly string[];
  /** Days whose inputs were forgotten, at least in part. */
  readonly kept: readonly string[];
}

export interface PlanOptions {
  /** True to rebuild unchanged slices as well, except days with forgotten inputs. */
  readonly full?: boolean | undefined;
  /** Entries with damaged files: they are replaced. */
  readonly damaged?: readonly LedgerEntry[] | undefined;
}

/** Finds the slices of a mart to build. */
export async function planMart(
  context: MartContext,
  mart: MartDef,
  gaps: readonly LeftOutGap[],
  { full, damaged = [] }: PlanOptions = {},
): Promise<MartPlan> {
  const { store, registry, marts, forgotten } = context;
  const pipelines = pipelinesBehind(registry, marts, mart);
  const gone = forgotten.filter(({ pipeline }) => pipelines.includes(pipeline));
  const broken = damaged.filter(({ tables }) => tables[mart.name] !== undefined);
  const built = new Map(
    [...broken, ...martEntries(store.ledger(), mart.name)].map((entry) => [entry.mart?.day, entry]),
  );
  const marked: string[] = [];
  const kept: string[] = [];
  for (const [date, before] of built) {
    if (date === undefined || !isForgotten(gone, { date, day: reachOf(context, mart, date), before })) continue;
    kept.push(date);
    if (before.mart?.coverage === 'missing') marked.push(date);
    built.delete(date);
  }
  const work: SliceWork[] = [];
  const through = newestNumber(store);
  const contents = await readContents(store, registry);
  const reached = [...context.days.keys()].flatMap((date) => reachOf(context, mart, date) ?? []);
  const coveredOf = coveredIn(contents, feedingPipelines(registry, marts, mart), reached);
  const read = daysRead(context, mart);
  for (const slice of await slicesOf(context, mart)) {
    const { date } = slice;
    if (date === undefined ? mart.isDaily && kept.length > 0 : kept.includes(date)) continue;
    const day = reachOf(context, mart, date);
    const isNarrow = gaps.some(({ missing }) => day === undefined || haveCommon(missing, [day]));
    const isFull = date === undefined || (day !== undefined && isFullDay(day));
    const own = isFull && !isNarrow ? coveredOf(day) : 'missing';
    const covered = worstOf([own, ...(slice.days ?? []).flatMap((each) => read.get(each) ?? [])]);
    if (covered === 'missing') marked.push(date ?? ALL_ROWS);
    const before = built.get(date);
    built.delete(date);
    const inputs = martStamp(mart, slice, covered);
    if (full === true || before?.mart?.inputs !== inputs) {
      const canMerge = full !== true && before !== undefined && !broken.includes(before);
      work.push({ slice, day, covered, inputs, before, through, canMerge });
    }
  }
  // Days without any input left become empty.
  for (const [date, before] of built) {
    const slice = { date, parts: new Map(), days: [] };
    const inputs = martStamp(mart, slice, 'proven');
    if (before.mart?.inputs !== inputs) {
      work.push({ slice, day: undefined, covered: 'proven', inputs, before, through, canMerge: false });
    }
  }
  return { work, marked: marked.sort(), kept: kept.sort() };
}

/** The worst state of each day of the marts that a mart reads. */
function daysRead({ store, marts }: MartContext, { inputs }: MartDef): ReadonlyMap<string, Covered> {
  const worst = new Map<string, Covered>();
  for (const { name } of marts.filter((each) => inputs.includes(each.name))) {
    for (const { mart } of martEntries(store.ledger(), name)) {
      if (mart?.day === undefined) continue;
      worst.set(mart.day, worstOf([mart.coverage, worst.get(mart.day) ?? 'proven']));
    }
  }
  return worst;
}

const STATES: readonly Covered[] = ['missing', 'unproven', 'proven'];

function worstOf(states: readonly Covered[]): Covered {
  return STATES.find((state) => states.includes(state)) ?? 'proven';
}

/** The blocks of a day, and those before it that a mart also reads; undefined for all days, and for a day without headers. */
function reachOf({ days }: MartContext, { before }: MartDef, date: string | undefined): DaySpan | undefined {
  const day = days.get(date ?? '');
  return day === undefined ? undefined : { ...day, from: Math.min(day.from, Math.max(1, day.from - before)) };
}

/** The slices of a mart. A day includes the entries of the blocks before it that the mart also reads. */
async function slicesOf(context: MartContext, mart: MartDef): Promise<readonly Slice[]> {
  const slices = await readSlices(context.store, mart, context.dated);
  if (mart.before === 0) return slices;
  return slices.map((slice, at) => {
    const near = slicesBefore(slices, at, reachOf(context, mart, slice.date), context.days);
    const own = mart.inputs.map((table): [string, readonly LedgerEntry[]] => {
      const entries = [slice, ...near].flatMap(({ parts }) => parts.get(table) ?? []);
      return [table, [...new Set(entries)]];
    });
    const days = [slice, ...near].flatMap(({ date }) => date ?? []);
    return { date: slice.date, parts: new Map(own), days: [...new Set(days)] };
  });
}

/** The preceding slices with blocks within `reach`. @param slices in the order of their days */
export function slicesBefore(
  slices: readonly Slice[],
  at: number,
  reach: Span | undefined,
  days: MartContext['days'],
): readonly Slice[] {
  if (reach === undefined) return [];
  let first = at;
  while (first > 0 && (days.get(slices[first - 1]?.date ?? '')?.to ?? reach.from) >= reach.from) first--;
  return slices.slice(first, at).filter(({ date }) => days.has(date ?? ''));
}

/** A slice to build. */
export interface SliceWork {
  readonly slice: Slice;
  /** Blocks of its inputs; undefined for all. */
  readonly day: DaySpan | undefined;
  readonly covered: Covered;
  readonly inputs: string;
  readonly before: LedgerEntry | undefined;
  /** Number of the newest entry when it was planned. */
  readonly through: number;
  /** True if new rows may be merged into its earlier rows. */
  readonly canMerge: boolean;
}

/**
 * Replaces the rows of a slice.
 * @returns true if new rows of its inputs were merged into its earlier rows
 * @throws {MartError} if the select is wrong
 */
export async function buildSlice(context: MartContext, mart: MartDef, work: SliceWork): Promise<boolean> {
  const { store, connection, network, days } = context;
  const { slice, day, covered, before, through } = work;
  const { table, file } = mart;
  const { date } = slice;
  const own = days.get(date ?? '');
  const span = before !== undefined && slice.parts.size === 0 ? before.span : spanOf(slice, own);
  const nothing = mart.isDaily ? ' WHERE false' : '';
  const where = date === undefined ? nothing : ` WHERE block_date = DATE ${quoteText(date)}`;
  const order = table.sort.map(quoteName).join(', ');
  const isSame = mart.merge !== undefined && before?.mart?.select === selectStamp(context.marts, mart);
  const newRows = isSame && work.canMerge ? await newRowsOf(context, mart, before) : undefined;
  const read = newRows ?? (mart.merge === undefined ? undefined : committedRowsOf(context, mart));
  const merged = before && newRows && mergedSelect(context, mart, before, newRows.wheres);
  const isLimited = mart.before > 0 && day !== undefined;
  const rowsOf = merged ?? (isLimited ? selectWithin(context, mart, day) : limitedSelect(mart, read?.wheres ?? []));
  const select = `SELECT *, ${quoteText(covered)} AS ${COVERAGE.name} FROM (\n${rowsOf}\n)${where} ORDER BY ${order}`;
  const stamp = async (): Promise<MartStamp> => {
    const inputs = await inputsAfter(context, mart, work);
    const stamp = {
      ...(date === undefined ? {} : { day: date }),
      inputs,
      coverage: covered,
      reads: mart.inputs,
      through: read?.through ?? through,
    };
    const isExact = read !== undefined && (await isMergeable(context, mart, read));
    return isExact ? { ...stamp, select: selectStamp(context.marts, mart) } : stamp;
  };
  const rows = { table, select, span, network, stamp, before: before === undefined ? [] : [before] };
  await connection.define(file.functions);
  await commitSelect(store, connection.query, rows).catch((error: unknown) => {
    // Another process has built it meanwhile; the next build compares its inputs.
    if (isCommittedMeanwhile(error)) return;
    throw isOfQuery(error) ? sqlErrorWithin(file, error) : error;
  });
  return merged !== undefined;
}

/**
 * The stamp of rows that were just selected. If inputs were committed meanwhile, the rows may include part of them: then the stamp equals no
 * other, so that the rows are built again.
 */
async function inputsAfter(context: MartContext, mart: MartDef, work: SliceWork): Promise<string> {
  const { slice, covered, inputs } = work;
  if (newestNumber(context.store) === work.through || slice.parts.size === 0) return inputs;
  const now = (await slicesOf(context, mart)).find(({ date }) => date === slice.date);
  const after = now === undefined ? '' : martStamp(mart, now, covered);
  return after === inputs ? inputs : sha256Of(`${inputs} ${after}`, 16);
}

const hashOf = oncePer(({ file: { sql }, macros }: MartDef) => hashSelect(sql, macros));

function martStamp(mart: MartDef, slice: Slice, covered: Covered): string {
  return stampOf(hashOf(mart), slice, covered);
}

/** True for an error of the select itself. */
function isOfQuery(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'failed' && error.message.startsWith('store: query');
}

/** Why a mart has no rows: an input was never exported or built. Undefined if none is missing. */
export function whyEmpty(context: MartContext, mart: MartDef): string | undefined {
  const { store, marts, registry, forgotten } = context;
  const ledger = store.ledger();
  const missing = mart.inputs.filter((name) => !mart.optional.includes(name) && entriesOf(ledger, name).length === 0);
  const [table] = missing;
  const lost = neverExported(ledger, leftOutBehind(ledger, registry, marts, mart));
  if (lost !== undefined)
    return `${describeLeftOut(lost)}: ${suggestRun(ledger, registry, registry.pipeline(lost.pipeline))} exports it`;
  if (table === undefined) return undefined;
  const behind = marts.find(({ name }) => name === table);
  if (behind !== undefined) return whyEmpty(context, behind) ?? `${table} is empty`;
  const pipeline = registry.writerOf(table);
  if (pipeline === undefined) return `${table} was never exported`;
  return (
    describeForgottenInputs(forgotten, [pipeline.name]) ??
    `${table} was never exported: ${suggestRun(ledger, registry, pipeline)}`
  );
}

/** Rows of a whole mart. */
export function rowsIn(store: Store, name: string): number {
  return martEntries(store.ledger(), name).reduce((sum, { tables }) => sum + (tables[name]?.rows ?? 0), 0);
}
