import { blockId, type Header, parseHeaders } from '../audit/header.ts';
import { TonlakeError } from '../errors.ts';
import { type Span, unionSpans } from '../span.ts';
import { pagesOfBlock, requestOf } from './ask.ts';
import type { WalkContext } from './context.ts';
import type { BlockProblem } from './job.ts';
import { walk } from './walk.ts';

/**
 * Walks some spans. Where rows do not balance because the committed headers are outdated, the headers are read again and the rows
 * once more; what is left is told.
 *
 * @param contexts the pipeline's own, and those of the pipelines that it needs
 */
export async function walkAndMend(contexts: readonly WalkContext[], spans: readonly Span[]): Promise<void> {
  const [own, ...needed] = contexts;
  if (own === undefined) return;
  let problems = await walk(own, spans);
  for (const context of needed) {
    if (problems.length === 0 || own.stop.aborted) break;
    const mended = await mendHeaders(context, problems);
    if (mended.length === 0) continue;
    const again = await walk(own, unionSpans(mended.map((seqno) => ({ from: seqno, to: seqno }))));
    problems = [...problems.filter(({ seqno }) => !mended.includes(seqno)), ...again];
  }
  for (const { seqno, error } of problems) {
    const { code, message } = error;
    own.report({ event: 'problem', pipeline: own.pipeline.name, from: seqno, to: seqno, code, message });
  }
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
  for (const { seqno, error } of problems) {
    if (error.code === 'unbalanced' && (await isOutdated(context, seqno))) changed.push(seqno);
  }
  const entries = context.sink.ledger().filter(({ pipeline, verdict, span }) => {
    const isOwn = pipeline === context.pipeline.name && verdict === 'sealed';
    return isOwn && changed.some((seqno) => seqno >= span.from && seqno <= span.to);
  });
  const failed = new Set<number>();
  for (const { id, span } of entries) {
    const left = await walk({ ...context, replaces: [id] }, [span]);
    if (left.length > 0) for (let seqno = span.from; seqno <= span.to; seqno++) failed.add(seqno);
  }
  return changed.filter((seqno) => !failed.has(seqno));
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
