import type { BadBlock } from '../audit/reconcile.ts';
import { AuditError, DecodeError, TonlakeError } from '../core/errors.ts';
import { type Span, spanSize, subtractSpans } from '../core/span.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import { givesWay } from '../warehouse/ledger/done-spans.ts';
import type { StagedSpan, Verdict } from '../warehouse/store.ts';
import { halve } from './lt-windows.ts';
import { PAGE_ROWS, type PageRequest, requestOf } from './page-request.ts';
import { REPAIR_PAUSE_MS, REPAIRS } from './repair-rounds.ts';
import type { RequestMeter } from './request-meter.ts';
import type { PageReport, RefusedReport } from './span-loader.ts';
import type { SpanProof } from './span-proof.ts';
import { spanEvent, type WalkContext } from './walk-context.ts';
import type { Overflow, SpanLoaderPort } from './workers/loader-port.ts';

export interface SpanTaskOptions {
  readonly context: WalkContext;
  readonly span: Span;
  readonly loader: SpanLoaderPort;
  readonly proof: SpanProof;
  readonly asks: readonly PageRequest[];
  readonly meter: RequestMeter;
  readonly onEnd?: () => void;
}

/** Masterchain blocks that are not in, and why. */
export interface BlockProblem {
  readonly span: Span;
  readonly error: TonlakeError;
}

interface Refusal {
  readonly request: string;
  readonly records: readonly RefusedReport[];
}

/** One span from its requests to its commit. */
export class SpanTask {
  private readonly options: SpanTaskOptions;
  /** Why single blocks could not be had. */
  private readonly failures = new Map<number, TonlakeError>();
  private readonly refusals = new Map<number, Refusal>();
  /** Blocks of which a window held a record that could not be decoded. */
  private readonly suspects = new Set<number>();
  /** Why no block of the span can be trusted. */
  private distrust: DecodeError | undefined;

  constructor(options: SpanTaskOptions) {
    this.options = options;
  }

  /**
   * Fetches, proves, repairs and commits. Blocks that cannot be proven are left out; the rest of the span stays.
   *
   * @returns the blocks that could not be proven
   * @throws what made the source unusable, after everything that was proven by then is committed
   */
  async run(): Promise<readonly BlockProblem[]> {
    try {
      return await this.bringIn();
    } finally {
      this.options.loader.release();
      this.options.onEnd?.();
    }
  }

  private async bringIn(): Promise<readonly BlockProblem[]> {
    const { asks, span, context } = this.options;
    context.report({ event: 'planned', pipeline: context.pipeline.name, requests: asks.length });
    let fatal = await this.askAll(asks);
    if (this.distrust !== undefined) throw this.distrust;
    let bad = await this.audit();
    for (let round = 1; round <= REPAIRS && bad.length > 0 && fatal === undefined && !context.stop.aborted; round++) {
      // A block that is not indexed has been waited for already.
      const again = bad.filter(({ seqno }) => this.failures.get(seqno)?.code !== 'not-indexed');
      if (again.length === 0) break;
      if (round > 1) await context.effects.sleep(REPAIR_PAUSE_MS);
      fatal = await this.repair(again.map(({ seqno }) => seqno));
      bad = await this.audit();
    }
    await this.commit(bad);
    context.report({ event: 'progress', pipeline: context.pipeline.name, seqnos: spanSize(span), records: 0 });
    if (fatal !== undefined) throw fatal.error;
    return context.stop.aborted ? [] : this.settle(bad);
  }

  /** What the proof finds, and every block with a record that could not be decoded, whatever the proof says. */
  private async audit(): Promise<readonly BadBlock[]> {
    const { proof, span } = this.options;
    const bad = new Map((await proof.audit()).map((block) => [block.seqno, block]));
    for (const seqno of [...this.suspects, ...this.refusals.keys()]) {
      const isOwn = seqno >= span.from && seqno <= span.to;
      if (isOwn && !bad.has(seqno)) bad.set(seqno, { seqno, reason: 'expected records that can be decoded' });
    }
    return [...bad.values()];
  }

  private async askAll(asks: readonly PageRequest[]): Promise<{ readonly error: unknown } | undefined> {
    let fatal: { readonly error: unknown } | undefined;
    const { asks: queue, stop } = this.options.context;
    await Promise.all(
      asks.map((ask) =>
        queue.add(async () => {
          if (fatal !== undefined || stop.aborted) return;
          await this.ask(ask).catch((error: unknown) => {
            fatal ??= { error };
          });
        }),
      ),
    );
    return fatal;
  }

  private async repair(seqnos: readonly number[]): Promise<{ readonly error: unknown } | undefined> {
    const { loader, proof } = this.options;
    const asks: PageRequest[] = [];
    for (const seqno of seqnos) {
      await loader.drop(seqno);
      this.failures.delete(seqno);
      this.refusals.delete(seqno);
      this.suspects.delete(seqno);
      asks.push(...proof.repair(seqno));
    }
    return this.askAll(asks);
  }

  /** Asks for one page and loads it; what overflows is asked for in further pages. */
  private async ask(ask: PageRequest): Promise<void> {
    const { context, loader, proof } = this.options;
    const { source, pipeline } = context;
    const overflow = ask.kind === 'block' ? 'keep' : pipeline.walk.windows.order === 'total' ? 'cut' : 'refuse';
    let request = '';
    try {
      const report = await source.fetch(requestOf(pipeline, ask), async (answer) => {
        proof.see(ask, answer);
        request = answer.request;
        context.asks.learn(answer.body.length);
        return loader.add(answer.body, overflow);
      });
      this.note(ask, request, report);
      for (const rest of remainder(ask, report, overflow)) await this.ask(rest);
    } catch (error) {
      if (!isLocal(error)) throw error;
      if (ask.kind === 'block') this.failures.set(ask.seqno, error);
    }
  }

  private note(ask: PageRequest, request: string, report: PageReport): void {
    const { context } = this.options;
    const pipeline = context.pipeline.name;
    for (const [field, count] of report.unknown) context.report({ event: 'unknown-field', pipeline, field, count });
    context.report({ event: 'progress', pipeline, seqnos: 0, records: report.records });
    const { refused } = report;
    if (ask.kind === 'block') {
      if (refused.length > 0) this.refusals.set(ask.seqno, { request, records: refused });
      return;
    }
    // Their blocks are asked for by themselves.
    for (const { seqno, pointer, reason } of refused) {
      if (seqno !== undefined) this.suspects.add(seqno);
      // Counts tell which block lacks a transaction; links may not.
      else if (context.pipeline.walk.proof === 'links') {
        const message = `decode ${pipeline}: ${reason} at ${pointer} of ${request}, which tells no masterchain block`;
        this.distrust ??= new DecodeError(message, { code: 'wrong-shape' });
      }
    }
  }

  private async commit(bad: readonly BadBlock[]): Promise<void> {
    const { span, loader } = this.options;
    const good = subtractSpans(
      [span],
      bad.map(({ seqno }) => ({ from: seqno, to: seqno })),
    );
    const staged = await loader.finish(good);
    for (const [i, part] of good.entries()) await this.put(staged[i] as StagedSpan, part, 'sealed');
  }

  private async put(staged: StagedSpan, span: Span, verdict: Verdict): Promise<void> {
    const { context, meter, asks } = this.options;
    const { sink, pipeline, network, report } = context;
    const supersedes = sink
      .ledger()
      .filter((entry) => entry.pipeline === pipeline.name && givesWay(entry, span))
      .map((entry) => entry.id);
    const entry = await sink.commit(staged, {
      network,
      pipeline: pipeline.name,
      version: pipeline.version,
      span,
      verdict,
      without: pipeline.leftOut,
      supersedes,
      ...meter.take(),
      ...(verdict === 'sealed' && spanSize(span) === spanSize(this.options.span) ? { planned: asks.length } : {}),
    });
    if (verdict !== 'sealed') return;
    report(spanEvent(entry));
  }

  /** Refused records go to the quarantine; every other block that is not in is a problem, for the walk to tell. */
  private async settle(bad: readonly BadBlock[]): Promise<readonly BlockProblem[]> {
    const { name } = this.options.context.pipeline;
    const problems: BlockProblem[] = [];
    for (const { seqno, reason } of bad) {
      const refusal = this.refusals.get(seqno) ?? this.brokenPage(seqno);
      if (refusal !== undefined) await this.quarantine(seqno, refusal);
      else {
        const error = new AuditError(`audit ${name} ${seqno}: ${reason}`, { code: 'unbalanced' });
        problems.push({ span: { from: seqno, to: seqno }, error: this.failures.get(seqno) ?? error });
      }
    }
    return problems;
  }

  /** A page that was no JSON, however often it was asked for. */
  private brokenPage(seqno: number): Refusal | undefined {
    const error = this.failures.get(seqno);
    if (!(error instanceof DecodeError)) return undefined;
    const { path, query } = requestOf(this.options.context.pipeline, { kind: 'block', seqno, offset: 0 });
    const request = `GET ${path}?${query.map(([key, value]) => `${key}=${value}`).join('&')}`;
    const raw = String(error.cause ?? '');
    return { request, records: [{ pointer: '', reason: error.message, raw }] };
  }

  private async quarantine(seqno: number, { request, records }: Refusal): Promise<void> {
    const { context } = this.options;
    const pipeline = context.pipeline.name;
    const foundAt = Math.floor(context.effects.now() / 1000);
    const span = { from: seqno, to: seqno };
    const stage = context.sink.stage(pipeline, span);
    await stage.write(quarantineBatch(records.map((record) => ({ ...record, pipeline, seqno, request, foundAt }))));
    await this.put(await stage.finish(), span, 'quarantined');
    for (const { pointer, reason } of records)
      context.report({ event: 'quarantine', pipeline, seqno, pointer, reason });
  }
}

/** What a full page leaves to ask for. Nothing when its rows share one logical time: its blocks are then asked for singly. */
function remainder(ask: PageRequest, report: PageReport, overflow: Overflow): readonly PageRequest[] {
  if (ask.kind === 'block' || report.records < PAGE_ROWS) return [];
  const { window } = ask;
  if (overflow === 'refuse') return (halve(window) ?? []).map((half) => ({ kind: 'window', window: half }));
  const last = BigInt(report.lastLt ?? window.from);
  return last > window.from ? [{ kind: 'window', window: { from: last, to: window.to } }] : [];
}

/** A fault of single blocks, not of the source as a whole. */
function isLocal(error: unknown): error is TonlakeError {
  if (error instanceof DecodeError) return error.retryable;
  return error instanceof TonlakeError && error.code === 'not-indexed';
}
