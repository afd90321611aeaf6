import { blockId, type Header, parseHeaders } from '../chain/headers.ts';
import { TonlakeError } from '../core/errors.ts';
import { intersectSpans, type Span, seqnosOf, unionSpans } from '../core/span.ts';
import { isMasterchain, type MasterchainPipeline } from '../declare/pipeline.ts';
import { type CommitPart, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { CommittedHeaders, OTHER_HEADERS } from './committed-headers.ts';
import { pagesOfBlock, requestOf } from './page-request.ts';
import { rereadBlocks } from './reread-blocks.ts';
import { collectParts, reportIncomplete, rewriteEntry } from './rewrite-entry.ts';
import type { EngineContext } from './run-context.ts';
import { ShardStates } from './shard-states.ts';
import type { BlockProblem } from './span-walk.ts';
import { type Due, walkDue } from './walk-engine.ts';

/** Fetches all that is due. If rows contradict outdated headers, reads both again. Reports remaining problems. */
export async function walkAndRepair(context: EngineContext, due: Due): Promise<void> {
  let problems = await walkDue(context, due);
  // A cached state may be wrong, too.
  if (problems.length > 0) context.states.clear();
  problems = await rereadCommitted(context, problems);
  for (const headers of neededHeaders(context)) {
    if (problems.length === 0 || context.stop.aborted) break;
    const repaired = await repairHeaders(headers, problems);
    if (repaired.length === 0) continue;
    const spans = unionSpans(repaired.map((seqno) => ({ from: seqno, to: seqno })));
    const again = await walkDue(context, { missing: spans, again: [] });
    problems = [...problems.filter(({ span }) => !repaired.includes(span.from)), ...again];
  }
  for (const { span, error } of problems) {
    const { code, message } = error;
    context.report({ event: 'problem', pipeline: context.pipeline.name, ...span, code, message });
  }
}

/** Reads committed blocks again that lack a block of the shard state before a span, and then that span. @returns remaining problems */
async function rereadCommitted(
  context: EngineContext,
  problems: readonly BlockProblem[],
): Promise<readonly BlockProblem[]> {
  const states = new ShardStates(context);
  const committed = new CommittedHeaders(context);
  const waiting = problems.filter(({ error }) => error.code === OTHER_HEADERS);
  const lacking: number[] = [];
  for (const { span } of waiting) {
    if (context.stop.aborted) return problems;
    const state = await states.at(span.from - 1);
    if (state instanceof TonlakeError) continue;
    lacking.push(...(await committed.lackingOf(state)).map(({ mcSeqno }) => mcSeqno));
  }
  const blocks = unionSpans(lacking.map((seqno) => ({ from: seqno, to: seqno })));
  if (blocks.length === 0) return problems;
  if (!(await rereadBlocks(context, blocks, (own, missing) => walkAndRepair(own, { missing, again: [] }))))
    return problems;
  const again = await walkDue(context, { missing: unionSpans(waiting.map(({ span }) => span)), again: [] });
  return [...problems.filter((each) => !waiting.includes(each)), ...again];
}

/** Contexts of the pipelines with the headers that count these rows. */
function neededHeaders(context: EngineContext): readonly EngineContext<MasterchainPipeline>[] {
  const { pipeline, pipelines } = context;
  if (!isMasterchain(pipeline)) return [];
  return pipelines
    .filter(({ name }) => pipeline.needs.includes(name))
    .filter(isMasterchain)
    .map((needed) => ({ ...context, pipeline: needed }));
}

/**
 * Fetches spans, even if the warehouse has them, without committing them.
 *
 * @returns the staged rows; incomplete parts say so in their scope or verdict
 */
export function fetchStaged(context: EngineContext, spans: readonly Span[]): Promise<readonly CommitPart[]> {
  return collectParts({ ...context, asked: spans }, (own) => walkAndRepair(own, { missing: spans, again: [] }));
}

/** Replaces an entry by one with the selected columns that it lacks. */
export async function widenEntry(context: EngineContext, entry: LedgerEntry): Promise<void> {
  const due = { missing: spansOf(entry), again: [] };
  const asked = { ...context, asked: due.missing };
  const got = await rewriteEntry(asked, entry, (collecting) => walkAndRepair(collecting, due));
  if (got !== undefined && !context.stop.aborted) reportIncomplete(context, entry, got);
}

/**
 * Replaces the committed headers of unbalanced blocks if the source has other ones now.
 *
 * @param context of the pipeline of headers
 * @returns seqnos with new headers
 */
async function repairHeaders(
  context: EngineContext<MasterchainPipeline>,
  problems: readonly BlockProblem[],
): Promise<readonly number[]> {
  const changed: number[] = [];
  for (const { span, error } of problems) {
    if (error.code === 'unbalanced' && (await isOutdated(context, span.from))) changed.push(span.from);
  }
  const changedSpans = unionSpans(changed.map((seqno) => ({ from: seqno, to: seqno })));
  const replaced: Span[] = [];
  for (const entry of context.sink.ledger()) {
    if (entry.pipeline !== context.pipeline.name || entry.verdict !== 'accepted') continue;
    const blocks = intersectSpans(spansOf(entry), changedSpans);
    if (blocks.length === 0) continue;
    const due = { missing: blocks, again: [] };
    const got = await rewriteEntry(context, entry, (collecting) => walkDue(collecting, due), blocks);
    if (got === undefined) replaced.push(...blocks);
  }
  return seqnosOf(unionSpans(replaced));
}

async function isOutdated(context: EngineContext<MasterchainPipeline>, seqno: number): Promise<boolean> {
  const committed = (await context.sink.headers({ from: seqno, to: seqno })).get(seqno) ?? [];
  const [page] = pagesOfBlock(seqno, 0);
  if (page === undefined) return false;
  try {
    const current = await context.source.fetch(requestOf(context.pipeline, page), ({ body, request }) =>
      parseHeaders(body, request),
    );
    return auditedText(current) !== auditedText(committed);
  } catch (error) {
    if (error instanceof TonlakeError) return false;
    throw error;
  }
}

/** The header fields that audits use, as one text. */
function auditedText(headers: readonly Header[]): string {
  return headers
    .map(({ workchain, shard, seqno, txCount, startLt, endLt, utime }) => {
      return `${blockId(workchain, shard, seqno)} ${txCount} ${startLt} ${endLt} ${utime}`;
    })
    .sort()
    .join('\n');
}
