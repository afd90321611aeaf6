import type { BadBlock } from '../audit/reconcile.ts';
import { AuditError, DecodeError, SourceError, type TonlakeError } from '../core/errors.ts';
import { type Span, spanSize, subtractSpans, totalSize } from '../core/span.ts';
import { nameRequest } from '../http/request.ts';
import type { NewestRule, Stage, StagedSpan } from '../warehouse/index.ts';
import { commitSpan, quarantineSpan, reportProgress } from './commit-span.ts';
import { isHeavy } from './heavy-requests.ts';
import type { OpenCommit } from './open-commit.ts';
import { type Failure, type GivingUp, isWrong, PageLoading, type RefusedRecord } from './page-loading.ts';
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

/** How often an incomplete block is fetched again, and the delay between these attempts. */
const REPAIRS = 2;
const REPAIR_PAUSE_MS = 500;
/** Maximum rounds of repairs in a span, whose audits take time: a repaired block may show that the next one is incomplete. */
const REPAIR_ROUNDS = 8;

/** `proof` of an entry whose rows contradict themselves. */
const CONTRADICTED = 'contradicted';

/** What the spans of a walk share, and what one of them has. */
export interface SpanRun extends GivingUp {
  readonly context: EngineContext;
  readonly meter: RequestMeter;
  readonly commits: OpenCommit;
  readonly turn: SpanTurn;
  readonly loader: SpanLoaderPort;
  /** Entries that the span replaces: all of it is committed, or nothing. */
  readonly replaces: readonly string[];
}

/**
 * Fetches, proves, repairs and commits one span of a walk, and releases the loader. Blocks that cannot be proven are left out.
 *
 * @returns what could not be fetched
 * @throws what made the source unusable, after committing what was proven by then
 */
export async function runSpan(run: SpanRun, whole: SpanWalk): Promise<readonly BlockProblem[]> {
  const { context, loader } = run;
  const found: BlockProblem[] = [];
  const walks = [whole];
  try {
    if (isDoneByRival(run, whole)) return [];
    for (let walk = walks.shift(); walk !== undefined; walk = walks.shift()) {
      if (walk !== whole && context.stop.aborted) break;
      try {
        // Requests go out while the worker starts. If it cannot start, its pages get the error, too.
        const opened = loader.open(walk.span, walk.rows);
        opened.catch(() => {});
        const problems = await new SpanTask(run, walk).run();
        await opened;
        if (problems === 'halve') walks.unshift(...halvesOf(walk));
        else found.push(...problems);
      } finally {
        walk.onEnd?.();
      }
    }
  } finally {
    await loader.release();
  }
  return found;
}

/** True, and reported, if another writer was faster: nothing is requested then. */
function isDoneByRival({ context, replaces }: SpanRun, walk: SpanWalk): boolean {
  const { pipeline, sink, report } = context;
  const isDone = blocksOf(walk).every((span) => sink.isRivalled?.(pipeline.name, span) === true);
  if (!isDone || walk.unit === 'reading' || replaces.length > 0) return false;
  report({ event: 'rival', pipeline: pipeline.name, from: walk.span.from, to: walk.span.to });
  reportProgress(context, blocksOf(walk));
  walk.onEnd?.();
  return true;
}

function halvesOf(walk: SpanWalk): readonly SpanWalk[] {
  const { from, to } = walk.span;
  const middle = Math.floor((from + to) / 2);
  const halves = [
    { from, to: middle },
    { from: middle + 1, to },
  ];
  return halves.flatMap((half) => walk.part?.(half) ?? []);
}

class SpanTask {
  private readonly shared: SpanRun;
  private readonly context: EngineContext;
  private readonly walk: SpanWalk;
  private readonly loader: SpanLoaderPort;
  private readonly loading: PageLoading;
  private readonly rows: ProvableRows;
  /** Rows of a reading, and how often it became too large for memory. */
  private aside: Stage | undefined;
  private flushes = 0;

  constructor(run: SpanRun, walk: SpanWalk) {
    const { context, loader } = run;
    this.shared = run;
    this.context = context;
    this.walk = walk;
    this.loader = loader;
    this.loading = new PageLoading(context, walk, loader, () => this.flush(), run);
    this.rows = {
      signal: this.loading.over,
      links: (ends) => loader.links(ends),
      stage: (part) => this.stageScratch(part),
      fetch: (requests) => this.loading.fetchRound({ requests, count: requests.length }),
    };
  }

  async run(): Promise<readonly BlockProblem[] | 'halve'> {
    try {
      await this.loading.fetchPlanned();
      if (this.loading.distrust !== undefined) throw this.loading.distrust;
      const found = await this.settleWhatCame();
      if (found !== 'halve') reportProgress(this.context, blocksOf(this.walk));
      if (this.loading.fatal !== undefined) throw this.loading.fatal.error;
      return found;
    } finally {
      await this.aside?.discard();
    }
  }

  /** After a failure or a stop, what cannot be proven without requests stays missing. */
  private async settleWhatCame(): Promise<readonly BlockProblem[] | 'halve'> {
    try {
      return await this.settle();
    } catch (error) {
      const { over } = this.loading;
      if (over.aborted && (error === over.reason || error instanceof SourceError)) return [];
      throw error;
    }
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
    const repairs = new Map<number, number>();
    let rounds = 0;
    // The request already waited for a block that is not indexed, or tried one with too many rows often enough.
    const isFinal = ({ error }: Failure): boolean => error.code === 'not-indexed' || isHeavy(error) || isWrong(error);
    const isRepairable = ({ seqno }: BadBlock): boolean => {
      if (loading.isOver || rounds >= REPAIR_ROUNDS || (repairs.get(seqno) ?? 0) >= REPAIRS) return false;
      const failure = loading.failures.get(seqno);
      return failure === undefined || !isFinal(failure);
    };
    let bad = await this.prove(isRepairable);
    for (let again = bad.filter(isRepairable); again.length > 0; again = bad.filter(isRepairable)) {
      rounds++;
      if (again.some(({ seqno }) => repairs.has(seqno))) await context.effects.sleep(REPAIR_PAUSE_MS);
      for (const { seqno } of again) {
        repairs.set(seqno, (repairs.get(seqno) ?? 0) + 1);
        await loading.forget(seqno);
      }
      const requests = again.flatMap(({ seqno }) => walk.repair?.(seqno) ?? []);
      await loading.fetchRound({ requests, count: requests.length });
      bad = await this.prove(isRepairable);
    }
    if (loading.distrust !== undefined) throw loading.distrust;
    // Headers prove the rows of these blocks, but content contradicts itself: they are stored, and unproven.
    const contradicted = bad.filter(({ code }) => code === CONTENT);
    const missing = bad.filter((block) => !contradicted.includes(block));
    this.reportContradicted(contradicted);
    await this.commitParts(this.goodParts(bad), contradicted);
    return context.stop.aborted ? [] : this.problemsOf(missing);
  }

  private reportContradicted(blocks: readonly BadBlock[]): void {
    const { pipeline, report } = this.context;
    for (const { seqno, reason } of blocks) {
      const message = `audit ${pipeline.name} ${seqno}: ${reason}`;
      report({ event: 'problem', pipeline: pipeline.name, from: seqno, to: seqno, code: CONTENT, message });
    }
  }

  private goodParts(bad: readonly BadBlock[]): readonly Span[] {
    return subtractSpans(
      blocksOf(this.walk),
      bad.map(({ seqno }) => ({ from: seqno, to: seqno })),
    );
  }

  /** Audits the rows; compares them only if no block that failed the audit can be repaired. */
  private async prove(isRepairable: (block: BadBlock) => boolean): Promise<readonly BadBlock[]> {
    const bad = await this.audit();
    if (this.walk.compare === undefined || bad.some(isRepairable)) return bad;
    return [...bad, ...(await this.walk.compare(this.rows, this.goodParts(bad)))];
  }

  /** Blocks that fail the audit, did not come, or have a record that cannot be decoded. */
  private async audit(): Promise<readonly BadBlock[]> {
    const { loading, walk, loader } = this;
    const found = [...(await loader.audit(this.context.content())), ...((await walk.audit?.(this.rows)) ?? [])];
    const isOwn = (seqno: number): boolean => blocksOf(walk).some(({ from, to }) => seqno >= from && seqno <= to);
    const bad = new Map(found.filter(({ seqno }) => isOwn(seqno)).map((block) => [block.seqno, block]));
    const accuse = (seqno: number, reason: string): void => {
      if (isOwn(seqno) && !bad.has(seqno)) bad.set(seqno, { seqno, reason });
    };
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

  private async commitParts(good: readonly Span[], contradicted: readonly BadBlock[] = []): Promise<void> {
    const { walk, loader } = this;
    const blocks = contradicted.map(({ seqno }) => ({ from: seqno, to: seqno }));
    const parts = [...good, ...blocks].sort((a, b) => a.from - b.from);
    const { commits, turn, replaces } = this.shared;
    // After half a replacement, the rows of the other half would be there twice.
    if (replaces.length > 0 && totalSize(parts) < spanSize(walk.span)) return;
    for (const part of parts) {
      const terms = await walk.entry(part, this.reading());
      if (terms === undefined) continue;
      const supersedes = [...(terms.supersedes ?? []), ...replaces];
      const content = await loader.contentOf(part);
      const proof = blocks.includes(part) ? CONTRADICTED : terms.proof;
      await commits.append(turn, { ...terms, proof, content, supersedes }, (stage) => loader.write(part, stage));
    }
  }

  /** Rows of a part in files, for a query. */
  private async stageScratch(part: Span): Promise<ScratchRows> {
    const { loaders, pipeline } = this.context;
    const stage = loaders.scratch(pipeline);
    const discard = (): Promise<void> => stage.discard();
    try {
      await this.loader.write(part, stage);
      return { staged: await stage.finish(), discard };
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
    const { context, loading } = this;
    const { meter } = this.shared;
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
    const { context, walk, loading } = this;
    const { meter, replaces } = this.shared;
    if (loading.isOver) return [];
    const { refused } = loading;
    let error = loading.failure;
    if (error === undefined && refused.length === 0) error = await this.commitSound();
    if (error === undefined && refused.length === 0) return [];
    const isReplacing = replaces.length > 0;
    if (spanSize(walk.span) > 1 && !isReplacing) return 'halve';
    if (error !== undefined) return [{ span: walk.span, error }];
    // A replacement covers all of the entry.
    if (!isReplacing) await quarantineSpan(context, meter, walk.span, refused);
    return [];
  }

  /** Commits the rows of the span if they are good. @returns what is wrong with them */
  private async commitSound(): Promise<TonlakeError | undefined> {
    const { walk, loader, loading, context } = this;
    let [bad] = await loader.audit(this.context.content());
    if (bad === undefined) [bad] = (await walk.compare?.(this.rows, [walk.span])) ?? [];
    if (loading.failure !== undefined || loading.isOver) return loading.failure;
    if (bad !== undefined) {
      const { from, to } = walk.span;
      const where = from === to ? `${from}` : `${from}:${to}`;
      return new AuditError(`audit ${context.pipeline.name} ${where}: ${bad.reason}`, {
        code: bad.code ?? 'unbalanced',
      });
    }
    await this.commitParts([walk.span]);
    return undefined;
  }

  /** Commits what was read, complete or not. */
  private async settleReading(): Promise<readonly BlockProblem[]> {
    const { context, walk, loading } = this;
    const { meter } = this.shared;
    if (loading.fatal !== undefined) return [];
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
    return [];
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

  /** Which rows of a list in several parts to keep: the newest of each key, if the rules say so. */
  private newestRule(): Readonly<Record<string, NewestRule>> {
    const { copies } = this.walk.rows;
    const [table] = this.context.pipeline.tables;
    if (this.flushes === 0 || copies === undefined || table === undefined) return {};
    return { [table.name]: { key: copies.key, column: copies.column } };
  }
}
