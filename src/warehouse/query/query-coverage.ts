import { AuditError } from '../../core/errors.ts';
import { intersectSpans, type Span, unionSpans } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import { isEphemeral } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { followPending } from '../../declare/walk.ts';
import type { ScalarFunction } from '../../sql/database.ts';
import type { Parameters } from '../../sql/parameters.ts';
import { inputsOfUnbuilt, tonInputs } from '../../sql/ton-views.ts';
import { stillForgotten } from '../ledger/forgotten-spans.ts';
import type { Reader } from '../reader.ts';
import type { MartStamp } from '../store.ts';
import {
  ALL_ROWS,
  behindOf,
  type Contents,
  coverage,
  describeParts,
  feeding,
  isForgotten,
  leftOutGaps,
  partOf,
  rangeOf,
  readContents,
} from './coverage.ts';
import { DAY, type DayTime, dayStart, daysText, type Period, readDayTimes, timeText } from './day-times.ts';
import { requireBlocksOnce } from './double-entries.ts';
import { EmptyDatabase } from './empty-database.ts';
import { describeForgotten, describeLeftOut } from './left-out-gaps.ts';
import type { Scan } from './scans.ts';
import { suggestRun } from './suggest-run.ts';

/** Finds missing and stale data that statements read. */
export class QueryCoverage {
  readonly #reader: Reader;
  readonly #registry: Registry;
  #empty: Promise<EmptyDatabase> | undefined;
  #times: { readonly at: number; readonly times: Promise<readonly DayTime[]> } | undefined;

  constructor(reader: Reader, registry: Registry) {
    this.#reader = reader;
    this.#registry = registry;
  }

  /** The database in which statements are planned. Temporary relations stay in it. */
  async empty(): Promise<EmptyDatabase> {
    this.#empty ??= this.#open();
    const empty = await this.#empty;
    await empty.declareBuilt(await this.#reader.marts());
    return empty;
  }

  async #open(): Promise<EmptyDatabase> {
    const empty = await EmptyDatabase.open(this.#registry, { readsFiles: false });
    empty.declareViews(this.#registry.tables);
    return empty;
  }

  /** Defines functions that statements may call. */
  async define(functions: readonly ScalarFunction[]): Promise<void> {
    await this.#reader.define(functions);
    if (functions.length > 0) await (await this.empty()).define(functions);
  }

  /** The scans of a statement. */
  async scans(sql: string, parameters?: Parameters): Promise<readonly Scan[]> {
    return (await this.empty()).scans(sql, parameters, async () => this.#dayTimes((await this.contents()).ledger));
  }

  /** Missing and stale data that a statement reads, one line each. @throws {AuditError} `missing` with `isStrict`, if there is any */
  async lacks(sql: string, parameters?: Parameters, isStrict = false): Promise<readonly string[]> {
    const lines = await this.lacksOf(await this.scans(sql, parameters));
    if (!isStrict || lines.length === 0) return lines;
    throw new AuditError(`audit: ${lines.join('; ')}`, {
      code: 'missing',
      hint: `${suggest('status')} shows what is missing; without strict, the query answers with what is there`,
    });
  }

  /** Missing and stale data of scans, one line each. @throws {StoreError} `blocks-twice` */
  async lacksOf(scans: readonly Scan[]): Promise<readonly string[]> {
    const contents = await this.contents();
    const relations = scans.map(({ relation }) => relation);
    requireBlocksOnce(contents.ledger, this.#registry, relations, this.#reader.path);
    const isLimited = scans.some(({ periods }) => periods !== undefined);
    return lacksIn(contents, isLimited ? await this.#dayTimes(contents.ledger) : [], scans);
  }

  contents(): Promise<Contents<Registry>> {
    return readContents(this.#reader, this.#registry);
  }

  async #dayTimes(ledger: Contents['ledger']): Promise<readonly DayTime[]> {
    const at = ledger.at(-1)?.number ?? 0;
    if (this.#times?.at !== at) {
      this.#times = { at, times: readDayTimes(this.#reader.query, ledger, this.#registry) };
    }
    return this.#times.times;
  }

  /** Cancels the plan that is being made. */
  interrupt(): void {
    void this.#opened().then((empty) => empty?.interrupt());
  }

  async close(): Promise<void> {
    await (await this.#opened())?.close();
  }

  /** Undefined if the database could not be opened: who plans in it gets the error. */
  async #opened(): Promise<EmptyDatabase | undefined> {
    return this.#empty?.catch(() => undefined);
  }
}

/** {@link QueryCoverage.lacks} of one statement. */
export async function lacksOfQuery(
  reader: Reader,
  registry: Registry,
  {
    sql,
    parameters,
    isStrict,
  }: { readonly sql: string; readonly parameters?: Parameters; readonly isStrict?: boolean | undefined },
): Promise<readonly string[]> {
  const coverage = new QueryCoverage(reader, registry);
  try {
    return await coverage.lacks(sql, parameters, isStrict);
  } finally {
    await coverage.close();
  }
}

/** Missing and stale data of a table or mart, one line each. */
export async function lacksOfTable(reader: Reader, registry: Registry, relation: string): Promise<readonly string[]> {
  return new QueryCoverage(reader, registry).lacksOf([{ relation, columns: 'all', periods: undefined }]);
}

/** Missing and stale data of scans, one line each. */
export function lacksIn(
  contents: Contents<Registry>,
  times: readonly DayTime[],
  scans: readonly Scan[],
): readonly string[] {
  const names = [...new Set(scans.map(({ relation }) => relation))];
  return [
    ...neverExported(contents, names),
    ...neverBuilt(contents, names),
    ...missingOf(contents, times, scans),
    ...leftOutOf(contents, times, scans),
    ...names.flatMap((name) => lacksOfMart(contents, name, scans)),
  ];
}

/** `actions was never exported here: tonlake run actions --range 1000:1999`, one line for each table without entries. */
function neverExported(contents: Contents<Registry>, relations: readonly string[]): readonly string[] {
  const { ledger, registry } = contents;
  return registry.pipelines
    .filter(({ name }) => ledger.every(({ pipeline }) => pipeline !== name))
    .flatMap((pipeline) => pipeline.tables.map(({ name }) => ({ pipeline, name })))
    .filter(({ name }) => relations.some((relation) => registry.tableOf(relation)?.name === name))
    .map(({ pipeline, name }) => {
      const gone = stillForgotten(contents.forgotten, ledger).filter((each) => each.pipeline === pipeline.name);
      if (gone.length > 0) return `${name} is empty: ${describeForgotten(gone)}`;
      return isEphemeral(pipeline)
        ? `${name} was never watched here: ${followPending()}`
        : `${name} was never exported here: ${suggestRun(ledger, registry, pipeline)}`;
    });
}

/** Marts that were not built, and that a statement reads, directly or through the views of `ton`. */
function neverBuilt({ ledger, registry }: Contents<Registry>, relations: readonly string[]): readonly string[] {
  const isBuilt = (name: string): boolean => ledger.some(({ tables }) => tables[name] !== undefined);
  const known = tonInputs();
  const named = relations.flatMap((name) => inputsOfUnbuilt(name) ?? (known.includes(name) ? [name] : []));
  return [...new Set(named)]
    .filter((name) => registry.tableOf(name) === undefined && !isBuilt(name))
    .map((name) => `${name} was never built here: ${suggest('build', name)}`);
}

/** `transactions: missing 1010:1019 (not exported)`, one line for each pipeline. */
function missingOf(contents: Contents<Registry>, times: readonly DayTime[], scans: readonly Scan[]): readonly string[] {
  const pipelines = new Set(scans.flatMap(({ relation }) => feeding(contents.registry, relation) ?? []));
  return [...pipelines].flatMap((pipeline) => {
    if (contents.ledger.every((entry) => entry.pipeline !== pipeline.name)) return [];
    const own = scans.filter(({ relation }) => feeding(contents.registry, relation) === pipeline);
    const isNow = ['snapshot', 'lookup'].includes(pipeline.walk.kind);
    const parts = own.flatMap(({ periods }): readonly (Period | undefined)[] =>
      periods === undefined ? [undefined] : isNow ? [] : periods,
    );
    const requested = parts.map((period) => blocksOf(contents, times, period));
    const { missing, unproven } = coverage(contents, pipeline, unionSpans(requested.flatMap(({ spans }) => spans)));
    const contradicted = unproven.filter(({ why }) => why === 'content contradicts hashes');
    const gone = stillForgotten(contents.forgotten, contents.ledger)
      .filter((each) => each.pipeline === pipeline.name)
      .filter(
        ({ days }) =>
          days !== undefined && requested.some(({ outside }) => outside !== undefined && overlaps(outside, days)),
      );
    const gaps = [
      ...new Set(requested.flatMap(({ lacks }) => lacks ?? [])),
      ...(missing.length === 0 ? [] : [describeParts(missing)]),
      ...(gone.length === 0 || missing.some(isForgotten) ? [] : [describeForgotten(gone)]),
    ];
    const isUndated = requested.some((each) => each.isUndated === true);
    const lines = [
      ...(isUndated ? [`its days are not known without block headers: ${suggestHeaders(contents)}`] : []),
      ...(gaps.length === 0 ? [] : [`missing ${gaps.join(', ')}`]),
      ...(contradicted.length === 0 ? [] : [`unproven ${describeParts(contradicted)}`]),
    ];
    return lines.length === 0 ? [] : [`${pipeline.name}: ${lines.join('; ')}`];
  });
}

interface RequestedBlocks {
  readonly spans: readonly Span[];
  /** The period, if the warehouse does not reach its ends, and the part that is missing. */
  readonly outside?: Period;
  readonly lacks?: string;
  /** True if no headers tell which blocks belong to the period: `spans` are all blocks. */
  readonly isUndated?: boolean;
}

/** The command that exports the headers of the warehouse. */
function suggestHeaders({ ledger, registry }: Contents<Registry>): string {
  return suggestRun(ledger, registry, registry.playing('headers').pipeline);
}

/** The blocks of a period by the headers of the warehouse; without a period, its range. */
function blocksOf(
  contents: Contents<Registry>,
  times: readonly DayTime[],
  period: Period | undefined,
): RequestedBlocks {
  const [range] = rangeOf(contents);
  const all = range === undefined ? [] : [range];
  if (period === undefined) return { spans: all };
  if (times.length === 0) return { spans: all, outside: period, isUndated: true };
  const [from, to] = [period.from ?? Number.NEGATIVE_INFINITY, period.to ?? Number.POSITIVE_INFINITY];
  const within = times.filter((time) => time.to > from && time.from < to);
  const [first, last] = [within[0], within.at(-1)];
  if (first === undefined || last === undefined) {
    return { spans: [], outside: period, lacks: `${daysText(period)} (not exported)` };
  }
  const span = {
    from: period.from === undefined ? Math.min(first.first, range?.from ?? first.first) : first.first,
    to: period.to === undefined ? Math.max(last.last, range?.to ?? last.last) : last.last,
  };
  const isComplete = (period.from === undefined || first.from <= from) && (period.to === undefined || last.to >= to);
  if (isComplete) return { spans: [span] };
  const stored = `only ${timeText(first.from)} to ${timeText(last.to - 1)} is in the warehouse`;
  return { spans: [span], outside: period, lacks: `part of ${daysText(period)} (${stored})` };
}

function overlaps({ from, to }: Period, days: { readonly from: string; readonly to: string }): boolean {
  return (from ?? 0) < dayStart(days.to) + DAY && (to ?? Number.MAX_SAFE_INTEGER) > dayStart(days.from);
}

/** Columns that are read, but were left out in the requested blocks. */
function leftOutOf(contents: Contents<Registry>, times: readonly DayTime[], scans: readonly Scan[]): readonly string[] {
  return scans
    .flatMap(({ relation, columns, periods }) => {
      const table = contents.registry.tableOf(relation)?.name;
      if (table === undefined) return [];
      const requested = (periods ?? [undefined]).flatMap((period) => blocksOf(contents, times, period).spans);
      const gaps = leftOutGaps(contents.ledger, contents.registry, new Map([[table, columns]]));
      return gaps
        .map((gap) => ({ ...gap, missing: intersectSpans(unionSpans(requested), gap.missing) }))
        .filter(({ missing }) => missing.length > 0)
        .map(describeLeftOut);
    })
    .filter((line, at, all) => all.indexOf(line) === at);
}

/** Requested days that a mart lacks or that miss rows of its inputs, and commits that it lacks. */
function lacksOfMart(contents: Contents<Registry>, name: string, scans: readonly Scan[]): readonly string[] {
  const built = buildsOf(contents, name);
  if (built.length === 0) return [];
  const requested = scans.filter(({ relation }) => relation === name).map(({ periods }) => periods);
  const periods = requested.flatMap((each) => each ?? []);
  const isNamed = (day: string): boolean => periods.some((period) => overlaps(period, { from: day, to: day }));
  const isRequested = (day: string | undefined): boolean =>
    day === undefined || requested.includes(undefined) || isNamed(day);
  const isDaily = built.some(({ day }) => day !== undefined);
  const reads = [...readsBehind(contents, name)];
  // A mart over all rows has a day of what it reads only for a query that names the day.
  const behind = reads
    .map((read) => buildsOf(contents, read).filter(({ day }) => day !== undefined))
    .filter((builds) => builds.length > 0);
  const open = [
    ...built.filter(({ day }) => isRequested(day)),
    ...behind.flat().filter(({ day = '' }) => (isDaily ? isRequested(day) : isNamed(day))),
  ].filter((build) => build.coverage === 'missing');
  const days = [...new Set(open.map(({ day }) => day ?? ALL_ROWS))].sort();
  const why = days.length === 0 ? [] : neverExported(contents, reads);
  const because = why.length === 0 ? '' : ` (${why.join('; ')})`;
  // A mart has no rows of a day of which those that it reads have none.
  const complete = isDaily ? [[...built, ...behind.flat().filter(({ rows }) => rows === 0)]] : behind;
  const unbuilt = complete.flatMap((builds) => unbuiltDays(builds.flatMap(({ day }) => day ?? []).sort(), periods));
  const parts = [
    ...(days.length === 0 ? [] : [`${partOf(days)}${because}`]),
    ...new Set(unbuilt.map((period) => `${daysText(period)} (not built)`)),
  ];
  const stale = behindOf(contents, name, isRequested);
  return [
    ...(parts.length === 0 ? [] : [`${name}: missing ${parts.join(', ')}`]),
    ...(stale === undefined ? [] : [`${name}: stale, ${describeBehind(stale)}: ${suggest('build', name)}`]),
  ];
}

/** A build in force: of a day, or of all rows. */
interface Build extends Pick<MartStamp, 'day' | 'coverage' | 'reads'> {
  readonly rows: number;
}

function buildsOf({ ledger }: Contents, name: string): readonly Build[] {
  return ledger.flatMap(({ mart, tables }) => {
    const own = tables[name];
    return mart === undefined || own === undefined ? [] : [{ ...mart, rows: own.rows }];
  });
}

/** Tables and marts that a mart reads, directly or through other marts. */
function readsBehind(contents: Contents, name: string, found = new Set<string>()): ReadonlySet<string> {
  for (const read of new Set(buildsOf(contents, name).flatMap(({ reads }) => reads))) {
    if (!found.has(read)) readsBehind(contents, read, found.add(read));
  }
  return found;
}

/** `built 3 commits ago`. */
export function describeBehind({ commits }: { readonly commits: number }): string {
  return `built ${commits} ${commits === 1 ? 'commit' : 'commits'} ago`;
}

/** The parts of periods before or after all built days of a mart. Between these, a day can be without rows. */
function unbuiltDays(built: readonly string[], periods: readonly Period[]): readonly Period[] {
  const [first, last] = [built[0], built.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [start, end] = [dayStart(first), dayStart(last) + DAY];
  return periods.flatMap(({ from, to }) => [
    ...(from !== undefined && from < start ? [{ from, to: Math.min(to ?? start, start) }] : []),
    ...((to ?? from ?? 0) > end || (to === undefined && from === end) ? [{ from: Math.max(from ?? 0, end), to }] : []),
  ]);
}
