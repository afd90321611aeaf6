import { totalSize, unionSpans } from '../../core/span.ts';
import { isFinal } from '../../declare/pipeline.ts';
import { spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';
import { daysOf, pack } from './merge-group.ts';
import {
  type CompactGroup,
  type CompactPlanOptions,
  isMergeable,
  kindOf,
  type Merged,
  planCompaction,
} from './plan-compaction.ts';

export interface UpkeepOptions extends Omit<CompactPlanOptions, 'range'> {
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A day is closed when nothing was added to it for so long, and later days have rows. */
const QUIET_MS = 15 * 60_000;

/** Entries are merged when together they have this many blocks, and each has fewer. */
const LEVELS = [1e6, 1e5, 1e4, 1000, 100, 10] as const;
/** Rows that will be read again are merged only so far: an entry is read again in one piece. */
const OPEN_LEVELS = [100, 10] as const;

/**
 * Which entries to merge beside commits that go on, the smallest first. Each merge makes an entry of about ten times the blocks, so a
 * table has at most about nine files of each size, and each row is written once per size. Entries of different days stay apart. Days that
 * are closed get the form that `planCompaction` gives them.
 */
export function planUpkeep(ledger: readonly LedgerEntry[], options: UpkeepOptions): readonly CompactGroup[] {
  const all = { ...options, range: undefined };
  const closed = closedEntries(ledger, options);
  const open = ledger.filter((entry) => !closed.has(entry));
  const toGroup = (entries: Merged, isReadAgain: boolean): CompactGroup => {
    return { pipeline: entries[0].pipeline, spans: unionSpans(entries.flatMap(spansOf)), entries, isReadAgain };
  };
  const final = runsOf(open.filter((entry) => isMergeable(entry, all)));
  const unfinished = runsOf(open.filter((entry) => isOpenRead(entry, options))).flatMap(adjacentRuns);
  const groups = [
    ...final.flatMap((run) => planLevels(run, LEVELS, options)).map((entries) => toGroup(entries, false)),
    ...unfinished.flatMap((run) => planLevels(run, OPEN_LEVELS, options)).map((entries) => toGroup(entries, true)),
  ];
  groups.sort((a, b) => totalSize(a.spans) - totalSize(b.spans));
  return [...groups, ...planCompaction([...closed], all)];
}

/** True if rows of an entry are read once more when they are final, and it can be merged until then. */
function isOpenRead(entry: LedgerEntry, { pipelines, ...options }: UpkeepOptions): boolean {
  const walk = pipelines.find(({ name }) => name === entry.pipeline)?.walk;
  if (walk === undefined || !('lookBack' in walk) || walk.lookBack === 0) return false;
  if (entry.asOf === undefined || entry.spans !== undefined || isFinal(walk, entry)) return false;
  return isMergeable({ ...entry, asOf: undefined }, { ...options, pipelines, range: undefined });
}

/** Entries of days that are over, and quiet. */
function closedEntries(ledger: readonly LedgerEntry[], { now }: UpkeepOptions): ReadonlySet<LedgerEntry> {
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

/** Entries that can be merged with each other, of one day: in the order of their spans. */
function runsOf(entries: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const runs = new Map<string, LedgerEntry[]>();
  const lastDays = new Map<string, string>();
  for (const entry of [...entries].sort((a, b) => a.span.from - b.span.from)) {
    const kind = kindOf(entry);
    const days = daysOf(entry).join(' ') || (lastDays.get(kind) ?? '');
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

/** Groups of a run, from the highest level to the lowest. */
function planLevels(
  run: readonly LedgerEntry[],
  levels: readonly number[],
  { targetBytes }: UpkeepOptions,
): readonly Merged[] {
  const merged: Merged[] = [];
  let runs: readonly (readonly LedgerEntry[])[] = [run];
  for (const level of levels) {
    const rest: (readonly LedgerEntry[])[] = [];
    for (const part of runs.flatMap((each) => splitAtSize(each, level))) {
      for (const { entries } of pack(part, targetBytes)) {
        const [first, ...others] = entries;
        const blocks = totalSize(entries.flatMap(spansOf));
        if (first !== undefined && others.length > 0 && blocks >= level) merged.push([first, ...others]);
        else rest.push(entries);
      }
    }
    runs = rest;
  }
  return merged;
}

/** The parts of a run between entries with at least so many blocks. */
function splitAtSize(run: readonly LedgerEntry[], blocks: number): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  for (const entry of run) {
    if (totalSize(spansOf(entry)) >= blocks) parts.push([]);
    else parts.at(-1)?.push(entry);
  }
  return parts.filter(({ length }) => length > 0);
}
