import { dirname } from 'node:path';
import { groupBy } from '../../core/group-by.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { filesIn } from '../ledger/entries-in.ts';
import type { LedgerEntry, TableFile } from '../store.ts';

/** Maximum size of a merged entry, in files of the target size, which limits the work that a kill loses. */
const MAX_TARGETS = 4;

/** Maximum number of spans of a merged entry, so that its file stays small. */
const MAX_SPANS = 10_000;

/** Groups of entries within the limits of a merged one, in order. */
export function pack(run: readonly LedgerEntry[], targetBytes: number): readonly OpenGroup[] {
  const groups: OpenGroup[] = [];
  for (const entry of run) {
    const last = groups.at(-1);
    if (last?.accepts(entry, targetBytes) === true) last.add(entry);
    else groups.push(new OpenGroup(entry));
  }
  return groups;
}

/** Entries to merge, in the order of their spans. */
export class OpenGroup {
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

  accepts(entry: LedgerEntry, targetBytes: number): boolean {
    const day = firstDayOf(entry);
    const isOfDay = day === undefined || this.#day === undefined || day === this.#day;
    return (
      (isOfDay || this.#isNext(entry)) &&
      this.#spans + spansOf(entry).length <= MAX_SPANS &&
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
export function daysOf(entry: LedgerEntry): readonly string[] {
  const folders = [...groupFiles([entry]).keys()].flatMap((folder) => /\/(block_date=.*)$/.exec(folder)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** The sizes that a merged entry would have, entry by entry. */
export class MergedSize {
  readonly #folders = new Map<string, number>();
  #total = 0;
  #files = 0;

  static of(entry: LedgerEntry): MergedSize {
    const size = new MergedSize();
    size.add(entry);
    return size;
  }

  add(entry: LedgerEntry): void {
    for (const [folder, bytes] of sizesOf(entry)) {
      this.#folders.set(folder, (this.#folders.get(folder) ?? 0) + bytes);
      this.#total += bytes;
    }
    this.#files += filesIn([entry]).length;
  }

  /** The size that decides the level: that of the largest file, or a share of the total if there are many files. */
  get bytes(): number {
    return Math.max(0, ...this.#folders.values(), this.#total / MAX_TARGETS);
  }

  /** True if the merged entry would be at least that large, with at most half of the files. */
  reaches(bytes: number): boolean {
    return this.bytes >= bytes && this.#files >= 2 * this.#folders.size;
  }

  /** True if the files stay within their limits with another entry. */
  fits(entry: LedgerEntry, targetBytes: number): boolean {
    const sizes = sizesOf(entry);
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, this.#total);
    if (total > targetBytes * MAX_TARGETS) return false;
    return sizes.every(([folder, bytes]) => (this.#folders.get(folder) ?? 0) + bytes <= targetBytes);
  }
}

function sizesOf(entry: LedgerEntry): readonly (readonly [folder: string, bytes: number])[] {
  return [...groupFiles([entry])].map(([folder, files]) => [folder, files.reduce((sum, file) => sum + file.bytes, 0)]);
}

/** Files by folder, which is that of a table or of a day. */
function groupFiles(entries: readonly LedgerEntry[]): ReadonlyMap<string, readonly TableFile[]> {
  return groupBy(filesIn(entries), ({ path }) => dirname(path));
}

/** The files of entries to merge. Several files of a folder become one; single ones are reused. */
export interface SplitFiles {
  readonly joined: ReadonlyMap<string, readonly TableFile[]>;
  readonly alone: readonly TableFile[];
}

export function splitFiles(entries: readonly LedgerEntry[]): SplitFiles {
  const folders = [...groupFiles(entries)];
  return {
    joined: new Map(folders.filter(([, { length }]) => length > 1)),
    alone: folders.flatMap(([, files]) => (files.length === 1 ? files : [])),
  };
}
