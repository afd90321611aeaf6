import type { BadBlock } from '../audit/reconcile.ts';
import { AuditError, DecodeError, type TonlakeError } from '../core/errors.ts';
import { type Span, spanSize, subtractSpans, totalSize } from '../core/span.ts';
import { nameRequest } from '../http/request.ts';
import { commitSpan, quarantineSpan, reportProgress } from './commit-span.ts';
import { PageLoading, type RefusedRecord } from './page-loading.ts';
import type { RequestMeter } from './request-meter.ts';
import type { BlockProblem, Comparison, ProvableRows, Reading, SpanWalk } from './span-walk.ts';
import type { EngineContext } from './walk-context.ts';
import type { SpanLoaderPort, StagedRows } from './workers/loader-port.ts';

/** Attempts to fetch an incomplete block again, and the delay between them. */
const REPAIRS = 2;
const REPAIR_PAUSE_MS = 500;

/**
 * Fetches, proves, repairs and commits one span of a walk. Blocks that cannot be proven are left out.
 *
 * @param replaces entries that the span replaces: all of it is committed, or nothing
 * @returns what could not be fetched
 * @throws what made the source unusable, after committing what was proven by then
 */
export async function runSpan(
  context: EngineContext,
  meter: RequestMeter,
  walk: SpanWalk,
  replaces: readonly string[],
): Promise<readonly BlockProblem[]> {
  const loader = await context.loaders.take(context.pipeline);
  const task = new SpanTask(context, meter, walk, loader, replaces);
  let problems: readonly BlockProblem[] | 'halve';
  try {
    await loader.open(walk.span, walk.rows);
    problems = await task.run();
  } finally {
    await loader.release();
    walk.onEnd?.();
  }
  if (problems !== 'halve') return problems;
  const middle = Math.floor((walk.span.from + walk.span.to) / 2);
  const parts = [
    { from: walk.span.from, to: middle },
    { from: middle + 1, to: walk.span.to },
  ];
  const found: BlockProblem[] = [];
  for (const part of parts) {
    const half = walk.part?.(part);
    if (half !== undefined && !context.stop.aborted) found.push(...(await runSpan(context, meter, half, replaces)));
  }
  return found;
}

class SpanTask {
  private readonly context: EngineContext;
  private readonly meter: RequestMeter;
  private readonly walk: SpanWalk;
  private readonly loader: SpanLoaderPort;
  private readonly loading: PageLoading;
  private readonly rows: ProvableRows;
  private readonly replaces: readonly string[];

  constructor(
    context: EngineContext,
    meter: RequestMeter,
    walk: SpanWalk,
    loader: SpanLoaderPort,
    replaces: readonly string[],
  ) {
    this.context = context;
    this.meter = meter;
    this.walk = walk;
    this.loader = loader;
    this.replaces = replaces;
    this.loading = new PageLoading(context, walk, loader);
    this.rows = {
      links: (ends) => loader.links(ends),
      stage: (spans) => loader.stage(spans),
      fetch: (requests) => this.loading.fetchRound({ requests, count: requests.length }),
    };
  }

  async run(): Promise<readonly BlockProblem[] | 'halve'> {
    await this.loading.fetchPlanned();
    if (this.loading.distrust !== undefined) throw this.loading.distrust;
    const found = await this.settle();
    if (found !== 'halve') reportProgress(this.context, this.walk.span);
    if (this.loading.fatal !== undefined) throw this.loading.fatal.error;
    return found;
  }

  private settle(): Promise<readonly BlockProblem[] | 'halve'> {
    switch (this.walk.unit) {
      case 'block':
        return this.settleBlocks();
      case 'span':
        return this.settleSpan();
      case 'reading':
        return this.settleReading();
    }
  }

  /** Commits the good blocks, after requesting the others again. */
  private async settleBlocks(): Promise<readonly BlockProblem[]> {
    const { context, loading, walk } = this;
    let { bad, staged } = await this.prove(0);
    for (let round = 1; round <= REPAIRS && bad.length > 0 && !loading.isOver; round++) {
      // The request already waited for a block that is not indexed.
      const again = bad.filter(({ seqno }) => loading.failures.get(seqno)?.error.code !== 'not-indexed');
      if (again.length === 0) break;
      for (const rows of staged) await rows.discard();
      if (round > 1) await context.effects.sleep(REPAIR_PAUSE_MS);
      for (const { seqno } of again) await loading.forget(seqno);
      const requests = again.flatMap(({ seqno }) => walk.repair?.(seqno) ?? []);
      await loading.fetchRound({ requests, count: requests.length });
      ({ bad, staged } = await this.prove(round));
    }
    await this.commitParts(this.goodParts(bad), staged);
    return context.stop.aborted ? [] : this.problemsOf(bad);
  }

  private goodParts(bad: readonly BadBlock[]): readonly Span[] {
    return subtractSpans(
      [this.walk.span],
      bad.map(({ seqno }) => ({ from: seqno, to: seqno })),
    );
  }

  /** Audits the rows; compares them only if nothing is left to repair. */
  private async prove(round: number): Promise<Comparison> {
    const bad = await this.audit();
    if (this.walk.compare === undefined) return { bad, staged: [] };
    if (bad.length > 0 && round < REPAIRS && !this.loading.isOver) return { bad, staged: [] };
    const { bad: more, staged } = await this.walk.compare(this.rows, this.goodParts(bad));
    return { bad: [...bad, ...more], staged };
  }

  /** Blocks that fail the audit, did not come, or have a record that cannot be decoded. */
  private async audit(): Promise<readonly BadBlock[]> {
    const { loading, walk, loader } = this;
    const found = [...(await loader.audit()), ...((await walk.audit?.(this.rows)) ?? [])];
    const bad = new Map(found.map((block) => [block.seqno, block]));
    const accuse = (seqno: number, reason: string): void => {
      const isOwn = seqno >= walk.span.from && seqno <= walk.span.to;
      if (isOwn && !bad.has(seqno)) bad.set(seqno, { seqno, reason });
    };
    for (const seqno of [...loading.suspects, ...loading.refusals.keys()]) {
      if (seqno !== undefined) accuse(seqno, 'expected records that can be decoded');
    }
    // Unique keys do not show that a block is missing.
    if (walk.rows.audit.kind === 'keys') {
      for (let seqno = walk.span.from; seqno <= walk.span.to; seqno++) {
        if (!loading.answered.has(seqno)) accuse(seqno, 'expected its rows, got no answer');
      }
    }
    return [...bad.values()];
  }

  /** @param ready staged rows of some or all parts */
  private async commitParts(parts: readonly Span[], ready: readonly StagedRows[]): Promise<void> {
    const { walk, loader } = this;
    // After half a replacement, the rows of the other half would be there twice.
    const isWhole = totalSize(parts) === spanSize(walk.span);
    const wanted = this.replaces.length > 0 && !isWhole ? [] : parts;
    const isIn = ({ from, to }: Span, spans: readonly Span[]): boolean =>
      spans.some((span) => span.from === from && span.to === to);
    const [kept, unfit] = [
      ready.filter(({ span }) => isIn(span, wanted)),
      ready.filter(({ span }) => !isIn(span, wanted)),
    ];
    for (const rows of unfit) await rows.discard();
    const readySpans = kept.map(({ span }) => span);
    const staged = [...kept, ...(await loader.finish(wanted.filter((part) => !isIn(part, readySpans))))];
    for (const rows of staged.sort((a, b) => a.span.from - b.span.from)) await this.commit(rows);
  }

  private async commit({ span, staged, discard }: StagedRows): Promise<void> {
    const { context, meter, walk } = this;
    try {
      const terms = await walk.entry(span, this.reading());
      if (terms === undefined) await discard();
      else {
        const supersedes = [...(terms.supersedes ?? []), ...this.replaces];
        await commitSpan(context, meter, staged, { ...terms, supersedes });
      }
    } catch (error) {
      await discard();
      throw error;
    }
  }

  private reading(): Reading {
    return { refused: this.loading.refused.length, isStopped: this.context.stop.aborted };
  }

  /** Quarantines refused records. Every other bad block is a problem, which the caller reports. */
  private async problemsOf(bad: readonly BadBlock[]): Promise<readonly BlockProblem[]> {
    const { context, meter, loading } = this;
    const problems: BlockProblem[] = [];
    for (const { seqno, reason, code = 'unbalanced' } of bad) {
      const refused = loading.refusals.get(seqno) ?? this.brokenPage(seqno);
      const span = { from: seqno, to: seqno };
      if (refused !== undefined) await quarantineSpan(context, meter, span, refused);
      else {
        const error = new AuditError(`audit ${context.pipeline.name} ${seqno}: ${reason}`, { code });
        problems.push({ span, error: loading.failures.get(seqno)?.error ?? error });
      }
    }
    return problems;
  }

  /** The page of a block that was not JSON in any attempt. */
  private brokenPage(seqno: number): readonly RefusedRecord[] | undefined {
    const failure = this.loading.failures.get(seqno);
    if (!(failure?.error instanceof DecodeError)) return undefined;
    const { http, error } = failure;
    const request = decodeURIComponent(nameRequest(http));
    return [{ request, pointer: '', reason: error.message, raw: String(error.cause ?? '') }];
  }

  /** Commits the whole span, or splits it; a single block becomes a problem or goes to the quarantine. */
  private async settleSpan(): Promise<readonly BlockProblem[] | 'halve'> {
    const { context, meter, walk, loading } = this;
    if (loading.isOver) return [];
    const { refused } = loading;
    let error = loading.failure;
    if (error === undefined && refused.length === 0) error = await this.commitSound();
    if (error === undefined && refused.length === 0) return [];
    const isReplacing = this.replaces.length > 0;
    if (spanSize(walk.span) > 1 && !isReplacing) return 'halve';
    if (error !== undefined) return [{ span: walk.span, error }];
    // A replacement covers all of the entry.
    if (!isReplacing) await quarantineSpan(context, meter, walk.span, refused);
    return [];
  }

  /** Commits the rows of the span if they are good. @returns what is wrong with them */
  private async commitSound(): Promise<TonlakeError | undefined> {
    const { walk, loader, loading, context } = this;
    let [bad] = await loader.audit();
    let staged: readonly StagedRows[] = [];
    if (bad === undefined && walk.compare !== undefined) {
      const comparison = await walk.compare(this.rows, [walk.span]);
      [bad] = comparison.bad;
      staged = comparison.staged;
    }
    if (loading.failure !== undefined || loading.isOver) {
      for (const rows of staged) await rows.discard();
      return loading.failure;
    }
    if (bad !== undefined) {
      const { from, to } = walk.span;
      const where = from === to ? `${from}` : `${from}:${to}`;
      return new AuditError(`audit ${context.pipeline.name} ${where}: ${bad.reason}`, {
        code: bad.code ?? 'unbalanced',
      });
    }
    for (const rows of staged.length > 0 ? staged : await loader.finish([walk.span])) await this.commit(rows);
    return undefined;
  }

  /** Commits what was read, complete or not. */
  private async settleReading(): Promise<readonly BlockProblem[]> {
    const { context, meter, walk, loader, loading } = this;
    if (loading.fatal !== undefined) return [];
    const reading = this.reading();
    const terms = await walk.entry(walk.span, reading);
    if (terms !== undefined) {
      await loading.forgetIncomplete();
      const [rows] = await loader.finish([walk.span], walk.more?.());
      try {
        if (rows !== undefined) await commitSpan(context, meter, rows.staged, terms);
      } catch (error) {
        await rows?.discard();
        throw error;
      }
    }
    const { refused } = loading;
    if (refused.length > 0) await quarantineSpan(context, meter, walk.span, refused);
    await walk.onCommitted?.(reading);
    return [];
  }
}
