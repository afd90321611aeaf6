import PQueue from 'p-queue';
import { addCounts } from '../core/counts.ts';
import type { Span } from '../core/span.ts';
import { isFinal } from '../declare/pipeline.ts';
import type { Stage } from '../warehouse/index.ts';
import type { FolderState } from '../warehouse/staging/row-folder.ts';
import { commitSpan } from './commit-span.ts';
import type { RequestMeter } from './request-meter.ts';
import type { EngineContext } from './run-context.ts';
import type { SpanTurn } from './span-order.ts';
import type { EntryTerms } from './span-walk.ts';

/** Size of a file that ends a commit, in bytes. */
const FULL_BYTES = 128 * 2 ** 20;

/** A commit that takes further parts. */
interface PendingCommit {
  readonly stage: Stage;
  terms: EntryTerms;
  /** Aborted when the commit ends. */
  readonly ended: AbortController;
}

/**
 * Adds proven parts of a walk to files that stay open, and commits them together: when a file is full or gets rows of a second day, when
 * the next part does not continue the last one, or when the first part has waited for `commitEveryMs`. A failure loses the open files,
 * so their blocks stay missing.
 */
export class OpenCommit {
  private readonly context: EngineContext;
  private readonly meter: RequestMeter;
  /** Parts are written one after the other. */
  private readonly writes = new PQueue({ concurrency: 1 });
  private opened: PendingCommit | undefined;
  /** The previous commit, which is measured while the next one takes parts. */
  private committing: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;

  constructor(context: EngineContext, meter: RequestMeter) {
    this.context = context;
    this.meter = meter;
  }

  /** Adds a part, after the parts of earlier spans. @throws the error of writing it, or of an earlier commit */
  async append(turn: SpanTurn, terms: EntryTerms, write: (stage: Stage) => Promise<FolderState>): Promise<void> {
    const { effects, commitEveryMs } = this.context;
    const provenAt = effects.monotonic();
    if (commitEveryMs > 0) await turn.reached((stop) => effects.sleep(commitEveryMs, stop));
    await this.writes.add(async () => {
      if (this.failure !== undefined) throw this.failure.error;
      if (this.opened !== undefined && !this.continues(this.opened.terms, terms)) await this.end();
      const opened = this.opened ?? this.open(terms, provenAt);
      try {
        const { bytes, isUniform, growing } = await write(opened.stage);
        await opened.stage.grow(growing);
        if (opened.terms !== terms) opened.terms = joinTerms(opened.terms, terms);
        if (bytes >= FULL_BYTES || !isUniform || !this.isOpenEnded(terms)) await this.end();
      } catch (error) {
        this.opened = undefined;
        opened.ended.abort();
        await opened.stage.discard();
        throw error;
      }
    });
  }

  /** Commits what is open. @throws the error of a commit */
  async close(): Promise<void> {
    await this.writes.add(() => this.end());
    await this.committing;
    if (this.failure !== undefined) throw this.failure.error;
  }

  private open(terms: EntryTerms, provenAt: number): PendingCommit {
    const { loaders, pipeline, effects, commitEveryMs } = this.context;
    const opened = { stage: loaders.stage(pipeline, terms.span), terms, ended: new AbortController() };
    this.opened = opened;
    if (!this.isOpenEnded(terms)) return opened;
    const dueMs = Math.max(0, commitEveryMs - (effects.monotonic() - provenAt));
    const commit = () => this.writes.add(async () => this.opened === opened && this.end());
    // The sleep is aborted when the commit ends earlier.
    effects.sleep(dueMs, opened.ended.signal).then(commit, () => {});
    return opened;
  }

  /** Commits what is open in the background, after the commit before. */
  private async end(): Promise<void> {
    const { opened } = this;
    if (opened === undefined) return;
    this.opened = undefined;
    opened.ended.abort();
    await this.committing;
    this.committing = this.commit(opened).catch((error: unknown) => {
      this.failure ??= { error };
    });
  }

  private async commit({ stage, terms }: PendingCommit): Promise<void> {
    try {
      await commitSpan(this.context, this.meter, await stage.finish({ span: terms.span }), terms);
    } catch (error) {
      await stage.discard();
      throw error;
    }
  }

  private continues(before: EntryTerms, terms: EntryTerms): boolean {
    return before.span.to + 1 === terms.span.from && termsKey(before) === termsKey(terms) && this.isOpenEnded(terms);
  }

  /** False for parts that get a commit of their own: they replace entries, are partial, or will be read again. */
  private isOpenEnded({ span, asOf, scope, supersedes = [] }: EntryTerms): boolean {
    const { pipeline, commitEveryMs } = this.context;
    return (
      commitEveryMs > 0 && supersedes.length === 0 && scope === undefined && isFinal(pipeline.walk, { span, asOf })
    );
  }
}

/** Parts with equal keys can share an entry. */
function termsKey({ asOf, proof, planned }: EntryTerms): string {
  return JSON.stringify([asOf, proof, planned === undefined]);
}

/** The entry of two adjacent parts. */
function joinTerms(before: EntryTerms, terms: EntryTerms): EntryTerms {
  const span: Span = { from: before.span.from, to: terms.span.to };
  const planned = before.planned === undefined ? undefined : before.planned + (terms.planned ?? 0);
  const content = before.content && addCounts(before.content, terms.content ?? {});
  return { ...before, span, planned, content };
}
