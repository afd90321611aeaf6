import { AuditError } from '../core/errors.ts';
import { type Span, spanSize } from '../core/span.ts';
import { Decoder } from '../decode/decoder.ts';
import { explainRefusal } from '../decode/explain-refusal.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import type { Given } from '../decode/table-rows.ts';
import type { AnyColumn } from '../decode/typed-columns.ts';
import { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';
import { givesWay, PARTIAL } from '../warehouse/ledger/done-spans.ts';
import type { ListProofKind, Stage, StagedSpan, Verdict } from '../warehouse/store.ts';
import type { ListContext } from './list-run.ts';
import { spanEvent } from './walk-context.ts';

export { PARTIAL };

/** Records handed to the stage at once. */
const CHUNK_RECORDS = 8192;

/** A record that could not be decoded, where it came from, and why. */
export interface RefusedRow {
  readonly request: string;
  readonly pointer: string;
  readonly reason: string;
  readonly raw: string;
}

/** What a page held. */
export interface PageRows {
  /** Records, refused ones included. */
  readonly records: number;
  /** The rows of the page: from one, to before another. */
  readonly from: number;
  readonly to: number;
  readonly refused: readonly RefusedRow[];
}

/** Code of the error about rows that have one key. */
export const DOUBLE_KEY = 'double-key';

/** Two rows with one key. */
export interface Twins {
  readonly rows: readonly [first: number, second: number];
  readonly reason: string;
}

/** The rows of one commit on their way from pages to a stage. */
export class Pages {
  readonly decoder: Decoder;
  private readonly context: ListContext;

  constructor(context: ListContext) {
    this.context = context;
    this.decoder = new Decoder(context.pipeline);
  }

  /**
   * Adds a page.
   *
   * @param full records of a full page, of which nothing is kept; default: everything is
   * @throws {DecodeError} when the page is no JSON (retryable) or of another shape; nothing of it is kept
   */
  add(
    body: Uint8Array,
    request: string,
    given: Given | readonly Given[],
    full: number = Number.POSITIVE_INFINITY,
  ): PageRows {
    const { pipeline, report } = this.context;
    const mark = this.decoder.mark();
    const from = this.decoder.records;
    const { records, refused, unknown } = this.decoder.decode(body, given);
    if (records >= full) {
      this.decoder.rollback(mark);
      return { records, from, to: from, refused: [] };
    }
    for (const [field, count] of unknown) {
      report({ event: 'unknown-field', pipeline: pipeline.name, field, count });
    }
    return {
      records,
      from,
      to: this.decoder.records,
      refused: refused.map((record) => ({ request, ...explainRefusal(pipeline, record), raw: record.raw })),
    };
  }

  /** Writes some rows, sorted. */
  async stage(stage: Stage, rows: Int32Array): Promise<void> {
    const sorted = this.decoder.sorted(rows);
    for (let from = 0; from < Math.max(sorted.length, 1); from += CHUNK_RECORDS) {
      for (const batch of this.decoder.choose(sorted.subarray(from, from + CHUNK_RECORDS))) await stage.write(batch);
    }
  }

  clear(): void {
    this.decoder.clear();
  }

  /** Text that tells a row from all others by some columns. */
  keyOf(columns: readonly string[]): (row: number) => string {
    const values = columns.map((name) => textOf(this.decoder.column(name)));
    return (row) => values.map((value) => value(row)).join('|');
  }

  /** @throws {AuditError} when two of the rows have one key */
  requireDistinct(rows: Int32Array, span: Span): void {
    const [twins] = this.twins(rows);
    if (twins === undefined) return;
    const message = `audit ${this.context.pipeline.name} ${span.from}:${span.to}: ${twins.reason}`;
    throw new AuditError(message, { code: DOUBLE_KEY, hint: 'the source changed while it was read: ask again' });
  }

  /** Rows of which an earlier one has the key. */
  twins(rows: Int32Array): readonly Twins[] {
    const key = this.context.pipeline.tables[0]?.key ?? [];
    const keyOf = this.keyOf(key);
    const seen = new Map<string, number>();
    const twins: Twins[] = [];
    for (const row of rows) {
      const text = keyOf(row);
      const first = seen.get(text);
      if (first === undefined) seen.set(text, row);
      else
        twins.push({
          rows: [first, row],
          reason: `expected rows with keys of their own, got two with ${this.named(key, row)}`,
        });
    }
    return twins;
  }

  /** The values of a row, with the names of their columns: `mc_seqno 5, workchain -1`. */
  private named(columns: readonly string[], row: number): string {
    return columns.map((name) => `${name} ${readableOf(this.decoder.column(name), row)}`).join(', ');
  }

  all(): Int32Array {
    return Int32Array.from({ length: this.decoder.records }, (_, row) => row);
  }
}

/** The value of a row as text; equal values have an equal text. */
export function textOf(column: AnyColumn): (row: number) => string {
  if (column instanceof BytesColumn) {
    return (row) =>
      column.isSet(row) ? column.bytes.toString('utf8', column.offsets[row], column.offsets[row + 1]) : '';
  }
  if (column instanceof WordsColumn) {
    const { width } = column;
    return (row) => (column.isSet(row) ? column.words.subarray(row * width, (row + 1) * width).join('.') : '');
  }
  return (row) => (column.isSet(row) ? String((((column.bits[row >> 3] as number) >> (row & 7)) & 1) === 1) : '');
}

/** The value of a row as people read it. */
function readableOf(column: AnyColumn, row: number): string {
  if (!column.isSet(row)) return 'null';
  if (!(column instanceof WordsColumn)) return textOf(column)(row);
  const { words, width } = column;
  const own = words.subarray(row * width, (row + 1) * width);
  return BigInt.asIntN(
    width * 32,
    own.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n),
  ).toString();
}

/** What a commit of a list needs beside its rows. */
export interface ListCommit {
  readonly span: Span;
  readonly verdict?: Verdict;
  /** Newest block before the rows were read, and after. */
  readonly asOf?: Span | undefined;
  readonly scope?: string | undefined;
  /** Default: nothing. */
  readonly proof?: ListProofKind;
  /** Entries that this one takes the place of, beside the quarantined ones inside its span. */
  readonly supersedes?: readonly string[];
}

/** Makes the staged rows visible, and tells of it. */
export async function commitList(context: ListContext, staged: StagedSpan, commit: ListCommit): Promise<void> {
  const { store, pipeline, network, meter, report } = context;
  const { span, verdict = 'sealed', asOf, scope, supersedes = [] } = commit;
  const proof = verdict === 'sealed' ? (commit.proof ?? 'none') : undefined;
  const isOfBlocks = pipeline.walk.kind === 'block' || pipeline.walk.kind === 'lt';
  const poor = store.ledger().filter(
    (entry) =>
      entry.pipeline === pipeline.name &&
      // Keys that a lookup has read stay, whatever else it lacked.
      (entry.verdict === 'quarantined' || isOfBlocks) &&
      !supersedes.includes(entry.id) &&
      givesWay(entry, span),
  );
  const entry = await store.commit(staged, {
    ...{
      network,
      pipeline: pipeline.name,
      version: pipeline.version,
      span,
      verdict,
      asOf,
      scope,
      proof,
      without: pipeline.leftOut,
      ...meter.take(),
    },
    supersedes: [...supersedes, ...poor.map(({ id }) => id)],
  });
  if (verdict !== 'sealed') return;
  report(spanEvent(entry));
  report({ event: 'progress', pipeline: pipeline.name, seqnos: spanSize(span), records: 0 });
}

/**
 * Puts records of a span that could not be decoded into the quarantine, and tells of them. It takes the place of the quarantine
 * before, and the next whole commit of the span takes its place.
 */
export async function quarantineSpan(context: ListContext, span: Span, refused: readonly RefusedRow[]): Promise<void> {
  const { store, pipeline, effects, report } = context;
  const { name } = pipeline;
  const seqno = span.from;
  const foundAt = Math.floor(effects.now() / 1000);
  const stage = store.stage(name, span);
  await stage.write(quarantineBatch(refused.map((record) => ({ pipeline: name, seqno, ...record, foundAt }))));
  await commitList(context, await stage.finish(), { span, verdict: 'quarantined' });
  for (const { pointer, reason } of refused) report({ event: 'quarantine', pipeline: name, seqno, pointer, reason });
}
