import { TransformStream } from 'node:stream/web';
import type { RecordBatch } from 'apache-arrow';
import type { Header } from '../chain/headers.ts';
import { WalkError } from '../core/errors.ts';
import { type Span, unionSpans } from '../core/span.ts';
import { ROLES } from '../declare/roles.ts';
import { toRecordBatch } from '../decode/arrow.ts';
import type { Batch } from '../decode/batch.ts';
import type { Query } from '../sql/query-result.ts';
import type { Stage, StagedSpan } from '../warehouse/index.ts';
import type { SpanSink } from './walk-context.ts';

/** Rows of one table. */
export interface BatchOf {
  readonly table: string;
  readonly batch: RecordBatch;
}

/** Passes batches of proven rows to a consumer, one at a time: the walk waits until the consumer reads on. */
export class BatchQueue {
  private readonly known = new Map<number, readonly Header[]>();
  private readonly stream = new TransformStream<BatchOf, BatchOf>();
  private readonly writer = this.stream.writable.getWriter();
  private count = 0;
  private readonly now: () => number;
  private readonly query: Query;

  /** @param query queries an empty warehouse */
  constructor(now: () => number, query: Query) {
    this.now = now;
    this.query = query;
  }

  /** All batches, to be read once; ends with the walk, or with its error. */
  async *batches(walking: Promise<void>): AsyncGenerator<BatchOf> {
    const { writer } = this;
    // A consumer that stops ends the stream first.
    walking
      .then(
        () => writer.close(),
        (error: unknown) => writer.abort(error),
      )
      .catch(() => undefined);
    yield* this.stream.readable;
  }

  /** A sink of rows for the consumer, or of headers that only prove other rows. */
  sink(isForConsumer: boolean): SpanSink {
    return {
      stage: () => this.stage(isForConsumer),
      commit: async (staged, draft) => {
        const committedAt = new Date(this.now()).toISOString();
        return { format: 1, number: this.count, id: staged.id, tables: staged.tables, committedAt, ...draft };
      },
      rewrite: noWarehouse,
      ledger: () => [],
      query: this.query,
      rows: (role) => ROLES[role].relation,
      isQueryable: false,
      headers: async (span) => this.headers(span),
      transactions: async () => [],
    };
  }

  /** The blocks of a span with known headers. */
  spansOf({ from, to }: Span): readonly Span[] {
    const seqnos = [...this.known.keys()].filter((seqno) => seqno >= from && seqno <= to);
    return unionSpans(seqnos.map((seqno) => ({ from: seqno, to: seqno })));
  }

  private stage(isForConsumer: boolean): Stage {
    const id = String(++this.count);
    const headers = new Map<number, Header[]>();
    const tables: Record<string, StagedSpan['tables'][string]> = {};
    return {
      write: async (batch) => {
        if (batch.table.plays === 'headers') addHeaders(batch, headers);
        if (isForConsumer && batch.rows > 0)
          await this.writer.write({ table: batch.table.name, batch: toRecordBatch(batch) });
        const rows = (tables[batch.table.name]?.rows ?? 0) + batch.rows;
        tables[batch.table.name] = { rows, keyHash: '0', sums: {}, schema: '', files: [], isSorted: false };
        return { bytes: 0, isUniform: true, growing: [] };
      },
      grow: async () => {},
      finish: async () => {
        for (const [seqno, list] of headers) this.known.set(seqno, list);
        return { id, tables };
      },
      discard: async () => {},
    };
  }

  /** The known headers of a span. Forgets older ones: spans come in order. */
  private headers(span: Span): ReadonlyMap<number, readonly Header[]> {
    for (const seqno of this.known.keys()) if (seqno < span.from) this.known.delete(seqno);
    return new Map([...this.known].filter(([seqno]) => seqno <= span.to));
  }
}

/** For operations that need a warehouse. @throws {WalkError} */
export function noWarehouse(): never {
  throw new WalkError('walk: expected no comparison without a warehouse');
}

function addHeaders(batch: Batch, headers: Map<number, Header[]>): void {
  const rows = toRecordBatch(batch);
  for (let row = 0; row < batch.rows; row++) {
    const cell = (name: string): unknown => rows.getChild(name)?.get(row);
    const mcSeqno = Number(cell('mc_block_seqno'));
    const list = headers.get(mcSeqno) ?? [];
    list.push({
      workchain: Number(cell('workchain')),
      shard: String(cell('shard')),
      seqno: Number(cell('seqno')),
      mcSeqno,
      txCount: Number(cell('tx_count')),
      startLt: BigInt(String(cell('start_lt'))),
      endLt: BigInt(String(cell('end_lt'))),
      utime: Number(cell('gen_utime')),
    });
    headers.set(mcSeqno, list);
  }
}
