import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import { type LtWindow, planSpans, rangeOf } from './lt-windows.ts';
import { PAGE_ROWS, type PageRequest, pagesOfBlock } from './page-request.ts';
import type { RowPositions } from './row-positions.ts';
import { txCountOf } from './span-proof.ts';
import type { WalkMode } from './walk-context.ts';

type Headers = ReadonlyMap<number, readonly Header[]>;

/** Maximum pages of a span: bounds memory and file size. */
const SPAN_PAGES = 10;
/** Minimum share of that in a span that could be longer. */
const ENOUGH = 0.7;
/** Maximum masterchain blocks of a span. */
const SPAN_SEQNOS = 5_000;

/** The headers of a span's masterchain blocks. */
export function headersOf(span: Span, headers: Headers): readonly Header[] {
  const own: Header[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) own.push(...(headers.get(seqno) ?? []));
  return own;
}

interface RowPlanning {
  readonly mode: WalkMode;
  readonly requestsPerSpan: number;
}

/** Cuts a range into spans whose rows fill their pages. */
export function planRowSpans(
  { mode, requestsPerSpan }: RowPlanning,
  range: Span,
  headers: Headers,
  positions: RowPositions,
): readonly Span[] {
  const pages = Math.min(SPAN_PAGES, requestsPerSpan);
  if (mode === 'masterchain') {
    const limits = { records: pages * PAGE_ROWS, seqnos: Math.min(SPAN_SEQNOS, requestsPerSpan) };
    return planSpans([range], (seqno) => txCountOf(headers.get(seqno) ?? []), limits);
  }
  const spans: Span[] = [];
  for (let from = range.from; from <= range.to; ) {
    const rest = { from, to: Math.min(range.to, from + SPAN_SEQNOS - 1) };
    const to = endOfSpan(rest, headers, positions, pages * PAGE_ROWS);
    spans.push({ from, to });
    from = to + 1;
  }
  return spans;
}

/** Where to end a span: the blocks around it share the pages at its ends, so some ends fill the pages better than others. */
function endOfSpan({ from, to }: Span, headers: Headers, positions: RowPositions, most: number): number {
  let best = { to: from, fill: 0 };
  let own = 0;
  let range: LtWindow | undefined;
  for (let seqno = from; seqno <= to; seqno++) {
    const added = headers.get(seqno) ?? [];
    own += txCountOf(added);
    range = spanning(range, rangeOf(added));
    const rows = range === undefined ? 0 : positions.mostRows(range, headers.has(from - 1));
    if (rows > most && seqno > from) return best.to;
    const fill = own < most * ENOUGH ? 0 : own / Math.ceil(rows / PAGE_ROWS);
    if (fill >= best.fill) best = { to: seqno, fill };
  }
  return to;
}

function spanning(a: LtWindow | undefined, b: LtWindow | undefined): LtWindow | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { from: a.from < b.from ? a.from : b.from, to: a.to > b.to ? a.to : b.to };
}

/** The pages with all rows of a span. */
export function planRowPages(
  mode: WalkMode,
  span: Span,
  headers: Headers,
  positions: RowPositions,
): readonly PageRequest[] {
  const rowsOf = (seqno: number): number => txCountOf(headers.get(seqno) ?? []);
  const blocks: PageRequest[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) blocks.push(...pagesOfBlock(seqno, rowsOf(seqno)));
  const range = rangeOf(headersOf(span, headers));
  if (mode === 'masterchain' || range === undefined) return blocks;
  const windows = positions.pagesOf(range, headers.has(span.from - 1));
  return mode === 'auto' && windows.length >= blocks.length ? blocks : windows;
}
