import { shortSpans, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { commonLeftOut, formatLeftOut, narrowPipeline, narrowTable } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import {
  addEvidence,
  type CommitDraft,
  type LedgerEntry,
  type StagedSpan,
  type StagedTable,
  spansOf,
} from '../warehouse/index.ts';
import { spanEvent, type WalkContext, type WalkEvent } from './walk-context.ts';

/** The context that reads an entry again. It leaves out only what the run and the entry both leave out, so no column is lost. */
export function widenedContext<Context extends Pick<WalkContext, 'registry' | 'pipeline'>>(
  context: Context,
  { without }: LedgerEntry,
): Context {
  const { registry, pipeline } = context;
  const declared = registry.pipeline(pipeline.name);
  return { ...context, pipeline: narrowPipeline(declared, commonLeftOut([pipeline.leftOut, without])) };
}

/** A staged span and the draft of its commit. */
export interface StagedPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

export interface WidenOptions {
  /** As {@link widenedContext} makes it. */
  readonly pipeline: PipelineDef;
  readonly entry: LedgerEntry;
  /** Rows for the span of the entry, not committed yet. */
  readonly parts: readonly StagedPart[];
  readonly commit: (staged: StagedSpan, draft: CommitDraft) => Promise<LedgerEntry>;
  readonly report: (event: WalkEvent) => void;
}

/** Replaces an entry by one with more columns, in one commit. If a part of the span could not be fetched, the old entry stays. */
export async function replaceWithWider(options: WidenOptions): Promise<void> {
  const { pipeline, entry, parts, commit, report } = options;
  const { name } = pipeline;
  const sealed = parts.filter(({ draft }) => draft.verdict === 'sealed' && draft.scope === undefined);
  const missing = subtractSpans(spansOf(entry), unionSpans(sealed.map(({ draft }) => draft.span)));
  if (totalSize(missing) > 0) {
    const { from, to } = entry.span;
    const lacking = formatLeftOut(entry.without ?? {});
    const message = `walk ${name} ${from}:${to}: expected all of it again to add ${lacking}, got nothing of ${shortSpans(missing)}; the old rows stay`;
    report({ event: 'problem', pipeline: name, from, to, code: 'incomplete', message });
    return;
  }
  const committed = await commit(joinParts(pipeline, sealed), joinDrafts(entry, sealed));
  report(spanEvent(committed));
}

/** The draft of one entry that replaces another, from several parts. */
export function joinDrafts(entry: LedgerEntry, parts: readonly StagedPart[]): CommitDraft {
  const [first] = parts as readonly [StagedPart, ...StagedPart[]];
  const drafts = parts.map(({ draft }) => draft);
  const sum = (of: (draft: CommitDraft) => number): number => drafts.reduce((total, draft) => total + of(draft), 0);
  return {
    ...first.draft,
    span: entry.span,
    spans: entry.spans,
    // An entry is only as proven as its least proven part.
    proof: drafts.every(({ proof }) => proof === first.draft.proof) ? first.draft.proof : 'none',
    requests: sum(({ requests }) => requests),
    retries: sum(({ retries }) => retries),
    ...(drafts.every(({ planned }) => planned !== undefined) ? { planned: sum(({ planned }) => planned ?? 0) } : {}),
    supersedes: [...new Set([entry.id, ...drafts.flatMap(({ supersedes }) => supersedes)])],
  };
}

/** Rows of several staged spans as those of one. */
export function joinParts(pipeline: PipelineDef, parts: readonly StagedPart[]): StagedSpan {
  const [first] = parts as readonly [StagedPart, ...StagedPart[]];
  if (parts.length === 1) return first.staged;
  const tables: Record<string, StagedTable> = {};
  for (const table of pipeline.tables.map((each) => narrowTable(each, pipeline.leftOut))) {
    const own = parts.flatMap(({ staged }) => staged.tables[table.name] ?? []);
    const [one] = own;
    if (one === undefined) continue;
    const files = own.flatMap((part) => part.files);
    tables[table.name] = { ...one, isSorted: files.length < 2, ...addEvidence(own, table), files };
  }
  return { id: first.staged.id, tables };
}
