import { counted, formatCount } from '../core/format.ts';
import { type Span, shortSpans, subtractSpans, unionSpans } from '../core/span.ts';
import { commonLeftOut, formatLeftOut, narrowPipeline } from '../declare/left-out.ts';
import { isFinal, isMasterchain } from '../declare/pipeline.ts';
import { type CommitPart, type LedgerEntry, PARTIAL, type Rewrite, spansOf } from '../warehouse/index.ts';
import { fewerRows, leastRows } from './fewer-rows.ts';
import type { EngineContext } from './run-context.ts';
import { type SpanSink, spanEvent, type WalkContext } from './walk-context.ts';

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
 * Collects what a walk would commit, so that several spans can replace one entry. The walk sees none of its pipeline's rows as done,
 * and its commits are not reported. Each span is a part.
 */
export async function collectParts(
  context: EngineContext,
  walk: (collecting: EngineContext) => Promise<unknown>,
): Promise<readonly CommitPart[]> {
  const { sink, pipeline, report } = context;
  const parts: CommitPart[] = [];
  const ledger: SpanSink['ledger'] = () =>
    sink
      .ledger()
      .filter(
        (entry) => entry.pipeline !== pipeline.name || entry.verdict === 'quarantined' || entry.scope === PARTIAL,
      );
  const commit: SpanSink['commit'] = async (staged, draft) => {
    parts.push({ staged, draft });
    return { ...draft, format: 1, number: 0, id: staged.id, tables: staged.tables, committedAt: '' };
  };
  await walk({
    ...context,
    commitEveryMs: 0,
    sink: { ...sink, ledger, commit, isRivalled: () => false },
    report: (event) => {
      if (event.event !== 'span' || event.pipeline !== pipeline.name) report(event);
    },
  });
  return parts;
}

/**
 * Reads blocks of an entry again, with the columns of both.
 *
 * @param walk fetches the blocks
 * @returns the entry's replacement, which is not committed; or, if it stays, what the source has of its blocks, for a message
 */
export async function readAgain(
  context: EngineContext,
  entry: LedgerEntry,
  walk: (collecting: EngineContext) => Promise<unknown>,
  blocks: readonly Span[],
): Promise<Rewrite | string> {
  const own = widenedContext(context, entry);
  const parts = await collectParts(own, walk);
  const proven = parts.filter(({ draft }) => draft.verdict === 'accepted' && draft.scope === undefined);
  const missing = subtractSpans(blocks, unionSpans(proven.map(({ draft }) => draft.span)));
  if (missing.length > 0) return `nothing of ${shortSpans(missing)}`;
  // Headers count the rows of blocks, and may have changed.
  const fewer = isMasterchain(own.pipeline) ? undefined : fewerRows(leastRows(entry), proven);
  if (fewer !== undefined) {
    const { table, rows, before } = fewer;
    if (isFinal(own.pipeline.walk, entry)) return `${formatCount(rows)} of the ${counted(before, 'row')} of ${table}`;
    context.report({ event: 'fewer-rows', pipeline: own.pipeline.name, ...entry.span, rows, before });
  }
  return { pipeline: own.pipeline, old: [entry], keep: subtractSpans(spansOf(entry), blocks), read: proven };
}

/**
 * Replaces an entry by the current rows of its blocks, with the columns of both, in one commit: a kill leaves the old rows or the new ones.
 *
 * @param walk fetches the blocks
 * @param blocks blocks of the entry to read again; the rows of the others are retained. Default: all
 * @returns undefined if it was replaced; otherwise what the source has of its blocks, for a message
 */
export async function rewriteEntry(
  context: EngineContext,
  entry: LedgerEntry,
  walk: (collecting: EngineContext) => Promise<unknown>,
  blocks: readonly Span[] = spansOf(entry),
): Promise<string | undefined> {
  const got = await readAgain(context, entry, walk, blocks);
  if (typeof got === 'string') return got;
  for (const each of await context.sink.rewrite([got])) context.report(spanEvent(each));
  return undefined;
}

/** Reports that an entry stays, because the source does not have all of it. */
export function reportIncomplete({ pipeline: { name }, report }: WalkContext, entry: LedgerEntry, got: string): void {
  const { from, to } = entry.span;
  const purpose = entry.without === undefined ? '' : ` to add ${formatLeftOut(entry.without)}`;
  const message = `walk ${name} ${from}:${to}: expected all of it again${purpose}, got ${got}; the old rows stay`;
  report({ event: 'problem', pipeline: name, from, to, code: 'incomplete', message });
}
