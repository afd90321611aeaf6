import PQueue from 'p-queue';
import { AuditError, TonlakeError } from '../../core/errors.ts';
import { type Span, spanSize, subtractSpans, totalSize } from '../../core/span.ts';
import type { BlockWalk } from '../../declare/pipeline.ts';
import { WordsColumn } from '../../decode/typed-columns.ts';
import type { SourceRequest } from '../../http/request.ts';
import { auditBlocks, type BlockRows, type Blocks, failBlocks, goodParts, rowsOf, seqnosOf } from '../audit-blocks.ts';
import { commitList, type PageRows, Pages, quarantineSpan } from '../list-pages.ts';
import { faultError, ListProof, type Settled } from '../list-proof.ts';
import { cutAtFinal, type Due, type ListContext, widenedContext } from '../list-run.ts';
import { fixedQuery } from '../page-request.ts';
import { REPAIR_PAUSE_MS, REPAIRS } from '../repair-rounds.ts';
import { StateProof } from '../state-proof.ts';

/** Blocks of a span: bounds memory, and what a kill costs. */
const SPAN_BLOCKS = 500;

/** Brings blocks in, each by itself. */
export async function walkBlocks(context: ListContext, walk: BlockWalk, { missing, again }: Due): Promise<void> {
  const { ends, stop, requestsPerSpan } = context;
  for (const entry of again) {
    if (stop.aborted) return;
    await readSpan(widenedContext(context, entry), walk, entry.span, [entry.id]);
  }
  const size = Math.min(SPAN_BLOCKS, requestsPerSpan);
  for (const whole of new ListProof(context).cut(cutAtFinal(missing, walk.lookBack, ends.last))) {
    for (let from = whole.from; from <= whole.to; from += size) {
      if (stop.aborted) return;
      await readSpan(context, walk, { from, to: Math.min(whole.to, from + size - 1) }, []);
    }
  }
}

async function readSpan(
  context: ListContext,
  walk: BlockWalk,
  span: Span,
  supersedes: readonly string[],
): Promise<void> {
  const { pipeline, report } = context;
  const pages = new Pages(context);
  const blocks: Blocks = new Map();
  const states = walk.limit === undefined ? await StateProof.open(context, pages, span) : undefined;
  const work: Work = { context, walk, pages, blocks, states };
  report({ event: 'planned', pipeline: pipeline.name, requests: spanSize(span) });
  const fatal = (await readBlocks(work, seqnosOf(span.from, span.to))) ?? (await repair(work));
  failBlocks(pipeline.name, blocks, auditBlocks(pages, blocks, states));
  const later = await settleAndCommit(work, span, supersedes);
  const failure = fatal ?? later;
  if (failure !== undefined) throw failure.error;
  for (const [seqno, block] of blocks) await tell(context, seqno, block);
}

interface Work {
  readonly context: ListContext;
  readonly walk: BlockWalk;
  readonly pages: Pages;
  readonly blocks: Blocks;
  /** What states of the shards are proven by. */
  readonly states: StateProof | undefined;
}

/** Asks again for blocks that are wrong by themselves, each alone. @returns what made the source unusable */
async function repair(work: Work): Promise<{ readonly error: unknown } | undefined> {
  const { context, pages, blocks, states } = work;
  const { report, effects, stop, pipeline } = context;
  for (let round = 1; round <= REPAIRS && !stop.aborted; round++) {
    const again = auditBlocks(pages, blocks, states).map(({ seqno }) => seqno);
    if (again.length === 0) return undefined;
    if (round > 1) await effects.sleep(REPAIR_PAUSE_MS);
    report({ event: 'planned', pipeline: pipeline.name, requests: again.length });
    const fatal = await readBlocks(work, again);
    if (fatal !== undefined) return fatal;
  }
  return undefined;
}

/** Reads some blocks, each by itself. @returns what made the source unusable */
async function readBlocks(
  { context, walk, pages, blocks }: Work,
  seqnos: readonly number[],
): Promise<{ readonly error: unknown } | undefined> {
  let fatal: { readonly error: unknown } | undefined;
  const queue = new PQueue({ concurrency: context.concurrency });
  for (const seqno of seqnos) {
    void queue.add(async () => {
      if (fatal !== undefined || context.stop.aborted) return;
      try {
        blocks.set(seqno, await readBlock(context, walk, pages, seqno));
      } catch (error) {
        if (isLocal(error)) blocks.set(seqno, { kind: 'failed', error });
        else fatal ??= { error };
      }
    });
  }
  await queue.onIdle();
  return fatal;
}

/** Commits the blocks that nothing speaks against. @returns what made the source unusable meanwhile */
async function settleAndCommit(
  work: Work,
  span: Span,
  supersedes: readonly string[],
): Promise<{ readonly error: unknown } | undefined> {
  const { context, pages, blocks } = work;
  // Half a replacement would leave the other half twice.
  const isReplaced = (good: readonly Span[]): boolean => supersedes.length === 0 || totalSize(good) === spanSize(span);
  const parts = goodParts(blocks, span);
  if (!isReplaced(parts)) return undefined;
  let fatal: { readonly error: unknown } | undefined;
  for (const part of parts) {
    let settled = await settle(work, part, rowsOf(blocks, part));
    const bad = seqnosWithFaults(settled);
    if (bad.length > 0) {
      await settled.stage.discard();
      // Once more, by themselves.
      for (const seqno of bad) blocks.delete(seqno);
      fatal ??= await readBlocks(work, bad);
      failBlocks(context.pipeline.name, blocks, auditBlocks(pages, blocks, work.states));
      const again = bad.flatMap((seqno) => [...rowsOf(blocks, { from: seqno, to: seqno })]);
      settled = await settle(work, part, Int32Array.from([...withoutBlocks(work, settled.rows, bad), ...again]));
      for (const seqno of seqnosWithFaults(settled)) {
        const own = settled.faults.filter((fault) => fault.seqno === seqno);
        const error = faultError(context.pipeline.name, { from: seqno, to: seqno }, own);
        if (blocks.get(seqno)?.kind === 'rows') blocks.set(seqno, { kind: 'failed', error });
      }
    }
    const good = goodParts(blocks, part);
    if (totalSize(good) === spanSize(part)) {
      await commitPart(work, part, settled, supersedes);
      continue;
    }
    await settled.stage.discard();
    if (!isReplaced(good)) continue;
    for (const one of good) {
      const outside = subtractSpans([part], [one]).flatMap(({ from, to }) => seqnosOf(from, to));
      const stage = context.store.stage(context.pipeline.name, one);
      await pages.stage(stage, withoutBlocks(work, settled.rows, outside));
      await commitPart(work, one, { ...settled, stage, staged: await stage.finish() }, supersedes);
    }
  }
  return fatal;
}

async function settle({ context, pages }: Work, part: Span, rows: Int32Array): Promise<Settled> {
  return new ListProof(context).settle(pages, part, rows);
}

function seqnosWithFaults({ faults }: Settled): readonly number[] {
  return [...new Set(faults.map(({ seqno }) => seqno))].sort((a, b) => a - b);
}

/** Rows of other blocks than these. */
function withoutBlocks({ walk, pages }: Work, rows: Int32Array, seqnos: readonly number[]): Int32Array {
  const column = pages.decoder.column(walk.column);
  const left = new Set(seqnos);
  if (!(column instanceof WordsColumn)) return rows;
  return rows.filter((row) => !left.has(column.words[row * column.width] as number));
}

async function commitPart(
  { context, walk }: Work,
  span: Span,
  { stage, staged, isCompared }: Settled,
  supersedes: readonly string[],
): Promise<void> {
  const { ends, pipeline } = context;
  const asOf = walk.lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
  // Nothing counts actions.
  const byTransactions = isCompared && pipeline.name !== 'actions' ? 'transactions' : 'none';
  try {
    await commitList(context, staged, {
      ...{ span, asOf, supersedes },
      proof: walk.limit === undefined ? 'shards' : byTransactions,
    });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

async function readBlock(context: ListContext, walk: BlockWalk, pages: Pages, seqno: number): Promise<BlockRows> {
  const read = await readPages(context, walk, pages, seqno);
  const refused = read.flatMap((page) => page.refused);
  return refused.length > 0 ? { kind: 'refused', refused } : { kind: 'rows', pages: read };
}

async function readPages(
  context: ListContext,
  walk: BlockWalk,
  pages: Pages,
  seqno: number,
): Promise<readonly PageRows[]> {
  const { source, pipeline } = context;
  const fixed = Object.fromEntries(Object.entries(pipeline.parameters).map(([name, value]) => [name, String(value)]));
  const read: PageRows[] = [];
  for (let offset = 0; ; offset += walk.limit ?? 0) {
    const page = await source.fetch(askOf(context, walk, seqno, offset), ({ body, request }) =>
      pages.add(body, request, { ...fixed, seqno: BigInt(seqno) }),
    );
    requireOwn(context, walk, pages, page, seqno);
    read.push(page);
    if (walk.limit === undefined || page.records < walk.limit) break;
  }
  context.report({
    ...{ event: 'progress', pipeline: pipeline.name, seqnos: 0 },
    records: read.reduce((sum, { records }) => sum + records, 0),
  });
  return read;
}

function askOf({ pipeline }: ListContext, walk: BlockWalk, seqno: number, offset: number): SourceRequest {
  const limit = walk.limit === undefined ? [] : [['limit', String(walk.limit)] as const];
  const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
  return {
    path: pipeline.endpoint.replace(/^GET /, ''),
    query: [[walk.seqno, String(seqno)], ...limit, ...skip, ...fixedQuery(pipeline)],
    missing: 'wait',
    label: `${pipeline.name} ${seqno}`,
  };
}

/** A server that does not know the parameter would answer the whole list. @throws {AuditError} */
function requireOwn(
  { pipeline }: ListContext,
  walk: BlockWalk,
  pages: Pages,
  { from, to }: PageRows,
  seqno: number,
): void {
  const column = pages.decoder.column(walk.column);
  if (!(column instanceof WordsColumn)) return;
  for (let row = from; row < to; row++) {
    const found = column.words[row * column.width] as number;
    if (found === seqno) continue;
    throw new AuditError(`audit ${pipeline.name} ${seqno}: expected rows of block ${seqno}, got one of ${found}`, {
      code: 'wrong-block',
    });
  }
}

async function tell(context: ListContext, seqno: number, block: BlockRows): Promise<void> {
  const { report, pipeline } = context;
  if (block.kind === 'refused') await quarantineSpan(context, { from: seqno, to: seqno }, block.refused);
  if (block.kind !== 'failed') return;
  const { code, message } = block.error;
  report({ event: 'problem', pipeline: pipeline.name, from: seqno, to: seqno, code, message });
}

/** A fault of single blocks, not of the source as a whole. */
function isLocal(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return error.code === 'not-indexed' || error.code === 'wrong-block' || (error.stage === 'decode' && error.retryable);
}
