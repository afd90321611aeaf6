import { blockId, type Header, parseHeaders } from '../chain/headers.ts';
import { TonlakeError } from '../core/errors.ts';
import { haveCommon, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { spansOf } from '../warehouse/ledger/done-spans.ts';
import type { LedgerEntry } from '../warehouse/store.ts';
import { collectParts } from './collect-parts.ts';
import { pagesOfBlock, requestOf } from './page-request.ts';
import type { BlockProblem } from './span-task.ts';
import { spanEvent, type WalkContext, type WalkEvent } from './walk-context.ts';
import { walk } from './walks/masterchain-walk.ts';
import { joinDrafts, joinParts, replaceWithWider, widened } from './widen-entry.ts';

/**
 * Walks some spans. Where rows do not balance because the committed headers are outdated, the headers are read again and the rows
 * once more; what is left is told.
 *
 * @param contexts the pipeline's own, and those of the pipelines that it needs
 */
export async function walkAndRepair(contexts: readonly WalkContext[], spans: readonly Span[]): Promise<void> {
  const [own, ...needed] = contexts;
  if (own === undefined) return;
  let problems = await walk(own, spans);
  for (const context of needed) {
    if (problems.length === 0 || own.stop.aborted) break;
    const mended = await mendHeaders(context, problems);
    if (mended.length === 0) continue;
    const again = await walk(own, unionSpans(mended.map((seqno) => ({ from: seqno, to: seqno }))));
    problems = [...problems.filter(({ span }) => !mended.includes(span.from)), ...again];
  }
  for (const { span, error } of problems) {
    const { code, message } = error;
    own.report({ event: 'problem', pipeline: own.pipeline.name, ...span, code, message });
  }
}

/**
 * Reads the span of an entry again for columns that it lacks.
 *
 * @param contexts as for {@link walkAndRepair}
 */
export async function widenWalked(contexts: readonly WalkContext[], entry: LedgerEntry): Promise<void> {
  const [own, ...needed] = contexts;
  if (own === undefined) return;
  const { sink, parts } = collectParts(own.sink);
  const report = (event: WalkEvent): void => {
    if (event.event !== 'span') own.report(event);
  };
  const pipeline = widened(own.declared, own.pipeline.leftOut, entry);
  await walkAndRepair([{ ...own, pipeline, sink, report }, ...needed], spansOf(entry));
  if (own.stop.aborted) return;
  await replaceWithWider({ pipeline, entry, parts, commit: own.sink.commit, report: own.report });
}

/**
 * Looks whether the committed headers of blocks that do not balance are still what the source says, and reads them again where
 * they are not: a new entry takes the place of the one that holds them.
 *
 * @param context that of the pipeline of headers
 * @returns seqnos whose headers are others now
 */
async function mendHeaders(context: WalkContext, problems: readonly BlockProblem[]): Promise<readonly number[]> {
  const changed: number[] = [];
  for (const { span, error } of problems) {
    if (error.code === 'unbalanced' && (await isOutdated(context, span.from))) changed.push(span.from);
  }
  const changedSpans = changed.map((seqno) => ({ from: seqno, to: seqno }));
  const entries = context.sink.ledger().filter((entry) => {
    const isOwn = entry.pipeline === context.pipeline.name && entry.verdict === 'sealed';
    return isOwn && haveCommon(spansOf(entry), changedSpans);
  });
  const mended: Span[] = [];
  for (const entry of entries) if (await replaceEntry(context, entry)) mended.push(...spansOf(entry));
  return changed.filter((seqno) => mended.some(({ from, to }) => seqno >= from && seqno <= to));
}

/**
 * Reads the blocks of an entry again. What comes may be cut otherwise: nothing is committed until all its parts are there, because
 * half a replacement would leave the other half twice.
 *
 * @returns whether the entry was replaced
 */
async function replaceEntry(context: WalkContext, entry: LedgerEntry): Promise<boolean> {
  const { sink, parts } = collectParts(context.sink);
  const report = (event: WalkEvent): void => {
    if (event.event !== 'span') context.report(event);
  };
  const pipeline = widened(context.declared, context.pipeline.leftOut, entry);
  await walk({ ...context, pipeline, sink, report }, spansOf(entry));
  const sealed = parts.filter(({ draft }) => draft.verdict === 'sealed');
  if (totalSize(subtractSpans(spansOf(entry), unionSpans(sealed.map(({ draft }) => draft.span)))) > 0) return false;
  if (entry.spans !== undefined) {
    const joined = await context.sink.commit(joinParts(pipeline, sealed), joinDrafts(entry, sealed));
    context.report(spanEvent(joined));
    return true;
  }
  // The first takes the entry's place: after a kill the rest is missing, and never there twice.
  let replaced = [entry.id];
  for (const { staged, draft } of parts) {
    const supersedes = [...draft.supersedes, ...replaced];
    context.report(spanEvent(await context.sink.commit(staged, { ...draft, supersedes })));
    replaced = [];
  }
  return true;
}

async function isOutdated(context: WalkContext, seqno: number): Promise<boolean> {
  const committed = (await context.sink.headers({ from: seqno, to: seqno })).get(seqno) ?? [];
  const [ask] = pagesOfBlock(seqno, 0);
  if (ask === undefined) return false;
  try {
    const told = await context.source.fetch(requestOf(context.pipeline, ask), ({ body, request }) =>
      parseHeaders(body, request),
    );
    return describe(told) !== describe(committed);
  } catch (error) {
    if (error instanceof TonlakeError) return false;
    throw error;
  }
}

/** What the audits use of some headers, in one text. */
function describe(headers: readonly Header[]): string {
  return headers
    .map(({ workchain, shard, seqno, txCount, startLt, endLt }) => {
      return `${blockId(workchain, shard, seqno)} ${txCount} ${startLt} ${endLt}`;
    })
    .sort()
    .join('\n');
}
