import { type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { commonLeftOut, narrowPipeline } from '../declare/left-out.ts';
import { type CommitPart, joinRead, type LedgerEntry, spansOf } from '../warehouse/index.ts';
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
  parts: readonly CommitPart[],
): Promise<readonly Span[]> {
  const sealed = parts.filter(({ draft }) => draft.verdict === 'sealed' && draft.scope === undefined);
  const missing = subtractSpans(spansOf(entry), unionSpans(sealed.map(({ draft }) => draft.span)));
  if (missing.length > 0) return missing;
  const { staged, draft } = joinRead({ pipeline, old: [entry], read: sealed });
  report(spanEvent(await sink.commit(staged, draft)));
  return [];
}
