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
import { doneSpans, PARTIAL, quarantinedSpans, spansOf, unprovenSpans } from '../ledger/done-spans.ts';
import { type ForgottenSpans, stillForgotten } from '../ledger/forgotten-spans.ts';
import type { Reader } from '../reader.ts';
import type { CopiedRows, LedgerEntry, Store } from '../store.ts';

/** Pipelines that are known: a registry, or those that a store was opened with. */
export interface KnownPipelines {
  readonly pipelines: readonly PipelineDef[];
}

/** A ledger, and the declarations of what it holds. */
export interface Contents<Known extends KnownPipelines = KnownPipelines> {
  readonly registry: Known;
  /** Entries in force. */
  readonly ledger: readonly LedgerEntry[];
  /** Entries that record rows removed on purpose. */
  readonly forgotten: readonly LedgerEntry[];
}

/** Reads the contents of a reader, or an open store. */
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

/** Why rows are not there. `refused`: rows of the source contradicted their headers, or were not all sent. */
export type MissingWhy = 'not exported' | 'quarantined' | 'refused' | 'forgotten' | 'forgotten by retention';

/** True for rows that were removed on purpose: nobody needs to fetch them. */
export function isForgotten({ why }: Part<MissingWhy>): boolean {
  return why === 'forgotten' || why === 'forgotten by retention';
}

/** Why nothing proves rows. `not final`: they may still change, and will be read again. */
export type UnprovenWhy = 'compared with nothing' | 'content contradicts hashes' | 'not final';

/** Blocks, and what is the matter with them. */
export interface Part<Why extends string> {
  readonly why: Why;
  readonly spans: readonly Span[];
}

/** What is there of a pipeline within some blocks: disjoint, and together all of them. */
export interface Coverage {
  readonly proven: readonly Span[];
  readonly unproven: readonly Part<UnprovenWhy>[];
  readonly missing: readonly Part<MissingWhy>[];
}

/** Blocks that nothing proves, and why, by pipeline; without pipelines of which everything is proven. */
export type UnprovenBlocks = Readonly<Record<string, readonly Part<UnprovenWhy>[]>>;

/** The blocks that a warehouse is about: from the first to the last one of which it has anything. */
export function rangeOf({ ledger, registry }: Pick<Contents, 'ledger' | 'registry'>): readonly Span[] {
  const ofBlocks = registry.pipelines.filter((pipeline) => !isEphemeral(pipeline) && !isOfNow(pipeline));
  const names = new Set(ofBlocks.map(({ name }) => name));
  return wholeRange(ledger.filter(({ pipeline }) => names.has(pipeline)).map(({ span }) => span));
}

/** What is there of a pipeline. @param asked default: the blocks that the warehouse is about, or those at which a list was read */
export function coverage(contents: Contents, pipeline: PipelineDef, asked?: readonly Span[]): Coverage {
  const { ledger, forgotten } = contents;
  const { name, walk } = pipeline;
  const own = ledger.filter((entry) => entry.pipeline === name);
  const within = asked ?? (isOfNow(pipeline) ? wholeRange(own.map(({ span }) => span)) : rangeOf(contents));
  const isCounted = proofOf(pipeline) !== undefined;
  const done = intersectSpans(within, doneSpans(own, name));
  const early = 'lookBack' in walk ? own.filter((entry) => !isFinal(walk, entry)).flatMap(spansOf) : [];
  const unproven = partition<UnprovenWhy>(done, [
    ['not final', unionSpans(early)],
    [isCounted ? 'content contradicts hashes' : 'compared with nothing', unprovenSpans(own, name, isCounted)],
  ]);
  const gone = stillForgotten(forgotten, ledger).filter((each) => each.pipeline === name);
  const refused = own.filter(({ scope }) => scope === PARTIAL).flatMap(spansOf);
  const lost = partition<MissingWhy>(subtractSpans(within, done), [
    ['quarantined', quarantinedSpans(own, name)],
    ['refused', unionSpans(refused)],
    ['forgotten', forgottenBy(gone, 'command')],
    ['forgotten by retention', forgottenBy(gone, 'retention')],
    ['not exported', isOfNow(pipeline) ? [] : within],
  ]);
  return {
    proven: subtractSpans(
      done,
      unproven.flatMap(({ spans }) => spans),
    ),
    unproven,
    missing: lost,
  };
}

function forgottenBy(gone: readonly ForgottenSpans[], by: ForgottenSpans['by']): readonly Span[] {
  return unionSpans(gone.filter((each) => each.by === by).flatMap(({ spans }) => spans));
}

/** Each of some blocks under the first reason that holds for it. */
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

/** What of the columns that are read was left out, and where. */
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

/** All blocks of some parts, or those of one reason. */
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

/** What a mart over all rows lacks, among the days that others lack. */
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
 * What a mart lacks of the commits of what it reads, and of what those marts read: undefined if it is current. A mart keeps a day whose rows were
 * removed on purpose. One that is not built day by day would be another one without them.
 * @param isAsked whether a day of it matters; default: every day
 */
export function behindOf(
  contents: Contents,
  mart: string,
  isAsked: (day: string | undefined) => boolean = () => true,
): MartBehind | undefined {
  const later = [...new Set(laterThan(contents, mart, isAsked, []))].sort((a, b) => a.number - b.number);
  const [first] = later;
  return first === undefined ? undefined : { commits: later.length, since: first.committedAt };
}

function laterThan(
  contents: Contents,
  mart: string,
  isAsked: (day: string | undefined) => boolean,
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
      isAsked(day) && number > (through.get(day) ?? (isDaily && day !== undefined ? 0 : newest));
    const days = daysByTable(entry);
    return [...reads].some((name) => days.get(name)?.some(isLater) === true);
  });
  const feeds = new Set([...reads].map((name) => feeding(contents.registry, name)?.name));
  const removed = isDaily
    ? []
    : contents.forgotten.filter(({ pipeline, number }) => feeds.has(pipeline) && number > newest);
  return [...later, ...removed, ...[...reads].flatMap((name) => laterThan(contents, name, isAsked, [...open, mart]))];
}

/** Rows of a table that an entry has of a UTC day; `day` is undefined for rows of any day. */
interface DayOfRows extends Pick<CopiedRows, 'newest'> {
  readonly day: string | undefined;
}

/** The days of the rows that an entry has of each table, and which commits brought them. Each mart asks for those of its inputs. */
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
