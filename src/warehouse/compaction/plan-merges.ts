import { greatest, type Span, subtractSpans, totalSize, unionSpans } from '../../core/span.ts';
import { leftOutOf, narrowTable } from '../../declare/left-out.ts';
import { isFinal, lookBackOf, type PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { hasMadeUpHashes, spansOf } from '../ledger/done-spans.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import { daysOf, MergedSize, type OpenGroup, pack } from './merge-group.ts';

/** Entries of one pipeline to merge. */
export interface MergeGroup {
  readonly pipeline: string;
  /** The blocks of the entries. */
  readonly spans: readonly Span[];
  /** In the order of their spans. */
  readonly entries: readonly LedgerEntry[];
  /** True if the rows are not final. The merged entry has the `asOf` of all then. */
  readonly isReadAgain: boolean;
}

export interface MergePlanOptions {
  readonly tables: readonly TableDef[];
  /** Pipelines whose entries with `asOf` can be final. */
  readonly pipelines: readonly PipelineDef[];
  /** Maximum size of a merged file, in bytes. */
  readonly targetBytes: number;
  /** Only entries inside one of these. Default: all. */
  readonly range?: readonly Span[] | undefined;
  /** Milliseconds since 1970, if commits go on: days that are not over are merged less. Default: all days are over. */
  readonly now?: number | undefined;
}

/** A size that merged entries should reach. */
interface Level {
  /** True for an entry that has reached it. It is not merged, and separates the entries before and after it. */
  readonly isReachedBy: (entry: LedgerEntry) => boolean;
  /** True if entries are worth merging. */
  readonly isWorth: (group: OpenGroup) => boolean;
  /** True if a group that is not worth merging is tried again without its largest entry. Default false. */
  readonly sparesLargest?: boolean;
}

function levelOfBlocks(blocks: number): Level {
  return {
    isReachedBy: (entry) => totalSize(spansOf(entry)) >= blocks,
    isWorth: ({ entries }) => totalSize(entries.flatMap(spansOf)) >= blocks,
  };
}

function levelOfBytes(bytes: number, isLowest: boolean): Level {
  return {
    isReachedBy: (entry) => MergedSize.of(entry).bytes >= bytes,
    isWorth: ({ size, entries }) => size.reaches(isLowest ? 0 : bytes) || (isLowest && isBalanced(entries)),
    sparesLargest: isLowest,
  };
}

/** True unless an entry has more blocks than all others together. */
function isBalanced(entries: readonly LedgerEntry[]): boolean {
  const sizes = entries.map((entry) => totalSize(spansOf(entry)));
  return 2 * greatest(sizes) <= sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Levels of days that are over, each ten times the size of the one below. Entries are merged if together they reach a higher level than each
 * alone, so a growing warehouse writes each row once per level. On the lowest level, they are merged if that leaves at most half of their
 * files, or if no entry has more blocks than all others together: files of other days are not merged, and a merged entry names all of them
 * again.
 */
const closedLevels = (targetBytes: number): readonly Level[] =>
  [2, 20, 200].map((share) => levelOfBytes(targetBytes / share, share === 200));
/** Levels, in blocks, of days that are not over: a table has at most about nine files per level, and each row is written once per level. */
const OPEN_LEVELS = [1e6, 1e5, 1e4, 1000, 100, 10].map(levelOfBlocks);
/** Levels of rows that will be fetched again. They are low because an entry is fetched again as a whole. */
const UNFINISHED_LEVELS = [100, 10].map(levelOfBlocks);

/** A day is closed when nothing was added to it for this long, and a later day has rows. */
const QUIET_MS = 15 * 60_000;

/**
 * Groups of entries to merge: adjacent ones, and separate ones of the same UTC day, because files are per day. An entry with a file of half
 * the target size is not merged. Days that are not over come first, and of these the largest groups, so a writer with little time for merges
 * does not fall behind.
 */
export function planMerges(ledger: readonly LedgerEntry[], options: MergePlanOptions): readonly MergeGroup[] {
  const { targetBytes, now } = options;
  const closed = now === undefined ? new Set(ledger) : closedEntries(ledger, now);
  const open = ledger.filter((entry) => !closed.has(entry));
  const final = (entries: readonly LedgerEntry[]) => entries.filter((entry) => isMergeable(entry, options));
  const unfinished = runsOf(
    open.filter((entry) => isOpenRead(entry, options)),
    true,
  ).flatMap(adjacentRuns);
  return [
    ...[
      ...planLevels(runsOf(final(open), true), OPEN_LEVELS, targetBytes).map((entries) => groupOf(entries, false)),
      ...planLevels(unfinished, UNFINISHED_LEVELS, targetBytes).map((entries) => groupOf(entries, true)),
    ].sort((a, b) => b.entries.length - a.entries.length || totalSize(a.spans) - totalSize(b.spans)),
    ...planLevels(runsOf(final([...closed]), false), closedLevels(targetBytes), targetBytes)
      .map((entries) => groupOf(entries, false))
      .sort((a, b) => compare(a.pipeline, b.pipeline) || (a.spans[0]?.from ?? 0) - (b.spans[0]?.from ?? 0)),
  ];
}

type Merged = readonly [LedgerEntry, ...LedgerEntry[]];

function groupOf(entries: Merged, isReadAgain: boolean): MergeGroup {
  return { pipeline: entries[0].pipeline, spans: unionSpans(entries.flatMap(spansOf)), entries, isReadAgain };
}

/** Groups of runs, from the highest level to the lowest. */
function planLevels(
  runs: readonly (readonly LedgerEntry[])[],
  levels: readonly Level[],
  targetBytes: number,
): readonly Merged[] {
  const merged: Merged[] = [];
  let left = runs;
  for (const { isReachedBy, isWorth, sparesLargest = false } of levels) {
    const rest: (readonly LedgerEntry[])[] = [];
    const groups = left.flatMap((run) => partsOf(run, isReachedBy)).flatMap((run) => pack(run, targetBytes));
    for (const group of groups) {
      const [first, ...others] = group.entries;
      if (first !== undefined && others.length > 0 && isWorth(group)) merged.push([first, ...others]);
      else if (sparesLargest && others.length > 1)
        groups.push(...withoutLargest(group).flatMap((run) => pack(run, targetBytes)));
      else rest.push(group.entries);
    }
    left = rest;
  }
  return merged;
}

/** The parts of a group before and after the entry with most blocks. */
function withoutLargest({ entries }: OpenGroup): readonly (readonly LedgerEntry[])[] {
  const most = greatest(entries.map((entry) => totalSize(spansOf(entry))));
  const largest = entries.find((entry) => totalSize(spansOf(entry)) === most);
  return partsOf(entries, (entry) => entry === largest);
}

/** The parts of a run between entries that are large enough. */
function partsOf(
  run: readonly LedgerEntry[],
  isReachedBy: (entry: LedgerEntry) => boolean,
): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  for (const entry of run) {
    if (isReachedBy(entry)) parts.push([]);
    else parts.at(-1)?.push(entry);
  }
  return parts;
}

/** Entries that can be merged with each other, in the order of their spans. @param perDay true to separate days */
function runsOf(entries: readonly LedgerEntry[], perDay: boolean): readonly (readonly LedgerEntry[])[] {
  const runs = new Map<string, LedgerEntry[]>();
  const lastDays = new Map<string, string>();
  for (const entry of [...entries].sort((a, b) => a.span.from - b.span.from)) {
    const { pipeline, version, proof, without } = entry;
    const kind = JSON.stringify([pipeline, version, proof, hasMadeUpHashes(entry), leftOutOf(without ?? {})]);
    // An entry without rows belongs to the day before it.
    const days = perDay ? daysOf(entry).join(' ') || (lastDays.get(kind) ?? '') : '';
    lastDays.set(kind, days);
    const run = runs.get(`${kind} ${days}`) ?? [];
    runs.set(`${kind} ${days}`, run);
    run.push(entry);
  }
  return [...runs.values()];
}

/** The parts of a run whose blocks follow each other. */
function adjacentRuns(run: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [];
  for (const entry of run) {
    const last = parts.at(-1);
    if (last !== undefined && (last.at(-1)?.span.to ?? 0) + 1 === entry.span.from) last.push(entry);
    else parts.push([entry]);
  }
  return parts;
}

function isMergeable(entry: LedgerEntry, { tables, pipelines, range, targetBytes }: MergePlanOptions): boolean {
  const { verdict, scope, asOf, without } = entry;
  if (verdict !== 'accepted' || scope !== undefined) return false;
  const walk = pipelines.find(({ name }) => name === entry.pipeline)?.walk;
  if (asOf !== undefined && (walk === undefined || !isFinal(walk, entry))) return false;
  if (range !== undefined && subtractSpans(spansOf(entry), range).length > 0) return false;
  return Object.entries(entry.tables).every(([name, { schema, files }]) => {
    const table = tables.find((candidate) => candidate.name === name);
    return (
      table !== undefined &&
      schemaOf(narrowTable(table, without)).id === schema &&
      files.every(({ bytes }) => bytes < targetBytes / 2)
    );
  });
}

/** True if an entry can be merged although its rows will be fetched again when they are final. */
function isOpenRead(entry: LedgerEntry, options: MergePlanOptions): boolean {
  const pipeline = options.pipelines.find(({ name }) => name === entry.pipeline);
  if (pipeline === undefined || lookBackOf(pipeline) === 0) return false;
  if (entry.asOf === undefined || entry.spans !== undefined || isFinal(pipeline.walk, entry)) return false;
  return isMergeable({ ...entry, asOf: undefined }, options);
}

/** Entries of days that are closed. */
function closedEntries(ledger: readonly LedgerEntry[], now: number): ReadonlySet<LedgerEntry> {
  const dated = ledger.map((entry) => ({ entry, days: daysOf(entry) }));
  const lastDays = new Map<string, string>();
  const changed = new Map<string, number>();
  for (const { entry, days } of dated) {
    const at = entry.copies !== undefined ? 0 : Date.parse(entry.committedAt);
    for (const day of days) {
      const key = `${entry.pipeline} ${day}`;
      if ((lastDays.get(entry.pipeline) ?? '') < day) lastDays.set(entry.pipeline, day);
      changed.set(key, Math.max(changed.get(key) ?? 0, at));
    }
  }
  const isOver = ({ pipeline }: LedgerEntry, day: string): boolean =>
    day < (lastDays.get(pipeline) ?? '') && now - (changed.get(`${pipeline} ${day}`) ?? 0) >= QUIET_MS;
  const open = new Map<string, number>();
  for (const { entry, days } of dated) {
    if (days.length === 0 || days.every((day) => isOver(entry, day))) continue;
    open.set(entry.pipeline, Math.min(open.get(entry.pipeline) ?? Number.POSITIVE_INFINITY, entry.span.from));
  }
  const isClosed = ({ entry, days }: (typeof dated)[number]): boolean =>
    // An entry without rows belongs to the days around it.
    days.length === 0 ? entry.span.to < (open.get(entry.pipeline) ?? 0) : days.every((day) => isOver(entry, day));
  return new Set(dated.filter(isClosed).map(({ entry }) => entry));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
