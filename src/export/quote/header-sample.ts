import { type NamedHeader, parseHeaders } from '../../chain/headers.ts';
import { fetchShardState } from '../../chain/index-ends.ts';
import { greatest, least, type Span, spanSize } from '../../core/span.ts';
import type { Source } from '../../http/source.ts';
import { halve, type LtWindow, rangeOf } from '../lt-windows.ts';
import { PAGE_ROWS } from '../page-request.ts';
import { bandOfMean } from './figure.ts';

/** Windows of a sample; each has about 200 masterchain blocks. */
const SAMPLE_WINDOWS = 12;
const BLOCKS_A_WINDOW = 200;
/** Pages that are kept for measuring. */
const MEASURED_PAGES = 4;

/** Headers of some stretches of a range, spread evenly over it. */
export interface HeaderSample {
  /** By masterchain seqno. */
  readonly headers: ReadonlyMap<number, readonly NamedHeader[]>;
  /** Masterchain blocks whose headers are all in the sample. */
  readonly stretches: readonly Span[];
  /** True if the sample has all headers of the range. */
  readonly isWhole: boolean;
  /** Transactions of a masterchain block: mean over the sample, and half the width of its 95 % band, by stretches. */
  readonly rowsPerBlock: number;
  readonly rowsBand: number;
  readonly headersPerBlock: number;
  /** Headers per masterchain block at the beginning; undefined if the sample is whole. */
  readonly headersAtStart: number | undefined;
  /** Logical times from the state before the range to the one at its end. */
  readonly range: LtWindow;
  /** Blocks in the state at its end. */
  readonly shards: number;
  /** Pages of headers, for measuring. */
  readonly pages: readonly Uint8Array[];
}

/**
 * Samples the headers of a range in about 15 requests; a short range is read completely.
 *
 * @param first first masterchain block of the index
 */
export async function sampleHeaders(source: Source, span: Span, first: number): Promise<HeaderSample> {
  const state = (seqno: number) => fetchShardState(source, seqno, `plan ${seqno}`);
  const before = rangeOf(await state(Math.max(span.from - 1, first)));
  const atEnd = await state(span.to);
  const after = rangeOf(atEnd);
  const pages: Uint8Array[] = [];
  const range = { from: before?.from ?? 0n, to: after?.to ?? 0n };
  const size = spanSize(span);
  const isWhole = size <= SAMPLE_WINDOWS * BLOCKS_A_WINDOW;
  // The walk plans its windows by the first blocks.
  const start = isWhole ? [] : await listHeaders(source, startOf(range, size), pages);
  const atStart = wholeBlocks(start, span, false);
  const stretches = await Promise.all(stretchesOf(range, size).map((window) => listHeaders(source, window, pages)));
  const groups = stretches
    .map((headers) => wholeBlocks(headers, span, isWhole))
    .filter(({ stretch }) => stretch.from <= stretch.to);
  const headers = unique(groups.flatMap((group) => group.headers));
  const blocks = isWhole ? size : groups.reduce((sum, group) => sum + spanSize(group.stretch), 0);
  const rows = headers.reduce((sum, header) => sum + header.txCount, 0);
  return {
    headers: groupBySeqno(headers),
    stretches: isWhole ? [span] : groups.map((group) => group.stretch),
    isWhole,
    rowsPerBlock: rows / Math.max(1, blocks),
    rowsBand: isWhole ? 0 : bandOfMean(groups.map((group) => group.rows / spanSize(group.stretch))),
    headersPerBlock: headers.length / Math.max(1, blocks),
    headersAtStart: atStart.headers.length === 0 ? undefined : atStart.headers.length / spanSize(atStart.stretch),
    ...{ range, shards: atEnd.length, pages },
  };
}

function stretchesOf(range: LtWindow, size: number): readonly LtWindow[] {
  const width = range.to - range.from + 1n;
  const count = Math.min(SAMPLE_WINDOWS, Math.ceil(size / BLOCKS_A_WINDOW));
  const share =
    size <= SAMPLE_WINDOWS * BLOCKS_A_WINDOW
      ? width / BigInt(count) + 1n
      : (width * BigInt(BLOCKS_A_WINDOW)) / BigInt(size);
  return Array.from({ length: count }, (_, i) => {
    const middle = range.from + (width * BigInt(2 * i + 1)) / BigInt(2 * count);
    return { from: middle - share / 2n, to: middle + share / 2n };
  });
}

function startOf({ from, to }: LtWindow, size: number): LtWindow {
  return { from, to: from + ((to - from + 1n) * BigInt(BLOCKS_A_WINDOW)) / BigInt(size) };
}

async function listHeaders(source: Source, window: LtWindow, pages: Uint8Array[]): Promise<readonly NamedHeader[]> {
  const query = [
    ['start_lt', String(window.from)],
    ['end_lt', String(window.to)],
    ['limit', String(PAGE_ROWS)],
    ['sort', 'asc'],
  ] as const;
  const headers = await source.fetch({ path: '/blocks', query, label: 'plan' }, ({ body, request }) => {
    const parsed = parseHeaders(body, request);
    if (pages.length < MEASURED_PAGES) pages.push(body);
    return parsed;
  });
  const halves = headers.length < PAGE_ROWS ? undefined : halve(window);
  if (halves === undefined) return headers;
  const parts = await Promise.all(halves.map((half) => listHeaders(source, half, pages)));
  return parts.flat();
}

/** The headers of a stretch, without those of the incomplete masterchain blocks at its ends. */
function wholeBlocks(headers: readonly NamedHeader[], span: Span, isAll: boolean) {
  const seqnos = headers.filter((header) => header.workchain === -1).map((header) => header.seqno);
  const margin = isAll ? 0 : 2;
  const from = Math.max(span.from, isAll ? span.from : least(seqnos) + margin);
  const to = Math.min(span.to, isAll ? span.to : greatest(seqnos) - margin);
  const inside = headers.filter((header) => header.mcSeqno >= from && header.mcSeqno <= to);
  const rows = inside.reduce((sum, header) => sum + header.txCount, 0);
  return { headers: inside, stretch: { from, to }, rows };
}

function groupBySeqno(headers: readonly NamedHeader[]): ReadonlyMap<number, readonly NamedHeader[]> {
  const groups = new Map<number, NamedHeader[]>();
  for (const header of headers) {
    const group = groups.get(header.mcSeqno);
    if (group === undefined) groups.set(header.mcSeqno, [header]);
    else group.push(header);
  }
  return groups;
}

function unique(headers: readonly NamedHeader[]): readonly NamedHeader[] {
  return [...new Map(headers.map((header) => [header.id, header])).values()];
}
