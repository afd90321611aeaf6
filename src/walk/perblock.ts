import PQueue from 'p-queue';
import type { BlockWalk } from '../declare/pipeline.ts';
import { AuditError, TonlakeError } from '../errors.ts';
import { WordsColumn } from '../flatten/columns.ts';
import type { Ask } from '../source/ask.ts';
import { type Span, spanSize, subtractSpans } from '../span.ts';
import { fixedQuery } from './ask.ts';
import { cutAtFinal, type Due, type ListContext } from './lists.ts';
import { commitList, type PageRows, Pages, quarantineSpan, type RefusedRow } from './pages.ts';
import { coversAll } from './shards.ts';

/** Blocks of a span: bounds memory, and what a kill costs. */
const SPAN_BLOCKS = 500;
/** How often a block that came back wrong is asked for again. */
const TRIES = 2;

/** Rows of one block, or why there are none. */
type BlockRows =
  | { readonly kind: 'rows'; readonly pages: readonly PageRows[] }
  | { readonly kind: 'refused'; readonly refused: readonly RefusedRow[] }
  | { readonly kind: 'failed'; readonly error: TonlakeError };

/** Brings blocks in, each by itself. */
export async function walkBlocks(context: ListContext, walk: BlockWalk, { missing, again }: Due): Promise<void> {
  const { ends, stop, spanAsks } = context;
  for (const entry of again) {
    if (stop.aborted) return;
    await readSpan(context, walk, entry.span, [entry.id]);
  }
  const size = Math.min(SPAN_BLOCKS, spanAsks);
  for (const whole of cutAtFinal(missing, walk.lookBack, ends.last)) {
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
  const { pipeline, report, stop, concurrency } = context;
  const pages = new Pages(context);
  const blocks = new Map<number, BlockRows>();
  let fatal: { readonly error: unknown } | undefined;
  const queue = new PQueue({ concurrency });
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    void queue.add(async () => {
      if (fatal !== undefined || stop.aborted) return;
      try {
        blocks.set(seqno, await readBlock(context, walk, pages, seqno));
      } catch (error) {
        if (isLocal(error)) blocks.set(seqno, { kind: 'failed', error });
        else fatal ??= { error };
      }
    });
  }
  report({ event: 'planned', pipeline: pipeline.name, requests: spanSize(span) });
  await queue.onIdle();
  const bad: Span[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    if (blocks.get(seqno)?.kind !== 'rows') bad.push({ from: seqno, to: seqno });
  }
  // Half a replacement would leave the other half twice.
  const good = supersedes.length > 0 && bad.length > 0 ? [] : subtractSpans([span], bad);
  const rows = good.map((part) => rowsOf(blocks, part));
  const chosen = new Map(good.map((part, i) => [part, rows[i] ?? new Int32Array(0)]));
  await commitParts(context, walk, pages, chosen, supersedes);
  if (fatal !== undefined) throw fatal.error;
  for (const [seqno, block] of blocks) await tell(context, seqno, block);
}

async function commitParts(
  context: ListContext,
  { lookBack }: BlockWalk,
  pages: Pages,
  parts: ReadonlyMap<Span, Int32Array>,
  supersedes: readonly string[],
): Promise<void> {
  const { ends, store, pipeline } = context;
  const asOf = lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
  for (const [span, rows] of parts) {
    pages.requireDistinct(rows, span);
    const stage = store.stage(pipeline.name, span);
    try {
      await pages.stage(stage, rows);
      await commitList(context, await stage.finish(), { span, asOf, supersedes });
    } catch (error) {
      await stage.discard();
      throw error;
    }
  }
}

function rowsOf(blocks: ReadonlyMap<number, BlockRows>, span: Span): Int32Array {
  const rows: number[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    const block = blocks.get(seqno);
    for (const { from, to } of block?.kind === 'rows' ? block.pages : []) {
      for (let row = from; row < to; row++) rows.push(row);
    }
  }
  return Int32Array.from(rows);
}

async function readBlock(context: ListContext, walk: BlockWalk, pages: Pages, seqno: number): Promise<BlockRows> {
  for (let tried = 1; ; tried++) {
    const read = await readPages(context, walk, pages, seqno);
    const refused = read.flatMap((page) => page.refused);
    if (refused.length > 0) return { kind: 'refused', refused };
    const isWhole = walk.limit !== undefined || coversAll(shardsIn(pages, read));
    // Where the index begins, shards are missing for good.
    if (isWhole || tried === TRIES) return { kind: 'rows', pages: read };
  }
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

function askOf({ pipeline }: ListContext, walk: BlockWalk, seqno: number, offset: number): Ask {
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

function shardsIn(pages: Pages, read: readonly PageRows[]): readonly { workchain: number; shard: bigint }[] {
  const workchains = pages.decoder.column('workchain');
  const shards = pages.decoder.column('shard');
  if (!(workchains instanceof WordsColumn && shards instanceof WordsColumn)) return [];
  return read.flatMap(({ from, to }) =>
    Array.from({ length: to - from }, (_, i) => ({
      workchain: (workchains.words[from + i] as number) | 0,
      shard: shards.unsigned64(from + i),
    })),
  );
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
