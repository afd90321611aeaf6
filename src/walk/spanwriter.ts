import { Decoder, type Mark } from '../flatten/decoder.ts';
import { type Quarantined, quarantineBatch } from '../flatten/quarantine.ts';
import type { Span } from '../span.ts';
import type { LedgerEntry, Stage, Verdict } from '../store/store.ts';
import type { WalkContext } from './context.ts';

/** Decoded bytes after which rows move from memory to the stage. */
const FLUSH_BYTES = 16 * 1024 * 1024;

/**
 * Collects consecutive masterchain blocks into spans and commits each as it reaches its limits. Encoding and commit of one span
 * overlap with loading the next; a third waits.
 */
export class SpanWriter {
  readonly decoder: Decoder;
  private readonly context: WalkContext;
  private span: Span | undefined;
  private stage: Stage | undefined;
  private records = 0;
  private openedAt = 0;
  private committing: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;
  private counted: { readonly requests: number; readonly retries: number };

  constructor(context: WalkContext) {
    this.context = context;
    this.decoder = new Decoder(context.pipeline);
    this.counted = context.source.counts;
  }

  /** Gets ready for the rows of a block: ends the open span when the block does not follow it. Blocks come in ascending order. */
  async begin(seqno: number): Promise<Mark> {
    if (this.span !== undefined && seqno !== this.span.to + 1) await this.close();
    return this.decoder.mark();
  }

  /** Accepts the rows that were decoded since `begin`. */
  async add(seqno: number, records: number): Promise<void> {
    this.openedAt = this.span === undefined ? this.context.effects.monotonic() : this.openedAt;
    this.span = { from: this.span?.from ?? seqno, to: seqno };
    this.records += records;
    if (this.decoder.byteSize >= FLUSH_BYTES) await this.flush();
    if (this.isFull(this.span)) await this.close();
  }

  private isFull(span: Span): boolean {
    const { limits, effects } = this.context;
    return (
      span.to - span.from + 1 >= limits.seqnos ||
      this.records >= limits.records ||
      effects.monotonic() - this.openedAt >= limits.ms
    );
  }

  private async flush(): Promise<void> {
    const { sink, pipeline } = this.context;
    this.stage ??= sink.stage(pipeline.name, this.span as Span);
    for (const batch of this.decoder.batches()) await this.stage.write(batch);
    this.decoder.clear();
  }

  /** Ends the span, if there is one, and hands it to the commit. */
  async close(): Promise<void> {
    const { span } = this;
    if (span === undefined) return;
    await this.flush();
    const stage = this.stage as Stage;
    this.span = undefined;
    this.stage = undefined;
    this.records = 0;
    await this.settled();
    this.committing = this.commit(stage, span, 'counted').catch((error: unknown) => {
      this.failure ??= { error };
    });
  }

  /** Puts records that could not be decoded into the quarantine, as an entry of their own that does not count as done. */
  async quarantine(seqno: number, records: readonly Quarantined[]): Promise<void> {
    await this.close();
    await this.settled();
    const span = { from: seqno, to: seqno };
    const stage = this.context.sink.stage(this.context.pipeline.name, span);
    await stage.write(quarantineBatch(records));
    await this.commit(stage, span, 'quarantined');
  }

  /** Commits what is open and waits until everything is on disk. */
  async end(): Promise<void> {
    await this.close();
    await this.settled();
  }

  /** Forgets what is open; what was committed stays. */
  async abandon(): Promise<void> {
    await this.committing;
    await this.stage?.discard();
    this.stage = undefined;
    this.span = undefined;
    this.decoder.clear();
  }

  private async settled(): Promise<void> {
    await this.committing;
    if (this.failure !== undefined) throw this.failure.error;
  }

  private async commit(stage: Stage, span: Span, verdict: Verdict): Promise<void> {
    const { sink, pipeline, network, source, report } = this.context;
    const staged = await stage.finish().catch(async (error: unknown) => {
      await stage.discard();
      throw error;
    });
    const { requests, retries } = source.counts;
    const entry = await sink.commit(staged, {
      network,
      pipeline: pipeline.name,
      version: pipeline.version,
      span,
      verdict,
      requests: requests - this.counted.requests,
      retries: retries - this.counted.retries,
      supersedes: replacedBy(sink.ledger(), pipeline.name, span),
    });
    this.counted = { requests, retries };
    if (verdict === 'counted') {
      const rows = Object.fromEntries(Object.entries(entry.tables).map(([table, { rows }]) => [table, rows]));
      report({ event: 'span', pipeline: pipeline.name, from: span.from, to: span.to, rows, requests: entry.requests });
    }
  }
}

/** Ids of the quarantined entries that a span makes good. */
function replacedBy(ledger: readonly LedgerEntry[], pipeline: string, span: Span): readonly string[] {
  return ledger
    .filter(
      (entry) =>
        entry.pipeline === pipeline &&
        entry.verdict === 'quarantined' &&
        entry.span.from >= span.from &&
        entry.span.to <= span.to,
    )
    .map((entry) => entry.id);
}
