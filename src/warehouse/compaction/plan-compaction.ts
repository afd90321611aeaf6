import { type Span, subtractSpans, unionSpans } from '../../core/span.ts';
import { leftOutOf, narrowTable } from '../../declare/left-out.ts';
import { isFinal, type PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import { MergedSize, pack } from './merge-group.ts';

/** Entries of one pipeline to merge. */
export interface CompactGroup {
  readonly pipeline: string;
  /** What they cover. */
  readonly spans: readonly Span[];
  /** In the order of their spans. */
  readonly entries: readonly LedgerEntry[];
  /** True if the rows are not final: the merged entry keeps when the first of them were read. Default false. */
  readonly isReadAgain?: boolean;
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

export type Merged = readonly [LedgerEntry, ...LedgerEntry[]];

/** Groups of entries of one kind, from the highest tier to the lowest. */
function planTiers(entries: readonly LedgerEntry[], { targetBytes }: CompactPlanOptions): readonly Merged[] {
  const merged: Merged[] = [];
  let runs: readonly (readonly LedgerEntry[])[] = [entries];
  for (let tier = 0; tier < TIERS; tier++) {
    const least = targetBytes / 2 / TIER_RATIO ** tier;
    const isLowest = tier === TIERS - 1;
    const rest: (readonly LedgerEntry[])[] = [];
    for (const group of runs.flatMap((run) => splitRun(run, least)).flatMap((run) => pack(run, targetBytes))) {
      const [first, ...others] = group.entries;
      if (first === undefined) continue;
      const isWorth = others.length > 0 && (isLowest || group.size.reaches(least));
      if (isWorth) merged.push([first, ...others]);
      else rest.push(group.entries);
    }
    runs = rest;
  }
  return merged;
}

/** The parts of a run between entries that are in a higher tier. */
function splitRun(run: readonly LedgerEntry[], least: number): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  for (const entry of run) {
    const size = new MergedSize();
    size.add(entry);
    if (size.bytes >= least) parts.push([]);
    else parts.at(-1)?.push(entry);
  }
  return parts;
}

/** Entries with the same key can be merged. */
export function kindOf({ pipeline, version, proof, without }: LedgerEntry): string {
  return JSON.stringify([pipeline, version, proof, leftOutOf(without ?? {})]);
}

export function isMergeable(
  entry: LedgerEntry,
  { tables, pipelines, range, targetBytes }: CompactPlanOptions,
): boolean {
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
      files.every(({ bytes }) => bytes < targetBytes / 2)
    );
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
