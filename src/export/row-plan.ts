import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import { planLtWindows, planSpans, TARGET_ROWS } from './lt-windows.ts';
import { type PageRequest, pagesOfBlock } from './page-request.ts';
import { promisedRows } from './span-proof.ts';
import type { WalkMode } from './walk-context.ts';

type Headers = ReadonlyMap<number, readonly Header[]>;

/** Maximum records of a span: bounds memory and file size. They just fit into ten windows, so that the last is not small. */
const SPAN_RECORDS = 9_800;
/** Maximum masterchain blocks of a span. */
const SPAN_SEQNOS = 5_000;

/** The headers of a span's masterchain blocks. */
export function headersOf(span: Span, headers: Headers): readonly Header[] {
  const own: Header[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) own.push(...(headers.get(seqno) ?? []));
  return own;
}

/** Cuts a range into spans. */
export function planRowSpans(
  { mode, requestsPerSpan }: { readonly mode: WalkMode; readonly requestsPerSpan: number },
  range: Span,
  headers: Headers,
): readonly Span[] {
  const seqnos = mode === 'masterchain' ? Math.min(SPAN_SEQNOS, requestsPerSpan) : SPAN_SEQNOS;
  const records = Math.min(SPAN_RECORDS, requestsPerSpan * TARGET_ROWS);
  return planSpans([range], (seqno) => promisedRows(headers.get(seqno) ?? []), { records, seqnos });
}

/** The pages with all rows of a span. */
export function planRowPages(mode: WalkMode, span: Span, headers: Headers): readonly PageRequest[] {
  const blocks: PageRequest[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    blocks.push(...pagesOfBlock(seqno, promisedRows(headers.get(seqno) ?? [])));
  }
  if (mode === 'masterchain') return blocks;
  const neighbours = [span.from - 1, span.to + 1].flatMap((seqno) => headers.get(seqno) ?? []);
  const windows = planLtWindows(headersOf(span, headers), neighbours);
  if (mode === 'auto' && windows.length >= blocks.length) return blocks;
  return windows.map((window) => ({ kind: 'window', window }));
}
