import { type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { commonLeftOut, narrowPipeline, narrowTable } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import {
  addEvidence,
  type CommitDraft,
  type LedgerEntry,
  type StagedSpan,
  type StagedTable,
  spansOf,
} from '../warehouse/index.ts';
import { spanEvent, type WalkContext } from './walk-context.ts';

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

/**
 * Replaces an entry by its rows as they were read again, in one commit.
 *
 * @param context as {@link widenedContext} makes it
 * @param parts not committed yet
 * @returns blocks that were not read: then the entry stays
 */
export async function replaceEntry(
  { pipeline, sink, report }: WalkContext,
  entry: LedgerEntry,
  parts: readonly StagedPart[],
): Promise<readonly Span[]> {
  const sealed = parts.filter(({ draft }) => draft.verdict === 'sealed' && draft.scope === undefined);
  const missing = subtractSpans(spansOf(entry), unionSpans(sealed.map(({ draft }) => draft.span)));
  if (missing.length > 0) return missing;
  report(spanEvent(await sink.commit(joinParts(pipeline, sealed), joinDrafts(entry, sealed))));
  return [];
}

/** The draft of one entry that replaces another, from several parts. */
function joinDrafts(entry: LedgerEntry, parts: readonly StagedPart[]): CommitDraft {
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
function joinParts(pipeline: PipelineDef, parts: readonly StagedPart[]): StagedSpan {
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
