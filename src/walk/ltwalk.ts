import PQueue from 'p-queue';
import type { LtWalk } from '../declare/pipeline.ts';
import { TonlakeError } from '../errors.ts';
import type { Ask } from '../source/ask.ts';
import { type Span, spanSize } from '../span.ts';
import { fixedQuery, PAGE_ROWS } from './ask.ts';
import { Horizon } from './horizon.ts';
import { cutAtFinal, type Due, type ListContext } from './lists.ts';
import { commitList, Pages, quarantineSpan, type RefusedRow } from './pages.ts';
import { splitOfTies } from './ties.ts';
import { halve, type LtWindow, planEvenWindows } from './windows.ts';

/** Masterchain blocks of the first span, which tells how dense the rows are. */
const PROBE_BLOCKS = 20;
const MOST_BLOCKS = 5_000;
/** Rows that a span is planned for. */
const SPAN_ROWS = 15_000;
/** Rows that a window is planned for: enough below a full page that few must be halved. */
const WINDOW_ROWS = 700;

/** Rows seen so far, for planning. */
interface Density {
  rows: number;
  blocks: number;
}

/** Brings spans in by windows of logical time. A full window is halved, never paged. */
export async function walkLt(context: ListContext, walk: LtWalk, { missing, again }: Due): Promise<void> {
  const { ends, stop, spanAsks } = context;
  const horizon = new Horizon(context);
  const density: Density = { rows: 0, blocks: 0 };
  for (const entry of again) {
    if (stop.aborted) return;
    await readSpan({ context, walk, horizon, density }, entry.span, [entry.id]);
  }
  for (const whole of cutAtFinal(missing, walk.lookBack, ends.last)) {
    let from = whole.from;
    while (from <= whole.to && !stop.aborted) {
      const size = Math.min(sizeOf(density), Math.max(1, spanAsks * 2));
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      await readSpan({ context, walk, horizon, density }, span, []);
      from = span.to + 1;
    }
  }
}

function sizeOf({ rows, blocks }: Density): number {
  if (blocks === 0) return PROBE_BLOCKS;
  return Math.min(MOST_BLOCKS, Math.max(1, Math.floor((SPAN_ROWS * blocks) / Math.max(rows, 1))));
}

interface Work {
  readonly context: ListContext;
  readonly walk: LtWalk;
  readonly horizon: Horizon;
  readonly density: Density;
}

/** Reads and commits a span; around what cannot be read it is cut. */
async function readSpan(work: Work, span: Span, supersedes: readonly string[]): Promise<void> {
  const { context, density } = work;
  try {
    const { pages, refused } = await readWindows(work, span);
    if (context.stop.aborted) return;
    if (refused.length === 0) {
      density.rows += pages.decoder.records;
      density.blocks += spanSize(span);
      await commitSpan(work, span, pages, supersedes);
      return;
    }
    // What takes the place of an entry covers it as a whole.
    if (supersedes.length > 0) return;
    if (spanSize(span) === 1) return quarantineSpan(context, span, refused);
  } catch (error) {
    if (!isLocal(error)) throw error;
    if (spanSize(span) === 1 || supersedes.length > 0) return tell(context, span, error);
  }
  const middle = Math.floor((span.from + span.to) / 2);
  await readSpan(work, { from: span.from, to: middle }, []);
  await readSpan(work, { from: middle + 1, to: span.to }, []);
}

async function readWindows(
  { context, walk, horizon, density }: Work,
  span: Span,
): Promise<{ readonly pages: Pages; readonly refused: readonly RefusedRow[] }> {
  const { pipeline, source, report, concurrency, stop } = context;
  const range = await horizon.rangeOf(span.from, span.to);
  const pages = new Pages(context);
  const refused: RefusedRow[] = [];
  const queue = new PQueue({ concurrency });
  let fatal: { readonly error: unknown } | undefined;
  const read = async (window: LtWindow, more: readonly (readonly [string, string])[] = []): Promise<void> => {
    if (fatal !== undefined || stop.aborted) return;
    try {
      const isWhole = more.length > 0;
      const page = await source.fetch(windowAsk(context, window, more), ({ body, request }) =>
        pages.add(body, request, {}, isWhole ? undefined : PAGE_ROWS),
      );
      refused.push(...page.refused);
      report({ event: 'progress', pipeline: pipeline.name, seqnos: 0, records: page.to - page.from });
      if (isWhole || page.records < PAGE_ROWS) return;
      const halves = halve(window);
      for (const half of halves ?? []) void queue.add(() => read(half));
      if (halves !== undefined) return;
      for (const part of await splitOfTies(context, walk.ties, span, window.from)) {
        void queue.add(() => read(window, part));
      }
    } catch (error) {
      fatal ??= { error };
    }
  };
  const expected = density.blocks === 0 ? 0 : (density.rows * spanSize(span)) / density.blocks;
  const windows = range.from > range.to ? [] : planEvenWindows(range, expected, WINDOW_ROWS);
  report({ event: 'planned', pipeline: pipeline.name, requests: windows.length });
  for (const window of windows) void queue.add(() => read(window));
  await queue.onIdle();
  if (fatal !== undefined) throw fatal.error;
  return { pages, refused };
}

function windowAsk(
  { pipeline }: ListContext,
  { from, to }: LtWindow,
  more: readonly (readonly [string, string])[],
): Ask {
  return {
    path: pipeline.endpoint.replace(/^GET /, ''),
    query: [
      ...[['start_lt', String(from)] as const, ['end_lt', String(to)] as const, ['limit', String(PAGE_ROWS)] as const],
      ...more,
      ...fixedQuery(pipeline),
    ],
    label: `${pipeline.name} lt ${from}:${to}`,
  };
}

async function commitSpan(
  { context, walk }: Work,
  span: Span,
  pages: Pages,
  supersedes: readonly string[],
): Promise<void> {
  const { store, pipeline, ends } = context;
  const rows = pages.all();
  pages.requireDistinct(rows, span);
  const stage = store.stage(pipeline.name, span);
  try {
    await pages.stage(stage, rows);
    const asOf = walk.lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
    await commitList(context, await stage.finish(), { span, asOf, supersedes });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

function tell({ report, pipeline }: ListContext, { from, to }: Span, { code, message }: TonlakeError): void {
  report({ event: 'problem', pipeline: pipeline.name, from, to, code, message });
}

/** A fault of single blocks, not of the source as a whole. */
function isLocal(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return error.code === 'not-indexed' || error.code === 'no-horizon' || error.code === 'double-key';
}
