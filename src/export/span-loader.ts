import { droppedStates } from '../audit/dropped-states.ts';
import {
  findLinkGaps,
  findUncommitted,
  type LinkEnds,
  type LinkReport,
  readLinkedBlocks,
} from '../audit/header-links.ts';
import {
  DOUBLE_KEY,
  PageAudit,
  type PageConditions,
  type PageFacts,
  type RequestedRows,
  type RowsWithin,
} from '../audit/page-audit.ts';
import { findContradictions } from '../audit/proven-rows.ts';
import { type BadBlock, Reconciliation } from '../audit/reconcile.ts';
import { groupBy } from '../core/group-by.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Batch } from '../decode/batch.ts';
import { Decoder } from '../decode/decoder.ts';
import { chooseCopies, findTwins } from '../decode/row-keys.ts';
import type { RefusedRecord } from '../decode/scan-page.ts';
import { ContentAudit, type ContentCounts } from '../proof/content-audit.ts';
import type { ContentMode } from '../proof/content-proof.ts';
import { applyCorrections, correctedBy } from '../proof/corrections.ts';
import type { Stage } from '../warehouse/index.ts';
import type { FolderState } from '../warehouse/staging/row-folder.ts';
import type { PageRules, RowRules } from './load-rules.ts';
import { LoadedRows } from './loaded-rows.ts';

/** Size of a chunk, which becomes a row group of each table: records, and bytes of all tables. */
const CHUNK = { least: 2048, most: 122_880, bytes: 32 * 2 ** 20 } as const;

/** Code of the error for transactions whose content contradicts their hash. */
export const CONTENT = 'content';

/** Receives the sorted rows of a span. */
export type RowSink = Pick<Stage, 'write'>;

const NOTHING: FolderState = { bytes: 0, isUniform: true, growing: [] };

/** A record that could not be decoded, and why. */
export interface RefusedReport {
  readonly pointer: string;
  readonly reason: string;
  readonly raw: string;
}

export interface PlacedReport extends RefusedReport {
  /** Masterchain block in the record, if it can be read. */
  readonly seqno: number | undefined;
}

/** The content of a page. Plain data, for a worker thread. */
export interface PageReport extends PageFacts {
  readonly records: number;
  /** False if its rows were dropped, to be requested in smaller parts. */
  readonly isTaken: boolean;
  readonly refused: readonly PlacedReport[];
  /** Fields without a column, and their number. */
  readonly unknown: readonly (readonly [string, number])[];
  /** Rows that were added. */
  readonly added: number;
  /** Records in the loader. */
  readonly loaded: number;
}

const NO_RULES: RowRules = { block: undefined, audit: { kind: 'none' } };

/** Decodes the pages of a span in any order, and writes its valid rows sorted. Reused for further spans; retains the memory of the largest. */
export class SpanLoader {
  private readonly pipeline: PipelineDef;
  private readonly decoder: Decoder;
  private reconciliation: Reconciliation | undefined;
  private readonly content: ContentAudit;
  private span: Span = { from: 0, to: -1 };
  private rules: RowRules = NO_RULES;
  private readonly rows: LoadedRows;
  private readonly pages: PageAudit;
  private hasFlushed = false;
  private readonly isRowAlive = (row: number): boolean => this.rows.isAlive(row);

  constructor(pipeline: PipelineDef) {
    this.pipeline = pipeline;
    this.decoder = new Decoder(pipeline);
    this.content = new ContentAudit(this.decoder);
    this.rows = new LoadedRows(this.decoder, pipeline.tables[0]?.key ?? []);
    this.pages = new PageAudit(pipeline, this.decoder);
  }

  /** Begins a span, and drops all rows of the last one. */
  async open(span: Span, rules: RowRules): Promise<void> {
    this.span = span;
    this.rules = rules;
    this.hasFlushed = false;
    this.content.clear();
    this.rows.open(span, rules.block);
    this.pages.clear();
  }

  /**
   * Adds a page.
   *
   * @throws {DecodeError} if the page is not JSON (retryable) or has another shape; its rows are dropped
   * @throws {AuditError} `wrong-rows`, retryable, if it has rows that were not requested; all of them are dropped
   */
  async add(page: Uint8Array, rules: PageRules): Promise<PageReport> {
    const { unit, given, full = Number.POSITIVE_INFINITY, overflow = 'keep', isSupplement = false } = rules;
    const mark = this.decoder.mark();
    const from = this.decoder.records;
    const { records, refused, unknown } = this.decoder.decode(page, given);
    const to = this.decoder.records;
    const isTooMuch = records >= full && (overflow === 'refuse' || overflow === 'divide');
    let facts: PageFacts;
    try {
      facts = this.pages.check(this.conditionsOf(rules), { from, to, records });
    } catch (error) {
      this.decoder.rollback(mark);
      throw error;
    }
    if (isTooMuch || (overflow === 'divide' && refused.length > 0)) {
      this.decoder.rollback(mark);
      return { ...NOT_TAKEN, records, loaded: from };
    }
    const added = this.rows.add({ unit, from, to }, isSupplement);
    return {
      isTaken: true,
      records,
      added,
      loaded: to,
      ...facts,
      refused: refused.length === 0 ? [] : await this.explain(refused),
      unknown: [...unknown],
    };
  }

  private conditionsOf({ unit, given, only = [], list }: PageRules): PageConditions {
    const { block, audit } = this.rules;
    const isOfBlock = unit !== undefined && block !== undefined;
    const ofBlock: readonly RequestedRows[] = isOfBlock
      ? [{ kind: 'within', column: block, from: BigInt(unit), to: BigInt(unit) }]
      : [];
    return {
      requested: [...ofBlock, ...only],
      page: list,
      isUnique: audit.kind === 'keys',
      block: isOfBlock ? unit : undefined,
      count: Array.isArray(given) ? given.length : undefined,
    };
  }

  /**
   * Checks the rows so far by the rules of the span, and their content.
   *
   * @param knownStates hashes of account states that rows of other blocks have in full
   */
  async audit(mode: ContentMode, knownStates: readonly string[] = []): Promise<readonly BadBlock[]> {
    const { audit } = this.rules;
    switch (audit.kind) {
      case 'counts':
        this.reconciliation ??= new Reconciliation(this.decoder);
        return this.withContent(
          mode,
          knownStates,
          this.reconciliation.audit(this.span, audit.headers, this.isRowAlive),
        );
      case 'keys':
        return this.auditKeys();
      case 'none':
        return [];
    }
  }

  /** Adds blocks with transactions whose content contradicts their hash, or that lack states which the source has. */
  private withContent(
    mode: ContentMode,
    knownStates: readonly string[],
    bad: readonly BadBlock[],
  ): readonly BadBlock[] {
    this.content.prove(mode);
    const seqnoOf = this.rows.seqnos();
    const own = this.rows.of(this.span);
    const contradicted = own.filter((row) => this.content.isContradicted(row));
    const known = new Set(bad.map(({ seqno }) => seqno));
    const blocks = [...groupBy(contradicted, (row) => seqnoOf?.(row) ?? 0)].flatMap(([seqno, rows]): BadBlock[] => {
      if (known.has(seqno)) return [];
      const hashes = rows.map((row) => this.content.keyOf(row)).join(', ');
      return [{ seqno, reason: `expected content with hash ${hashes}, got other content`, code: CONTENT }];
    });
    for (const { seqno } of blocks) known.add(seqno);
    const dropped = droppedStates(this.decoder, own, (row) => seqnoOf?.(row) ?? 0, new Set(knownStates));
    const states = dropped.filter(({ seqno }) => !known.has(seqno)).map((block) => ({ ...block, code: CONTENT }));
    return [...bad, ...blocks, ...states].sort((a, b) => a.seqno - b.seqno);
  }

  /** Results of the content proof for the rows of a span; undefined if there was none. */
  async contentOf(span: Span): Promise<ContentCounts | undefined> {
    return this.rules.audit.kind === 'counts' ? this.content.counts(this.rows.of(span)) : undefined;
  }

  /** Follows the links between the headers of some blocks, and compares the headers with committed rows. */
  async links(span: Span, ends: LinkEnds): Promise<LinkReport> {
    const blocks = readLinkedBlocks(this.decoder, span, this.isRowAlive);
    const contradicted = ends.proven === undefined ? [] : findContradictions(blocks, ends.proven);
    const uncommitted = ends.committed === undefined ? [] : findUncommitted(blocks, ends.committed);
    return { ...findLinkGaps(blocks, span, ends), blocks: blocks.length, contradicted, uncommitted };
  }

  /** Drops the rows of a masterchain block, or of a batch of keys, to load them again. */
  async drop(unit: number): Promise<void> {
    this.rows.drop(unit);
  }

  /** Writes the rows so far, and drops them. */
  async flush(sink: RowSink): Promise<void> {
    await this.write(this.span, sink);
    this.hasFlushed = true;
    this.clearRows();
  }

  /** Drops all rows. */
  async clear(): Promise<void> {
    this.clearRows();
  }

  private clearRows(): void {
    this.rows.clear();
    this.content.clear();
  }

  /** Writes the rows of a span, sorted, and keeps them in memory. @param within as `LoadedRows.of` */
  async write(span: Span, sink: RowSink, within?: RowsWithin): Promise<FolderState> {
    const { copies } = this.rules;
    const own = this.rows.of(span, within);
    const rows = this.decoder.sorted(copies === undefined ? own : chooseCopies(this.decoder, own, copies));
    const size = this.chunkRecords();
    let state = NOTHING;
    for (let from = 0; from < Math.max(rows.length, 1); from += size) {
      const startsPart = from === 0 && !this.hasFlushed;
      for (const batch of this.corrected(rows.subarray(from, from + size))) state = await sink.write(batch, startsPart);
    }
    return state;
  }

  /** Batches of some rows, with corrected values where the source is known to be wrong. */
  private corrected(rows: Int32Array): readonly Batch[] {
    const batches = this.decoder.choose(rows);
    const corrections = this.content.corrections(rows);
    return batches.map((batch) => {
      const { plays } = batch.table;
      const own = plays === undefined ? undefined : corrections[plays];
      return own === undefined ? batch : applyCorrections(batch, correctedBy(batch.table), own);
    });
  }

  private chunkRecords(): number {
    const { records, byteSize } = this.decoder;
    return Math.max(CHUNK.least, Math.min(CHUNK.most, Math.floor((CHUNK.bytes * records) / Math.max(byteSize, 1))));
  }

  /** Imports the explanations only here, because loading them is slow. */
  private async explain(refused: readonly RefusedRecord[]): Promise<readonly PlacedReport[]> {
    const { explainRefusal, masterchainSeqnoOf } = await import('../decode/explain-refusal.ts');
    const { pipeline } = this;
    return refused.map((record) => ({
      ...explainRefusal(pipeline, record),
      raw: record.raw,
      seqno: masterchainSeqnoOf(pipeline, record),
    }));
  }

  private auditKeys(): readonly BadBlock[] {
    const bad = new Map<number, BadBlock>();
    const seqnoOf = this.rows.seqnos();
    const key = this.pipeline.tables[0]?.key ?? [];
    for (const { rows, reason } of findTwins(this.decoder, key, this.rows.of(this.span))) {
      for (const seqno of rows.map((row) => seqnoOf?.(row) ?? this.span.from)) {
        bad.set(seqno, { seqno, reason, code: DOUBLE_KEY });
      }
    }
    return [...bad.values()];
  }
}

const NOT_TAKEN = { isTaken: false, refused: [], unknown: [], added: 0, without: [], distinct: undefined } as const;
