import { oncePer } from '../../core/once-per.ts';
import {
  greatest,
  intersectSpans,
  type Span,
  shortSpans,
  subtractSpans,
  unionSpans,
  wholeRange,
} from '../../core/span.ts';
import { isLeftOut, WHOLE } from '../../declare/left-out.ts';
import { isEphemeral, isFinal, isOfNow, type PipelineDef, proofOf } from '../../declare/pipeline.ts';
import type { LeftOut } from '../../declare/table.ts';
import { dateIn } from '../file-layout.ts';
import { newestOf } from '../ledger/copied-rows.ts';
import { doneSpans, hasMadeUpHashes, PARTIAL, quarantinedSpans, spansOf, unprovenSpans } from '../ledger/done-spans.ts';
import { type ForgottenSpans, stillForgotten } from '../ledger/forgotten-spans.ts';
import type { Reader } from '../reader.ts';
import type { CopiedRows, LedgerEntry, Store } from '../store.ts';

/** Pipelines that are known: a registry, or those that a store was opened with. */
export interface KnownPipelines {
  readonly pipelines: readonly PipelineDef[];
}

/** The entries of a warehouse, and the declarations of their pipelines. */
export interface Contents<Known extends KnownPipelines = KnownPipelines> {
  readonly registry: Known;
  /** Entries in force. */
  readonly ledger: readonly LedgerEntry[];
  /** Entries that record rows removed on purpose. */
  readonly forgotten: readonly LedgerEntry[];
}

/** Reads the contents of a reader or an open store. */
export async function readContents<Known extends KnownPipelines>(
  from: Pick<Reader | Store, 'ledger' | 'forgotten'>,
  registry: Known,
): Promise<Contents<Known>> {
  return { registry, ledger: await from.ledger(), forgotten: await from.forgotten() };
}

/** Tables and marts that some entries have, also without rows. */
export function tablesIn(ledger: readonly LedgerEntry[]): ReadonlySet<string> {
  return new Set(ledger.flatMap(({ tables }) => Object.keys(tables)));
}

/** Why rows are missing. `refused`: rows of the source contradicted their headers, or were incomplete. */
export type MissingWhy = 'not exported' | 'quarantined' | 'refused' | 'forgotten' | 'forgotten by retention';

/** True for rows that were removed on purpose, and need not be fetched. */
export function isForgotten({ why }: Part<MissingWhy>): boolean {
  return why === 'forgotten' || why === 'forgotten by retention';
}

/**
 * Why rows are unproven. `made-up hashes`: the source said that its hashes are not those of cells. `not final`: they may still change, and
 * will be fetched again.
 */
export type UnprovenWhy = 'compared with nothing' | 'content contradicts hashes' | 'made-up hashes' | 'not final';

/** Blocks with the same reason. */
export interface Part<Why extends string> {
  readonly why: Why;
  readonly spans: readonly Span[];
}

/** State of a pipeline in some blocks. The parts are disjoint, and together have all of the blocks. */
export interface Coverage {
  readonly proven: readonly Span[];
  readonly unproven: readonly Part<UnprovenWhy>[];
  readonly missing: readonly Part<MissingWhy>[];
}

/** Unproven blocks, and why, by pipeline; without completely proven pipelines. */
export type UnprovenBlocks = Readonly<Record<string, readonly Part<UnprovenWhy>[]>>;

/** The range of a warehouse: from the first to the last block of which it has any rows. */
export function rangeOf({ ledger, registry }: Pick<Contents, 'ledger' | 'registry'>): readonly Span[] {
  const ofBlocks = registry.pipelines.filter((pipeline) => !isEphemeral(pipeline) && !isOfNow(pipeline));
  const names = new Set(ofBlocks.map(({ name }) => name));
  return wholeRange(ledger.filter(({ pipeline }) => names.has(pipeline)).map(({ span }) => span));
}

/** State of a pipeline. @param spans default: the range of the warehouse, or the blocks at which a list was fetched */
export function coverage(contents: Contents, pipeline: PipelineDef, spans?: readonly Span[]): Coverage {
  const { ledger, forgotten } = contents;
  const { name, walk } = pipeline;
  const own = ledger.filter((entry) => entry.pipeline === name);
  const within = spans ?? (isOfNow(pipeline) ? wholeRange(own.map(({ span }) => span)) : rangeOf(contents));
  const isCounted = proofOf(pipeline) !== undefined;
  const done = intersectSpans(within, doneSpans(own, name));
  const early = 'lookBack' in walk ? own.filter((entry) => !isFinal(walk, entry)).flatMap(spansOf) : [];
  const unproven = partition<UnprovenWhy>(done, [
    ['not final', unionSpans(early)],
    [isCounted ? 'content contradicts hashes' : 'compared with nothing', unprovenSpans(own, name, isCounted)],
    ['made-up hashes', doneSpans(own.filter(hasMadeUpHashes), name)],
  ]);
  const removed = stillForgotten(forgotten, ledger).filter((each) => each.pipeline === name);
  const refused = own.filter(({ scope }) => scope === PARTIAL).flatMap(spansOf);
  const missing = partition<MissingWhy>(subtractSpans(within, done), [
    ['quarantined', quarantinedSpans(own, name)],
    ['refused', unionSpans(refused)],
    ['forgotten', forgottenBy(removed, 'command')],
    ['forgotten by retention', forgottenBy(removed, 'retention')],
    ['not exported', isOfNow(pipeline) ? [] : within],
  ]);
  return { proven: subtractSpans(done, spansIn(unproven)), unproven, missing };
}

function forgottenBy(removed: readonly ForgottenSpans[], by: ForgottenSpans['by']): readonly Span[] {
  return unionSpans(removed.filter((each) => each.by === by).flatMap(({ spans }) => spans));
}

/** Assigns blocks to the first reason that applies to them. */
function partition<Why extends string>(
  blocks: readonly Span[],
  reasons: readonly (readonly [Why, readonly Span[]])[],
): readonly Part<Why>[] {
  const parts: Part<Why>[] = [];
  let rest = blocks;
  for (const [why, where] of reasons) {
    const spans = intersectSpans(rest, where);
    if (spans.length > 0) parts.push({ why, spans });
    rest = subtractSpans(rest, spans);
  }
  return parts;
}

/** Columns that a query may read, by table; `all` if they are unknown. */
export type Reads = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

/** Columns of a table that a selection left out in some spans. */
export interface LeftOutGap {
  readonly pipeline: string;
  readonly table: string;
  /** `*` for the table as a whole. */
  readonly columns: readonly string[];
  readonly missing: readonly Span[];
}

/** Columns that are read, but were left out, and where. */
export function leftOutGaps(
  ledger: readonly LedgerEntry[],
  { pipelines }: KnownPipelines,
  reads: Reads,
): readonly LeftOutGap[] {
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
      const pipeline = pipelines.find(({ tables }) => tables.some(({ name }) => name === table))?.name ?? '';
      const had = doneSpans(ledger, pipeline, (without) => lacks(without, table, new Set(lacking)).length === 0);
      const missing = subtractSpans(unionSpans(entries.flatMap(spansOf)), had);
      if (missing.length > 0) gaps.push({ pipeline, table, columns: lacking, missing });
    }
  }
  return gaps;
}

/** Columns of a table that are left out; `*` if the whole table is. */
export function lacks(
  without: LeftOut | undefined,
  table: string,
  columns: ReadonlySet<string> | 'all',
): readonly string[] {
  if (isLeftOut(without, table)) return [WHOLE];
  const out = without?.[table] ?? [];
  return columns === 'all' ? out : out.filter((column) => columns.has(column));
}

/** The blocks of all parts, or of those with one reason. */
export function spansIn<Why extends string>(parts: readonly Part<Why>[], why?: Why): readonly Span[] {
  return unionSpans(parts.filter((part) => why === undefined || part.why === why).flatMap(({ spans }) => spans));
}

/** `actions 1010:1019 (compared with nothing)`, for each pipeline. */
export function describeUnproven(unproven: UnprovenBlocks): readonly string[] {
  return Object.entries(unproven).map(([name, parts]) => `${name} ${describeParts(parts)}`);
}

/** `1010:1019 (not exported), 1044 (quarantined)`. */
export function describeParts(parts: readonly Part<string>[], format = shortSpans): string {
  return parts.map(({ spans, why }) => `${format(spans)} (${why})`).join(', ');
}

/** Stands for all rows of a mart that is not built by day, in lists of days. */
export const ALL_ROWS = 'all';

/** `part of 2026-05-01, 2026-05-02`; of a mart over all rows, `part of what it reads`. */
export function partOf(days: readonly string[], listed = (all: readonly string[]) => all.join(', ')): string {
  return `part of ${listed(days.map((day) => (day === ALL_ROWS ? 'what it reads' : day)))}`;
}

/** The pipeline that feeds a table, or the table of a view; undefined for any other relation, and for pending data. */
export function feeding({ pipelines }: KnownPipelines, relation: string): PipelineDef | undefined {
  return pipelines.find(
    (pipeline) =>
      !isEphemeral(pipeline) &&
      pipeline.tables.some(({ name, views }) => name === relation || views.some((view) => view.name === relation)),
  );
}

/** Commits that a mart lacks. */
export interface MartBehind {
  readonly commits: number;
  /** When the first of them was committed. ISO 8601, UTC. */
  readonly since: string;
}

/**
 * Commits of the inputs of a mart, direct or through other marts, that it lacks; undefined if it is current. Rows removed on purpose do not
 * make a daily mart stale, because it keeps their days; other marts would change without them.
 * @param isRequested true for a day that matters. Default: every day
 */
export function behindOf(
  contents: Contents,
  mart: string,
  isRequested: (day: string | undefined) => boolean = () => true,
): MartBehind | undefined {
  const later = [...new Set(laterThan(contents, mart, isRequested, []))].sort((a, b) => a.number - b.number);
  const [first] = later;
  return first === undefined ? undefined : { commits: later.length, since: first.committedAt };
}

function laterThan(
  contents: Contents,
  mart: string,
  isRequested: (day: string | undefined) => boolean,
  open: readonly string[],
): readonly LedgerEntry[] {
  const built = contents.ledger.filter((entry) => entry.mart !== undefined && entry.tables[mart] !== undefined);
  if (built.length === 0 || open.includes(mart)) return [];
  const through = new Map(built.map(({ mart: stamp }) => [stamp?.day, stamp?.through ?? 0]));
  const newest = greatest(through.values());
  const isDaily = built.some(({ mart: stamp }) => stamp?.day !== undefined);
  const reads = new Set(built.flatMap(({ mart: stamp }) => stamp?.reads ?? []));
  const later = contents.ledger.filter((entry) => {
    const isLater = ({ day, newest: number }: DayOfRows): boolean =>
      isRequested(day) && number > (through.get(day) ?? (isDaily && day !== undefined ? 0 : newest));
    const days = daysByTable(entry);
    return [...reads].some((name) => days.get(name)?.some(isLater) === true);
  });
  const feeds = new Set([...reads].map((name) => feeding(contents.registry, name)?.name));
  const removed = isDaily
    ? []
    : contents.forgotten.filter(({ pipeline, number }) => feeds.has(pipeline) && number > newest);
  return [
    ...later,
    ...removed,
    ...[...reads].flatMap((name) => laterThan(contents, name, isRequested, [...open, mart])),
  ];
}

/** Rows of a table in an entry, of one UTC day; `day` is undefined for rows of any day. */
interface DayOfRows extends Pick<CopiedRows, 'newest'> {
  readonly day: string | undefined;
}

/** The days of the rows of an entry by table, and the newest commit in which they were new. Cached, because each mart needs those of its inputs. */
const daysByTable = oncePer((entry: LedgerEntry): ReadonlyMap<string, readonly DayOfRows[]> => {
  const filled = Object.entries(entry.tables).filter(([, { rows }]) => rows > 0);
  return new Map(
    filled.map(([name, { files }]) => [
      name,
      files.length === 0
        ? [{ day: undefined, newest: newestOf(entry) }]
        : files.map((file) => ({ day: dateIn(file.path), newest: newestOf(entry, file) })),
    ]),
  );
});
