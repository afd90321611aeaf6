import { type Span, subtractSpans, unionSpans } from '../../core/span.ts';
import { leftOutOf, narrowTable } from '../../declare/left-out.ts';
import { isFinal, type PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry, TableFile } from '../store.ts';

/** Entries of one pipeline to merge, or one whose files have an older form. */
export interface CompactGroup {
  readonly pipeline: string;
  /** What they cover. */
  readonly spans: readonly Span[];
  /** In the order of their spans. */
  readonly entries: readonly LedgerEntry[];
}

export interface CompactPlanOptions {
  readonly tables: readonly TableDef[];
  /** Pipelines whose entries can be final although they record when they were read. */
  readonly pipelines: readonly PipelineDef[];
  /** Maximum size of a merged file, in bytes. */
  readonly targetBytes: number;
  /** Only entries inside one of these; undefined for all. */
  readonly range: readonly Span[] | undefined;
}

/** Maximum size of a merged entry, in files of the target size: the work that a kill can cost. */
const MOST_TARGETS = 4;

/** Maximum number of spans of a merged entry, so that it can be read and written at once. */
const MOST_SPANS = 10_000;

/** Each tier is for entries of this many times the size of the one below. */
const TIER_RATIO = 10;
const TIERS = 3;

/**
 * Which entries to merge: adjacent ones, and separate ones of the same UTC day, because files are per day. An entry with a file of half the
 * target size stays as it is. Smaller ones are in tiers by size: entries are merged if they together reach a higher tier than each of them,
 * so that a growing warehouse writes each row once per tier, and not again with every merge. In the lowest tier, any two are merged.
 */
export function planCompaction(ledger: readonly LedgerEntry[], options: CompactPlanOptions): readonly CompactGroup[] {
  const kindsOf = new Map<string, LedgerEntry[]>();
  const sorted = ledger
    .filter((entry) => isMergeable(entry, options))
    .sort((a, b) => compare(a.pipeline, b.pipeline) || a.span.from - b.span.from);
  for (const entry of sorted) {
    const own = kindsOf.get(kindOf(entry)) ?? [];
    kindsOf.set(kindOf(entry), own);
    own.push(entry);
  }
  return [...kindsOf.values()]
    .flatMap((entries) => planTiers(entries, options))
    .sort(([a], [b]) => compare(a.pipeline, b.pipeline) || a.span.from - b.span.from)
    .map((entries) => ({ pipeline: entries[0].pipeline, spans: unionSpans(entries.flatMap(spansOf)), entries }));
}

type Merged = readonly [LedgerEntry, ...LedgerEntry[]];

/** Groups of entries of one kind, from the highest tier to the lowest. */
function planTiers(entries: readonly LedgerEntry[], { tables, targetBytes }: CompactPlanOptions): readonly Merged[] {
  const merged: Merged[] = [];
  let runs: readonly (readonly LedgerEntry[])[] = [entries];
  for (let tier = 0; tier < TIERS; tier++) {
    const least = targetBytes / 2 / TIER_RATIO ** tier;
    const isLowest = tier === TIERS - 1;
    const rest: (readonly LedgerEntry[])[] = [];
    for (const group of runs.flatMap((run) => splitRun(run, least, tables)).flatMap((run) => pack(run, targetBytes))) {
      const [first, ...others] = group.entries;
      if (first === undefined) continue;
      const isWorth = others.length > 0 && (isLowest || group.size.reaches(least));
      if (isWorth || group.entries.some((entry) => isOldForm(entry, tables))) merged.push([first, ...others]);
      else rest.push(group.entries);
    }
    runs = rest;
  }
  return merged;
}

/** The parts of a run between entries that are in a higher tier. */
function splitRun(
  run: readonly LedgerEntry[],
  least: number,
  tables: readonly TableDef[],
): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  for (const entry of run) {
    const size = new MergedSize();
    size.add(entry);
    if (size.bytes >= least && !isOldForm(entry, tables)) parts.push([]);
    else parts.at(-1)?.push(entry);
  }
  return parts;
}

function pack(run: readonly LedgerEntry[], targetBytes: number): readonly OpenGroup[] {
  const groups: OpenGroup[] = [];
  for (const entry of run) {
    const last = groups.at(-1);
    if (last?.takes(entry, targetBytes) === true) last.add(entry);
    else groups.push(new OpenGroup(entry));
  }
  return groups;
}

/** Entries with the same key can be merged. */
function kindOf({ pipeline, version, proof, without }: LedgerEntry): string {
  return JSON.stringify([pipeline, version, proof, leftOutOf(without ?? {})]);
}

function isMergeable(entry: LedgerEntry, { tables, pipelines, range, targetBytes }: CompactPlanOptions): boolean {
  const { verdict, scope, asOf, without } = entry;
  if (verdict !== 'sealed' || scope !== undefined) return false;
  const walk = pipelines.find(({ name }) => name === entry.pipeline)?.walk;
  if (asOf !== undefined && (walk === undefined || !isFinal(walk, entry))) return false;
  if (range !== undefined && subtractSpans(spansOf(entry), range).length > 0) return false;
  return Object.entries(entry.tables).every(([name, { schema, files }]) => {
    const table = tables.find((candidate) => candidate.name === name);
    return (
      table !== undefined &&
      schemaOf(narrowTable(table, without)).id === schema &&
      (files.every(({ bytes }) => bytes < targetBytes / 2) || isOldForm(entry, tables))
    );
  });
}

/** True if files contain `block_date`, as those of older versions do: pandas and pyarrow cannot read them as a folder. */
function isOldForm(entry: LedgerEntry, tables: readonly TableDef[]): boolean {
  return Object.entries(entry.tables).some(([name, { dateIn, files }]) => {
    const table = tables.find((candidate) => candidate.name === name);
    return table?.time !== undefined && dateIn === undefined && files.length > 0;
  });
}

/** Entries to merge, in the order of their spans. */
class OpenGroup {
  readonly entries: LedgerEntry[];
  readonly size = new MergedSize();
  #spans: number;
  #to: number;
  #day: string | undefined;

  constructor(first: LedgerEntry) {
    this.entries = [];
    this.#spans = 0;
    this.#to = first.span.from - 1;
    this.add(first);
  }

  takes(entry: LedgerEntry, targetBytes: number): boolean {
    const day = firstDayOf(entry);
    const isOfDay = day === undefined || this.#day === undefined || day === this.#day;
    return (
      (isOfDay || this.#isNext(entry)) &&
      this.#spans + spansOf(entry).length <= MOST_SPANS &&
      this.size.fits(entry, targetBytes)
    );
  }

  #isNext({ span }: LedgerEntry): boolean {
    return this.entries.length > 0 && this.#to + 1 === span.from;
  }

  add(entry: LedgerEntry): void {
    this.entries.push(entry);
    this.size.add(entry);
    this.#spans += spansOf(entry).length - (this.#isNext(entry) ? 1 : 0);
    this.#to = Math.max(this.#to, entry.span.to);
    this.#day = lastDayOf(entry) ?? this.#day;
  }
}

function firstDayOf(entry: LedgerEntry): string | undefined {
  return daysOf(entry)[0];
}

function lastDayOf(entry: LedgerEntry): string | undefined {
  return daysOf(entry).at(-1);
}

/** Folders of the days of an entry's rows, ascending. */
function daysOf(entry: LedgerEntry): readonly string[] {
  const folders = [...groupFiles([entry]).keys()].flatMap((folder) => /\/(block_date=.*)$/.exec(folder)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** The sizes that a merged entry would have, entry by entry. */
class MergedSize {
  readonly #folders = new Map<string, number>();
  #total = 0;
  #files = 0;

  add(entry: LedgerEntry): void {
    for (const [folder, bytes] of sizesOf(entry)) {
      this.#folders.set(folder, (this.#folders.get(folder) ?? 0) + bytes);
      this.#total += bytes;
    }
    this.#files += filesOf(entry).length;
  }

  /** What decides the tier: the largest file, or the share of the whole if it has many. */
  get bytes(): number {
    return Math.max(0, ...this.#folders.values(), this.#total / MOST_TARGETS);
  }

  /** True if the merged entry would be at least that large, with at most half of the files. */
  reaches(bytes: number): boolean {
    return this.bytes >= bytes && this.#files >= 2 * this.#folders.size;
  }

  /** True if the files stay within their limits with another entry. */
  fits(entry: LedgerEntry, targetBytes: number): boolean {
    const sizes = sizesOf(entry);
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, this.#total);
    if (total > targetBytes * MOST_TARGETS) return false;
    return sizes.every(([folder, bytes]) => (this.#folders.get(folder) ?? 0) + bytes <= targetBytes);
  }
}

function filesOf({ tables }: LedgerEntry): readonly TableFile[] {
  return Object.values(tables).flatMap(({ files }) => files);
}

function sizesOf(entry: LedgerEntry): readonly (readonly [folder: string, bytes: number])[] {
  return [...groupFiles([entry])].map(([folder, files]) => [folder, files.reduce((sum, file) => sum + file.bytes, 0)]);
}

/** Files to merge, by folder: that of a table, or of a date. */
export function groupFiles(entries: readonly LedgerEntry[]): ReadonlyMap<string, readonly TableFile[]> {
  const groups = new Map<string, TableFile[]>();
  for (const entry of entries) {
    for (const file of filesOf(entry)) {
      const folder = file.path.slice(0, file.path.lastIndexOf('/'));
      const group = groups.get(folder);
      if (group === undefined) groups.set(folder, [file]);
      else group.push(file);
    }
  }
  return groups;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
