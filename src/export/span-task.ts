import type { BadBlock } from '../audit/reconcile.ts';
import { AuditError, DecodeError, SourceError } from '../core/errors.ts';
import { formatSpan, halvesOf, haveCommon, type Span, spanSize, subtractSpans, unionSpans } from '../core/span.ts';
import { nameRequest } from '../http/request.ts';
import type { NewestRule, Stage, StagedSpan } from '../warehouse/index.ts';
import { commitSpan, quarantineSpan, reportProgress } from './commit-span.ts';
import { isHeavy } from './heavy-requests.ts';
import type { OpenCommit } from './open-commit.ts';
import { isWrong, PageLoading, type RefusedRecord, type WalkFailures } from './page-loading.ts';
import type { RequestMeter } from './request-meter.ts';
import type { EngineContext } from './run-context.ts';
import { CONTENT } from './span-loader.ts';
import type { SpanTurn } from './span-order.ts';
import {
  type BlockProblem,
  blocksOf,
  type ProvableRows,
  type Reading,
  type ScratchRows,
  type SpanWalk,
} from './span-walk.ts';
import type { SpanLoaderPort } from './workers/loader-port.ts';

/** Maximum number of times that a block is walked again, and the delay between these attempts. */
const ATTEMPTS = { block: 2, content: 1 } as const;
const PAUSE_MS = 500;

/** `proof` of an entry whose rows contradict themselves. */
const CONTRADICTED = 'contradicted';

/** Shared parts of a walk, with the turn and the loader of one span. */
export interface SpanRun extends WalkFailures {
  readonly context: EngineContext;
  readonly meter: RequestMeter;
  readonly commits: OpenCommit;
  readonly turn: SpanTurn;
  readonly loader: SpanLoaderPort;
}

/** A walk of a span, and the number of earlier attempts. */
interface Attempt {
  readonly walk: SpanWalk;
  readonly tries: number;
  /** Hashes of account states that earlier attempts lacked, though rows of other blocks have them. */
  readonly knownStates?: readonly string[];
}

/** Result of an attempt. */
interface AttemptResult {
  readonly problems: readonly BlockProblem[];
  /** Parts of the span to walk again. */
  readonly again: readonly Attempt[];
}

const EMPTY_RESULT: AttemptResult = { problems: [], again: [] };

/**
 * Fetches, proves and commits one span of a walk, and releases the loader. Blocks that cannot be proven are walked again, and left out if
 * they fail again.
 *
 * @returns blocks that could not be exported
 * @throws the error that made the source unusable, after committing the proven blocks
 */
export async function runSpan(run: SpanRun, whole: SpanWalk): Promise<readonly BlockProblem[]> {
  const { context, loader } = run;
  const problems: BlockProblem[] = [];
  const attempts: Attempt[] = [{ walk: whole, tries: 0 }];
  try {
    if (isDoneByRival(run, whole)) return [];
    for (let attempt = attempts.shift(); attempt !== undefined; attempt = attempts.shift()) {
      const { walk } = attempt;
      if (walk !== whole && context.stop.aborted) break;
      try {
        // Requests are sent while the worker starts. If it cannot start, adding a page fails with the same error.
        const opened = loader.open(walk.span, walk.rows);
        opened.catch(() => {});
        const settled = await new SpanTask(run, attempt).run();
        await opened;
        problems.push(...settled.problems);
        attempts.unshift(...settled.again);
      } finally {
        walk.onEnd?.();
      }
    }
  } finally {
    await loader.release();
  }
  return problems;
}

/** True if another writer has committed the blocks of the span; then reports it. */
function isDoneByRival({ context }: SpanRun, walk: SpanWalk): boolean {
  const { pipeline, sink, report } = context;
  const isDone = blocksOf(walk).every((span) => sink.isRivalled?.(pipeline.name, span) === true);
  if (!isDone || walk.isReading === true) return false;
  report({ event: 'rival', pipeline: pipeline.name, from: walk.span.from, to: walk.span.to });
  reportProgress(context, blocksOf(walk));
  walk.onEnd?.();
  return true;
}

class SpanTask {
  private readonly shared: SpanRun;
  private readonly context: EngineContext;
  private readonly walk: SpanWalk;
  private readonly attempt: Attempt;
  private readonly loader: SpanLoaderPort;
  private readonly loading: PageLoading;
  private readonly rows: ProvableRows;
  /** Stage of a reading, and the number of flushes because it became too large for memory. */
  private aside: Stage | undefined;
  private flushes = 0;

  constructor(run: SpanRun, attempt: Attempt) {
    const { context, loader } = run;
    this.shared = run;
    this.context = context;
    this.walk = attempt.walk;
    this.attempt = attempt;
    this.loader = loader;
    this.loading = new PageLoading(context, attempt.walk, loader, () => this.flush(), run);
    this.rows = {
      signal: this.loading.over,
      answered: this.loading.answered,
      links: (span, ends) => loader.links(span, ends),
      stage: (part) => this.stageScratch(part),
      fetch: (requests) => this.loading.fetchRound({ requests, count: requests.length }),
    };
  }

  async run(): Promise<AttemptResult> {
    try {
      await this.loading.fetchPlanned();
      if (this.loading.distrust !== undefined) throw this.loading.distrust;
      const settled = await this.settle();
      const open = settled.again.flatMap(({ walk }) => blocksOf(walk));
      reportProgress(this.context, subtractSpans(blocksOf(this.walk), open));
      if (this.loading.fatal !== undefined) throw this.loading.fatal.error;
      return settled;
    } finally {
      await this.aside?.discard();
    }
  }

  /** After a failure or a stop, blocks that need further requests to be proven stay missing. */
  private async settle(): Promise<AttemptResult> {
    try {
      return await (this.walk.isReading === true ? this.settleReading() : this.settleSpan());
    } catch (error) {
      const { over } = this.loading;
      if (over.aborted && (error === over.reason || error instanceof SourceError)) return EMPTY_RESULT;
      throw error;
    }
  }

  /** True if rows have blocks, so that each block can be proven by itself. */
  private get isByBlock(): boolean {
    return this.walk.rows.block !== undefined;
  }

  /** Commits the proven blocks. Walks others again if another attempt may prove them. */
  private async settleSpan(): Promise<AttemptResult> {
    const { context, walk, loading } = this;
    if (!this.isByBlock && loading.isOver) return EMPTY_RESULT;
    const bad = await this.prove();
    if (!this.isByBlock && loading.isOver) return EMPTY_RESULT;
    const open = walk.part === undefined ? [] : bad.filter((each) => this.isWorthAnother(each));
    const rest = bad.filter((each) => !open.includes(each));
    // Headers prove the rows of these blocks, but content contradicts itself: they are stored, and unproven.
    const contradicted = rest.filter(({ code }) => code === CONTENT);
    this.reportContradicted(contradicted);
    await this.commitParts(subtractSpans(blocksOf(walk), this.spansOf(bad)), this.spansOf(contradicted));
    const problems = await this.problemsOf(rest.filter(({ code }) => code !== CONTENT));
    return { problems: context.stop.aborted ? [] : problems, again: await this.walkAgain(open) };
  }

  /** False for blocks without attempts left, and for failures that were already retried. */
  private isWorthAnother({ seqno, code }: BadBlock): boolean {
    const { loading, walk } = this;
    if (loading.isOver) return false;
    if (!this.isByBlock) return spanSize(walk.span) > 1;
    const error = loading.failures.get(seqno)?.error;
    if (error !== undefined && (error.code === 'not-indexed' || isHeavy(error) || isWrong(error))) return false;
    return this.attempt.tries < (code === CONTENT ? ATTEMPTS.content : ATTEMPTS.block);
  }

  /** Walks bad blocks again, each by its own requests; rows without blocks span by span, then in halves, down to one block. */
  private async walkAgain(open: readonly BadBlock[]): Promise<readonly Attempt[]> {
    const { context, walk } = this;
    const { tries, knownStates = [] } = this.attempt;
    if (open.length === 0 || walk.part === undefined) return [];
    if (!this.isByBlock) {
      const parts = blocksOf(walk).length > 1 ? this.spansOf(open) : halvesOf(walk.span);
      const walks = await Promise.all(parts.map((part) => walk.part?.([part])));
      return walks.flatMap((part) => (part === undefined ? [] : [{ walk: part, tries }]));
    }
    if (tries > 0) await context.effects.sleep(PAUSE_MS);
    const lacking = open.flatMap(({ states = [] }) => states);
    return [{ walk: await walk.part(this.spansOf(open)), tries: tries + 1, knownStates: [...knownStates, ...lacking] }];
  }

  /** The bad blocks; for rows without blocks, the whole spans around them. */
  private spansOf(bad: readonly BadBlock[]): readonly Span[] {
    if (!this.isByBlock) {
      return blocksOf(this.walk).filter(({ from, to }) => bad.some(({ seqno }) => seqno >= from && seqno <= to));
    }
    return unionSpans(bad.map(({ seqno }) => ({ from: seqno, to: seqno })));
  }

  private reportContradicted(blocks: readonly BadBlock[]): void {
    const { pipeline, report } = this.context;
    for (const { seqno, reason } of blocks) {
      const message = `audit ${pipeline.name} ${seqno}: ${reason}`;
      report({ event: 'problem', pipeline: pipeline.name, from: seqno, to: seqno, code: CONTENT, message });
    }
  }

  /** Audits the rows, and compares those that pass. Parts with a wrong block are compared again without its rows. */
  private async prove(): Promise<readonly BadBlock[]> {
    const { walk } = this;
    const bad = [...(this.isByBlock ? await this.auditBlocks() : await this.auditWhole())];
    if (walk.compare === undefined) return bad;
    let parts = subtractSpans(blocksOf(walk), this.spansOf(bad));
    while (parts.length > 0) {
      const found = [...(await walk.compare(this.rows, parts)), ...this.failureOfAll()];
      bad.push(...found);
      const wrong = this.spansOf(found);
      parts = subtractSpans(
        parts.filter((part) => haveCommon([part], wrong)),
        wrong,
      );
    }
    return bad;
  }

  /** Blocks that fail the audit, were not answered, or have a record that cannot be decoded. */
  private async auditBlocks(): Promise<readonly BadBlock[]> {
    const { loading, walk, loader } = this;
    const found = [
      ...(await loader.audit(this.context.content(), this.attempt.knownStates)),
      ...((await walk.audit?.(this.rows)) ?? []),
    ];
    const isOwn = (seqno: number): boolean => blocksOf(walk).some(({ from, to }) => seqno >= from && seqno <= to);
    const bad = new Map(found.filter(({ seqno }) => isOwn(seqno)).map((block) => [block.seqno, block]));
    const accuse = (seqno: number, reason: string): void => {
      if (isOwn(seqno) && !bad.has(seqno)) bad.set(seqno, { seqno, reason });
    };
    for (const [seqno, { error }] of loading.failures) accuse(seqno, error.message);
    for (const seqno of [...loading.suspects, ...loading.refusals.keys()]) {
      if (seqno !== undefined) accuse(seqno, 'expected records that can be decoded');
    }
    // Unique keys do not show that a block is missing.
    if (walk.rows.audit.kind === 'keys') {
      for (let seqno = walk.span.from; seqno <= walk.span.to; seqno++) {
        if (!loading.answered.has(seqno) && walk.answered?.has(seqno) !== true)
          accuse(seqno, 'expected its rows, got no answer');
      }
    }
    return [...bad.values()];
  }

  /** Audits rows without blocks. */
  private async auditWhole(): Promise<readonly BadBlock[]> {
    const failed = this.failureOfAll();
    if (failed.length > 0) return failed;
    const [bad] = await this.loader.audit(this.context.content());
    return bad === undefined ? [] : blocksOf(this.walk).map(({ from: seqno }) => ({ ...bad, seqno }));
  }

  /** All blocks, if rows have no blocks and a request failed or had a record that cannot be decoded. */
  private failureOfAll(): readonly BadBlock[] {
    const { loading, walk } = this;
    if (this.isByBlock) return [];
    const reason =
      loading.failure?.message ?? (loading.refused.length > 0 ? 'expected records that can be decoded' : '');
    return reason === '' ? [] : blocksOf(walk).map(({ from: seqno }) => ({ seqno, reason }));
  }

  private async commitParts(good: readonly Span[], contradicted: readonly Span[]): Promise<void> {
    const { walk, loader } = this;
    const { commits, turn } = this.shared;
    const parts = [...good, ...contradicted].sort((a, b) => a.from - b.from);
    for (const part of parts) {
      const terms = await walk.entry(part, this.reading());
      if (terms === undefined) continue;
      const content = await loader.contentOf(part);
      const proof = contradicted.includes(part) ? CONTRADICTED : terms.proof;
      await commits.append(turn, { ...terms, proof, content }, (stage) =>
        loader.write(part, stage, walk.rowsOf?.(part)),
      );
    }
  }

  /** Rows of a part in files, for a query. */
  private async stageScratch(part: Span): Promise<ScratchRows> {
    const { loaders, pipeline } = this.context;
    const stage = loaders.scratch(pipeline);
    const discard = (): Promise<void> => stage.discard();
    try {
      await this.loader.write(part, stage, this.walk.rowsOf?.(part));
      return { staged: await stage.finish(), discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  private reading(): Reading {
    return { refused: this.loading.refused.length, isStopped: this.context.stop.aborted };
  }

  /** Quarantines refused records, and returns the other bad blocks as problems. */
  private async problemsOf(bad: readonly BadBlock[]): Promise<readonly BlockProblem[]> {
    const { context, loading } = this;
    if (!this.isByBlock) return this.problemOfAll(bad);
    const problems: BlockProblem[] = [];
    for (const { seqno, reason, code = 'unbalanced' } of bad) {
      const refused = loading.refusals.get(seqno) ?? this.brokenPage(seqno);
      const span = { from: seqno, to: seqno };
      if (refused !== undefined) await quarantineSpan(context, this.shared.meter, span, refused);
      else {
        const error = new AuditError(`audit ${context.pipeline.name} ${seqno}: ${reason}`, { code });
        problems.push({ span, error: loading.failures.get(seqno)?.error ?? error });
      }
    }
    return problems;
  }

  private async problemOfAll([first]: readonly BadBlock[]): Promise<readonly BlockProblem[]> {
    const { context, loading, walk } = this;
    const { failure, refused } = loading;
    if (first === undefined) return [];
    if (failure === undefined && refused.length > 0) {
      await quarantineSpan(context, this.shared.meter, walk.span, refused);
      return [];
    }
    const message = `audit ${context.pipeline.name} ${formatSpan(walk.span)}: ${first.reason}`;
    return [{ span: walk.span, error: failure ?? new AuditError(message, { code: first.code ?? 'unbalanced' }) }];
  }

  /** The page of a block that was not JSON in any attempt. */
  private brokenPage(seqno: number): readonly RefusedRecord[] | undefined {
    const failure = this.loading.failures.get(seqno);
    if (!(failure?.error instanceof DecodeError)) return undefined;
    const { http, error } = failure;
    const request = decodeURIComponent(nameRequest(http));
    return [{ request, pointer: '', reason: error.message, raw: String(error.cause ?? '') }];
  }

  /** Commits a reading, complete or not. */
  private async settleReading(): Promise<AttemptResult> {
    const { context, walk, loading } = this;
    const { meter } = this.shared;
    if (loading.fatal !== undefined) return EMPTY_RESULT;
    const reading = this.reading();
    const terms = await walk.entry(walk.span, reading);
    if (terms !== undefined) {
      await loading.forgetIncomplete();
      await commitSpan(context, meter, await this.stageReading(), terms);
      this.aside = undefined;
    }
    const { refused } = loading;
    if (refused.length > 0) await quarantineSpan(context, meter, walk.span, refused);
    await walk.onCommitted?.(reading);
    return EMPTY_RESULT;
  }

  /** Moves the rows of a reading from memory to its stage. */
  private async flush(): Promise<void> {
    this.flushes++;
    await this.loader.flush(this.stageAside());
  }

  private async stageReading(): Promise<StagedSpan> {
    const { walk, loader } = this;
    const stage = this.stageAside();
    await loader.write(walk.span, stage);
    for (const batch of walk.more?.() ?? []) await stage.write(batch);
    return stage.finish({ newest: this.newestRule() });
  }

  private stageAside(): Stage {
    const { loaders, pipeline } = this.context;
    this.aside ??= loaders.stage(pipeline, this.walk.span);
    return this.aside;
  }

  /** For a list that was flushed: selects the newest row of each key, if the rules say so. */
  private newestRule(): Readonly<Record<string, NewestRule>> {
    const { copies } = this.walk.rows;
    const [table] = this.context.pipeline.tables;
    if (this.flushes === 0 || copies === undefined || table === undefined) return {};
    return { [table.name]: { key: copies.key, column: copies.column } };
  }
}
