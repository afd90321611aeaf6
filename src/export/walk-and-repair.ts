import { blockId, type Header, parseHeaders } from '../chain/headers.ts';
import { TonlakeError } from '../core/errors.ts';
import { intersectSpans, type Span, seqnosOf, unionSpans } from '../core/span.ts';
import { isMasterchain, type MasterchainPipeline } from '../declare/pipeline.ts';
import { type CommitPart, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { pagesOfBlock, requestOf } from './page-request.ts';
import { collectParts, reportIncomplete, rewriteEntry } from './rewrite-entry.ts';
import type { EngineContext } from './run-context.ts';
import type { BlockProblem } from './span-walk.ts';
import { type Due, walkDue } from './walk-engine.ts';

/** Fetches all that is due. If rows contradict outdated headers, reads both again. Reports remaining problems. */
export async function walkAndRepair(context: EngineContext, due: Due): Promise<void> {
  let problems = await walkDue(context, due);
  // A cached state may be wrong, too.
  if (problems.length > 0) context.states.clear();
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
