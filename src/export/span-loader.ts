import { findLinkGaps, type LinkEnds, type LinkReport } from '../audit/header-links.ts';
import { LinkRows } from '../audit/link-rows.ts';
import { type BadBlock, Reconciliation } from '../audit/reconcile.ts';
import { findContradictions } from '../audit/sealed-rows.ts';
import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Batch } from '../decode/batch.ts';
import { Decoder } from '../decode/decoder.ts';
import type { RefusedRecord } from '../decode/scan-page.ts';
import type { WordsColumn } from '../decode/typed-columns.ts';
import { PAGE_ROWS } from './page-request.ts';

/** Bounds of what is handed over at once, which becomes a row group of each table: records, and bytes of all tables together. */
const CHUNK = { least: 2048, most: 122_880, bytes: 32 * 2 ** 20 } as const;

/** Where the sorted rows of a span go. */
export interface RowSink<T> {
  /** Waits until there is nothing before the next rows, so that no two lots of them are in memory. */
  ready(): Promise<void>;
  /** Takes rows of each table; the batches' memory is used again afterwards. */
  write(batches: readonly Batch[]): Promise<void>;
  finish(): Promise<T>;
  discard(): Promise<void>;
}

/** A record that could not be decoded, and why. */
export interface RefusedReport {
  readonly pointer: string;
  readonly reason: string;
  readonly raw: string;
}

export interface PlacedReport extends RefusedReport {
  /** Masterchain block that the record says it belongs to, if that can be read. */
  readonly seqno: number | undefined;
}

/** What a page held. Plain data, so that a worker thread can hand it over. */
export interface PageReport {
  readonly records: number;
  readonly refused: readonly PlacedReport[];
  /** Fields without a column, and how often they were met. */
  readonly unknown: readonly (readonly [string, number])[];
  /** Logical time, decimal, at which a full page was cut. */
  readonly lastLt: string | undefined;
}

/**
 * Takes the pages of one span in any order, and writes the rows of the blocks that proved sound, sorted. It can be opened again
 * and again; its memory stays as large as the largest span so far.
 */
export class SpanLoader<T> {
  private readonly pipeline: PipelineDef;
  private readonly decoder: Decoder;
  private reconciliation: Reconciliation | undefined;
  private linkRows: LinkRows | undefined;
  private span: Span = { from: 0, to: -1 };
  private headers: readonly Header[] = [];
  /** Rows before this one are dead if their masterchain block was dropped then. */
  private dropped = new Map<number, number>();
  private deadRows = new Set<number>();
  private readonly isRowAlive = (row: number): boolean => this.isAlive(row);

  constructor(pipeline: PipelineDef) {
    this.pipeline = pipeline;
    this.decoder = new Decoder(pipeline);
  }

  /** Begins a span; what was loaded before is forgotten. */
  async open(span: Span, headers: readonly Header[]): Promise<void> {
    this.span = span;
    this.headers = headers;
    this.dropped = new Map();
    this.deadRows = new Set();
    this.decoder.clear();
  }

  /**
   * Adds a page.
   *
   * @param overflow what becomes of a full page: `keep` all its rows; `cut` those at its last logical time, which come again
   * with the next window; `refuse` all, because the window is asked for in halves
   * @throws {DecodeError} when the page is no JSON (retryable) or of another shape; nothing of it is kept
   */
  async add(page: Uint8Array, overflow: 'keep' | 'cut' | 'refuse'): Promise<PageReport> {
    const mark = this.decoder.mark();
    const before = this.decoder.records;
    const { records, refused, unknown } = this.decoder.decode(page);
    const after = this.decoder.records;
    const isFull = records >= PAGE_ROWS;
    const lastLt = isFull && overflow === 'cut' && after > before ? this.ltOf(after - 1) : undefined;
    if (lastLt !== undefined) {
      for (let row = after - 1; row >= before && this.ltOf(row) === lastLt; row--) this.deadRows.add(row);
    }
    if (isFull && overflow === 'refuse') this.decoder.rollback(mark);
    return {
      records,
      refused: refused.length === 0 ? [] : await this.explain(refused),
      unknown: [...unknown],
      lastLt: lastLt?.toString(),
    };
  }

  /** Compares the rows so far with the headers that the span was opened with. */
  async audit(): Promise<readonly BadBlock[]> {
    this.reconciliation ??= new Reconciliation(this.decoder);
    return this.reconciliation.audit(this.span, this.headers, this.isRowAlive);
  }

  /** Follows the links between the headers so far, from one end of the span to the other, and holds them against committed rows. */
  async links(ends: LinkEnds): Promise<LinkReport> {
    this.linkRows ??= new LinkRows(this.decoder);
    const blocks = this.linkRows.read(this.span, this.isRowAlive);
    const contradicted = ends.sealed === undefined ? [] : findContradictions(blocks, ends.sealed);
    return { ...findLinkGaps(blocks, this.span, ends), blocks: blocks.length, contradicted };
  }

  /** Forgets the rows of a masterchain block; it will be loaded again. */
  async drop(seqno: number): Promise<void> {
    this.dropped.set(seqno, this.decoder.records);
  }

  /** Writes the rows of each given span, sorted; other rows are forgotten. */
  async finish(spans: readonly Span[], open: (span: Span, at: number) => RowSink<T>): Promise<readonly T[]> {
    const finished: T[] = [];
    for (const [at, span] of spans.entries()) finished.push(await this.writeRows(span, open(span, at)));
    this.decoder.clear();
    return finished;
  }

  /** Memory of batches that a sink has taken over, to be used again. */
  giveBack(memory: readonly ArrayBuffer[]): void {
    this.decoder.giveBack(memory);
  }

  private async writeRows(span: Span, sink: RowSink<T>): Promise<T> {
    try {
      const rows = this.decoder.sorted(this.rowsOf(span));
      const size = this.chunkRecords();
      for (let from = 0; from < Math.max(rows.length, 1); from += size) {
        const chunk = rows.subarray(from, from + size);
        await sink.ready();
        await sink.write(this.decoder.choose(chunk));
      }
      return await sink.finish();
    } catch (error) {
      await sink.discard();
      throw error;
    }
  }

  private chunkRecords(): number {
    const { records, byteSize } = this.decoder;
    return Math.max(CHUNK.least, Math.min(CHUNK.most, Math.floor((CHUNK.bytes * records) / Math.max(byteSize, 1))));
  }

  /** Loads what explains only when there is something to explain: it takes longer than all the rest. */
  private async explain(refused: readonly RefusedRecord[]): Promise<readonly PlacedReport[]> {
    const { explainRefusal, masterchainSeqnoOf } = await import('../decode/explain-refusal.ts');
    const { pipeline } = this;
    return refused.map((record) => ({
      ...explainRefusal(pipeline, record),
      raw: record.raw,
      seqno: masterchainSeqnoOf(pipeline, record),
    }));
  }

  private rowsOf(span: Span): Int32Array {
    const { words } = this.decoder.column('mc_block_seqno') as WordsColumn;
    const rows = new Int32Array(this.decoder.records);
    let found = 0;
    for (let row = 0; row < rows.length; row++) {
      const seqno = words[row] as number;
      if (seqno >= span.from && seqno <= span.to && this.isAlive(row)) rows[found++] = row;
    }
    return rows.subarray(0, found);
  }

  private isAlive(row: number): boolean {
    if (this.deadRows.size > 0 && this.deadRows.has(row)) return false;
    if (this.dropped.size === 0) return true;
    const { words } = this.decoder.column('mc_block_seqno') as WordsColumn;
    return row >= (this.dropped.get(words[row] as number) ?? 0);
  }

  private ltOf(row: number): bigint {
    return (this.decoder.column('lt') as WordsColumn).unsigned64(row);
  }
}
