import type { Header } from '../chain/headers.ts';
import { WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { type LtWindow, rangeOf } from './lt-windows.ts';
import { PAGE_ROWS, type PageRequest } from './page-request.ts';
import { headersOf, planRowPages, planRowSpans } from './row-plan.ts';
import { RowPositions } from './row-positions.ts';
import { txCountOf } from './span-proof.ts';
import type { WalkContext } from './walk-context.ts';

/** Maximum masterchain blocks whose headers are in memory together. */
export const CHUNK_BLOCKS = 5_000;
/** Estimated rows per mean row of a block without headers. */
const DOUBT = 1.3;

type Headers = ReadonlyMap<number, readonly Header[]>;

/** The parts of a walk context that planning needs. */
interface RowPlanning extends Pick<WalkContext, 'mode' | 'requestsPerSpan' | 'stop'> {
  readonly pipeline: Pick<WalkContext['pipeline'], 'name'>;
  readonly sink: Pick<WalkContext['sink'], 'headers'>;
}

/** A span of rows, and its pages. */
export interface PlannedRows {
  readonly span: Span;
  /** The blocks of the span that are missing. Default: all. */
  readonly only?: readonly Span[];
  readonly headers: Headers;
  /** Headers of the missing blocks. */
  readonly own: readonly Header[];
  readonly pages: readonly PageRequest[];
}

/**
 * Plans spans, and their pages, from the headers in the warehouse.
 *
 * @throws {WalkError} `no-headers` for a block without headers, which were exported before and are lost
 */
export async function* planRows(context: RowPlanning, missing: readonly Span[]): AsyncGenerator<PlannedRows> {
  for await (const pack of packSpans(context, missing)) {
    if (context.stop.aborted) return;
    if (pack.spans.length > 1) yield planPack(context, pack);
    else yield* planSpan(context, pack.spans[0]);
  }
}

async function* planSpan(context: RowPlanning, whole: Span): AsyncGenerator<PlannedRows> {
  let { from } = whole;
  while (from <= whole.to) {
    if (context.stop.aborted) return;
    const chunk = { from, to: Math.min(whole.to, from + CHUNK_BLOCKS - 1) };
    const headers = await context.sink.headers({ from: chunk.from - 1, to: chunk.to + 1 });
    requireHeaders(context, chunk, headers);
    const positions = new RowPositions([...headers.values()].flat());
    const spans = planRowSpans(context, chunk, headers, positions);
    // The last span of a chunk may go on in the next one.
    const settled = chunk.to < whole.to && spans.length > 1 ? spans.slice(0, -1) : spans;
    for (const span of settled) {
      const pages = planRowPages(context.mode, span, headers, positions);
      yield { span, headers, own: headersOf(span, headers), pages };
    }
    from = (settled.at(-1) as Span).to + 1;
  }
}

/** Plans neighbouring spans whose rows fit one page. */
function planPack(context: RowPlanning, { spans, headers }: RowPack): PlannedRows {
  for (const span of spans) requireHeaders(context, span, headers);
  const own = spans.flatMap((span) => headersOf(span, headers));
  const window = rangeOf(own) as LtWindow;
  const page: PageRequest = { kind: 'window', window, offset: 0, rows: txCountOf(own), isLast: true };
  return { span: { from: spans[0].from, to: (spans.at(-1) as Span).to }, only: spans, headers, own, pages: [page] };
}

function requireHeaders({ pipeline }: RowPlanning, span: Span, headers: Headers): void {
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    if (headers.has(seqno)) continue;
    throw new WalkError(`walk ${pipeline.name} ${seqno}: expected committed headers of block ${seqno}, got none`, {
      code: 'no-headers',
      hint: suggest('run', pipeline.name, { range: String(seqno) }),
    });
  }
}

/** A single span, or neighbouring ones that, with the rows between them, probably fit one page. */
interface RowPack {
  readonly spans: readonly [Span, ...Span[]];
  /** Headers of all their blocks, if there are several spans. */
  readonly headers: ReadonlyMap<number, readonly Header[]>;
}

/** Packs small spans that together take fewer requests. */
async function* packSpans({ mode, sink }: RowPlanning, missing: readonly Span[]): AsyncGenerator<RowPack> {
  for (let rest = missing; rest.length > 0; ) {
    const [first, ...others] = rest as readonly [Span, ...Span[]];
    const near = nearSpan([first, ...others], { hole: CHUNK_BLOCKS, blocks: CHUNK_BLOCKS });
    const together = mode === 'masterchain' ? [] : rest.filter(({ to }) => to <= near.to);
    if (together.length > 1) yield* packsOf(together, await sink.headers(near));
    else yield { spans: [first], headers: new Map() };
    rest = rest.slice(Math.max(1, together.length));
  }
}

function* packsOf(spans: readonly Span[], headers: RowPack['headers']): Generator<RowPack> {
  const rowsOf = (span: Span): number => txCountOf(headersOf(span, headers));
  const meanRows = txCountOf([...headers.values()].flat()) / Math.max(1, headers.size);
  const between = ({ to }: Span, { from }: Span): number => {
    let rows = 0;
    for (let seqno = to + 1; seqno < from; seqno++) {
      const own = headers.get(seqno);
      rows += own === undefined ? meanRows * DOUBT : txCountOf(own);
    }
    return rows;
  };
  let pack: [Span, ...Span[]] | undefined;
  let rows = 0;
  for (const span of spans) {
    const more = rowsOf(span) + (pack === undefined ? 0 : between(pack.at(-1) as Span, span));
    if (pack !== undefined && rows + more < PAGE_ROWS) {
      pack.push(span);
      rows += more;
      continue;
    }
    if (pack !== undefined) yield { spans: pack, headers };
    pack = [span];
    rows = rowsOf(span);
  }
  if (pack !== undefined) yield { spans: pack, headers };
}

/** Limits for joining neighbouring spans. */
export interface NearLimits {
  /** Maximum gap between two neighbours, in blocks. */
  readonly hole: number;
  /** Maximum size of the result, in blocks. */
  readonly blocks: number;
}

/** Joins the first of some sorted spans with the neighbours within the limits; a long first span is cut. */
export function nearSpan([first, ...others]: readonly [Span, ...Span[]], { hole, blocks }: NearLimits): Span {
  const { from } = first;
  let { to } = first;
  for (const next of others) {
    if (next.from - to - 1 > hole || next.from - from >= blocks) break;
    to = next.to;
  }
  return { from, to: Math.min(to, from + blocks - 1) };
}
