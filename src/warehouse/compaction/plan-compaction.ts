import type { Span } from '../../core/span.ts';
import { isSameSelection, narrowTable } from '../../declare/left-out.ts';
import { isFinal, type PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry, TableFile } from '../store.ts';

/** Entries of one pipeline whose spans follow each other, to be made one; or one whose files are of an older form. */
export interface CompactGroup {
  readonly pipeline: string;
  readonly span: Span;
  /** In the order of their spans. */
  readonly entries: readonly LedgerEntry[];
}

export interface CompactPlanOptions {
  readonly tables: readonly TableDef[];
  /** Pipelines whose entries may be final although they say when they were read. */
  readonly pipelines: readonly PipelineDef[];
  /** Maximum size of a merged file, in bytes. */
  readonly targetBytes: number;
  /** Only entries that lie inside one of these; undefined for all. */
  readonly range: readonly Span[] | undefined;
}

/** A merged entry has so many files of the target's size at most: that much work a kill can cost. */
const MOST_TARGETS = 4;

/**
 * Which entries to merge. Entries with a file of half the target stay as they are, so that a warehouse that grows is not written
 * again and again.
 */
export function planCompaction(ledger: readonly LedgerEntry[], options: CompactPlanOptions): readonly CompactGroup[] {
  const groups: CompactGroup[] = [];
  let open: LedgerEntry[] = [];
  let size = new MergedSize();
  const close = (): void => {
    const [first, last] = [open[0], open.at(-1)];
    if (first !== undefined && last !== undefined && (first !== last || isOldForm(first, options.tables))) {
      groups.push({ pipeline: first.pipeline, span: { from: first.span.from, to: last.span.to }, entries: open });
    }
    open = [];
    size = new MergedSize();
  };
  const sorted = ledger
    .filter((entry) => isMergeable(entry, options))
    .sort((a, b) => compare(a.pipeline, b.pipeline) || a.span.from - b.span.from);
  for (const entry of sorted) {
    const last = open.at(-1);
    if (last !== undefined && !(isNext(last, entry) && size.fits(entry, options.targetBytes))) close();
    open.push(entry);
    size.add(entry);
  }
  close();
  return groups;
}

function isMergeable(entry: LedgerEntry, { tables, pipelines, range, targetBytes }: CompactPlanOptions): boolean {
  const { verdict, scope, asOf, span, without } = entry;
  if (verdict !== 'sealed' || scope !== undefined) return false;
  const walk = pipelines.find(({ name }) => name === entry.pipeline)?.walk;
  if (asOf !== undefined && (walk === undefined || !isFinal(walk, entry))) return false;
  if (range !== undefined && !range.some(({ from, to }) => span.from >= from && span.to <= to)) return false;
  return Object.entries(entry.tables).every(([name, { schema, files }]) => {
    const table = tables.find((candidate) => candidate.name === name);
    return (
      table !== undefined &&
      schemaOf(narrowTable(table, without)).id === schema &&
      (files.every(({ bytes }) => bytes < targetBytes / 2) || isOldForm(entry, tables))
    );
  });
}

/** Whether files hold `block_date`, as those of older versions do: pandas and pyarrow cannot read them as a folder. */
function isOldForm(entry: LedgerEntry, tables: readonly TableDef[]): boolean {
  return Object.entries(entry.tables).some(([name, { dateIn, files }]) => {
    const table = tables.find((candidate) => candidate.name === name);
    return table?.time !== undefined && dateIn === undefined && files.length > 0;
  });
}

function isNext(before: LedgerEntry, entry: LedgerEntry): boolean {
  const isSelected = isSameSelection(before.without, entry.without);
  const isProven = before.proof === entry.proof;
  const isSame = before.pipeline === entry.pipeline && before.version === entry.version && isProven && isSelected;
  return isSame && before.span.to + 1 === entry.span.from;
}

/** The sizes that a merged entry would have, entry by entry. */
class MergedSize {
  readonly #folders = new Map<string, number>();
  #total = 0;

  add(entry: LedgerEntry): void {
    for (const [folder, bytes] of sizesOf(entry)) {
      this.#folders.set(folder, (this.#folders.get(folder) ?? 0) + bytes);
      this.#total += bytes;
    }
  }

  /** Whether another entry keeps every file, and all of them together, within their bounds. */
  fits(entry: LedgerEntry, targetBytes: number): boolean {
    const sizes = sizesOf(entry);
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, this.#total);
    if (total > targetBytes * MOST_TARGETS) return false;
    return sizes.every(([folder, bytes]) => (this.#folders.get(folder) ?? 0) + bytes <= targetBytes);
  }
}

function sizesOf(entry: LedgerEntry): readonly (readonly [folder: string, bytes: number])[] {
  return [...groupFiles([entry])].map(([folder, files]) => [folder, files.reduce((sum, file) => sum + file.bytes, 0)]);
}

/** Files that become one, by the folder that they lie in: a table's, or its date's. */
export function groupFiles(entries: readonly LedgerEntry[]): ReadonlyMap<string, readonly TableFile[]> {
  const groups = new Map<string, TableFile[]>();
  for (const entry of entries) {
    for (const { files } of Object.values(entry.tables)) {
      for (const file of files) {
        const folder = file.path.slice(0, file.path.lastIndexOf('/'));
        const group = groups.get(folder);
        if (group === undefined) groups.set(folder, [file]);
        else group.push(file);
      }
    }
  }
  return groups;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
