import { numberAt, type RowsWithin } from '../audit/page-audit.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import { keyOf } from '../decode/row-keys.ts';
import { WordsColumn } from '../decode/typed-columns.ts';

/** The rows of a page; `to` is the first row after it. */
export interface PageRows {
  /** The only masterchain block, or batch of keys, in the page. */
  readonly unit: number | undefined;
  readonly from: number;
  readonly to: number;
}

/** The valid rows of a decoder: all but dropped ones and duplicates. */
export class LoadedRows {
  private readonly decoder: Decoder;
  private readonly key: readonly string[];
  private span: Span = { from: 0, to: -1 };
  private block: string | undefined;
  private pages: PageRows[] = [];
  /** By block or batch: its rows before this one were dropped. */
  private dropped = new Map<number, number>();
  private deadRows = new Set<number>();
  private keys: Set<string> | undefined;

  constructor(decoder: Decoder, key: readonly string[]) {
    this.decoder = decoder;
    this.key = key;
  }

  /** @param block column with the masterchain block of a row; undefined if there is none */
  open(span: Span, block: string | undefined): void {
    this.span = span;
    this.block = block;
    this.clear();
  }

  clear(): void {
    this.pages = [];
    this.dropped = new Map();
    this.deadRows = new Set();
    this.keys = undefined;
    this.decoder.clear();
  }

  /** @returns the number of valid rows; in a supplement, those of the span with new keys */
  add(page: PageRows, isSupplement: boolean): number {
    this.pages.push(page);
    if (isSupplement) return this.dropDuplicates(page);
    this.keys = undefined;
    return page.to - page.from;
  }

  drop(unit: number): void {
    this.dropped.set(unit, this.decoder.records);
    this.keys = undefined;
  }

  /** Drops rows of other spans, and rows with keys that are loaded. @returns the number of rows left */
  private dropDuplicates({ from, to }: PageRows): number {
    const textOf = keyOf(this.decoder, this.key);
    if (this.keys === undefined) {
      const rows = this.of(this.span);
      this.keys = new Set<string>();
      for (const row of rows) if (row < from) this.keys.add(textOf(row));
    }
    let added = 0;
    const seqnoOf = this.seqnos();
    for (let row = from; row < to; row++) {
      const seqno = seqnoOf?.(row) ?? this.span.from;
      const text = textOf(row);
      if (seqno < this.span.from || seqno > this.span.to || this.keys.has(text)) this.deadRows.add(row);
      else {
        this.keys.add(text);
        added++;
      }
    }
    return added;
  }

  /** The valid rows of a span. @param within selects some of them, where rows have no blocks. Default: all */
  of(span: Span, within?: RowsWithin): Int32Array {
    const rows = new Int32Array(this.decoder.records);
    let found = 0;
    const seqnoOf = this.seqnos();
    if (seqnoOf === undefined) {
      for (const { unit, from, to } of this.pages) {
        if (unit !== undefined && from < (this.dropped.get(unit) ?? 0)) continue;
        for (let row = from; row < to; row++) {
          if (!this.deadRows.has(row) && this.isWithin(row, within)) rows[found++] = row;
        }
      }
      return rows.subarray(0, found);
    }
    for (let row = 0; row < rows.length; row++) {
      const seqno = seqnoOf(row);
      if (seqno >= span.from && seqno <= span.to && this.isAlive(row)) rows[found++] = row;
    }
    return rows.subarray(0, found);
  }

  private isWithin(row: number, within: RowsWithin | undefined): boolean {
    if (within === undefined) return true;
    const value = numberAt(this.decoder.column(within.column), row);
    return value !== undefined && value >= within.from && value <= within.to;
  }

  isAlive(row: number): boolean {
    if (this.deadRows.size > 0 && this.deadRows.has(row)) return false;
    if (this.dropped.size === 0) return true;
    const seqno = this.seqnos()?.(row);
    return seqno === undefined || row >= (this.dropped.get(seqno) ?? 0);
  }

  /** A function from a row to its masterchain block; undefined if rows have none. */
  seqnos(): ((row: number) => number) | undefined {
    const { block } = this;
    const column = block === undefined ? undefined : this.decoder.column(block);
    if (!(column instanceof WordsColumn)) return undefined;
    const { words, width } = column;
    return (row) => words[row * width] as number;
  }
}
