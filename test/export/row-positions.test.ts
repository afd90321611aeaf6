import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Header } from '../../src/chain/headers.ts';
import { rangeOf } from '../../src/export/lt-windows.ts';
import { limitOf, PAGE_ROWS, type WindowRequest } from '../../src/export/page-request.ts';
import { planRowPages, planRowSpans } from '../../src/export/row-plan.ts';
import { RowPositions } from '../../src/export/row-positions.ts';

interface Row {
  readonly mcSeqno: number;
  readonly lt: bigint;
  readonly id: string;
}

interface Chain {
  readonly headers: ReadonlyMap<number, readonly Header[]>;
  /** In the order of a source: by logical time, then by id. */
  readonly rows: readonly Row[];
}

/** Blocks of a masterchain block begin around its time; many of their rows share a logical time. */
const chain = fc
  .array(
    fc.array(
      fc.record({
        begin: fc.integer({ min: -120, max: 120 }),
        length: fc.integer({ min: 0, max: 90 }),
        txCount: fc.integer({ min: 0, max: 400 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 3, maxLength: 30 },
  )
  .map((groups): Chain => {
    const rows: Row[] = [];
    const headers = new Map<number, Header[]>();
    for (const [mcSeqno, group] of groups.entries()) {
      headers.set(
        mcSeqno,
        group.map(({ begin, length, txCount }, seqno) => {
          const start = 1000 + mcSeqno * 100 + begin;
          for (let i = 0; i < txCount; i++) {
            rows.push({ mcSeqno, lt: BigInt(start + (i % (length + 1))), id: `${mcSeqno}:${seqno}:${i}` });
          }
          const [startLt, endLt] = [BigInt(start), BigInt(start + length)];
          return { workchain: 0, shard: String(seqno), seqno: mcSeqno, mcSeqno, txCount, startLt, endLt, utime: 0 };
        }),
      );
    }
    rows.sort((a, b) => (a.lt !== b.lt ? (a.lt < b.lt ? -1 : 1) : a.id < b.id ? -1 : 1));
    return { headers, rows };
  });

function answerTo({ rows }: Chain, page: WindowRequest): readonly Row[] {
  const { from, to } = page.window;
  const inside = rows.filter(({ lt }) => lt >= from && lt <= to);
  return inside.slice(page.offset, page.offset + limitOf(page));
}

/** Rows of the pages, and of those that follow full ones. */
function fetchAll(source: Chain, pages: readonly WindowRequest[]): readonly Row[] {
  return pages.flatMap((page) => {
    const rows = answerTo(source, page);
    const isMore = page.isLast && page.rows > 0 && page.rows < PAGE_ROWS && rows.length === PAGE_ROWS;
    return isMore ? [...rows, ...fetchAll(source, [{ ...page, offset: page.offset + PAGE_ROWS, rows: 0 }])] : rows;
  });
}

function positionsOf(headers: Chain['headers']): RowPositions {
  return new RowPositions([...headers.values()].flat());
}

function isWindow(page: { readonly kind: string }): page is WindowRequest {
  return page.kind === 'window';
}

describe('pages of rows', () => {
  test('have every row of a span exactly once, however blocks and rows overlap', () => {
    fc.assert(
      fc.property(chain, fc.nat(), fc.nat(), (source, a, b) => {
        const { headers, rows } = source;
        const from = 1 + (a % (headers.size - 1));
        const span = { from, to: from + (b % (headers.size - from)) };
        const pages = planRowPages('window', span, headers, positionsOf(headers)).filter(isWindow);
        const isOwn = ({ mcSeqno }: Row): boolean => mcSeqno >= span.from && mcSeqno <= span.to;
        const ids = (found: readonly Row[]): readonly string[] =>
          found
            .filter(isOwn)
            .map(({ id }) => id)
            .sort();
        const fetched = fetchAll(source, pages);
        // Rows after the end are known to nobody but their own block, and may displace own ones if the last page is promised full.
        if (pages.at(-1)?.rows !== PAGE_ROWS) expect(ids(fetched)).toEqual(ids(rows));
        expect(new Set(fetched.map(({ id }) => id)).size).toBe(fetched.length);
      }),
      { numRuns: 300 },
    );
  });

  test('come once, and leave room for about a block whose header is not known', () => {
    const { headers, rows } = even(100, 37);
    const known = new Map([...headers].filter(([seqno]) => seqno > 0));
    // The unknown block lies among the rows of the first known one.
    const moved = rows.map((row) => (row.mcSeqno === 0 ? { ...row, lt: 1000n } : row));
    const source = { headers, rows: moved.sort((a, b) => (a.lt < b.lt ? -1 : a.lt > b.lt ? 1 : 0)) };
    const pages = planRowPages('window', { from: 1, to: 99 }, known, positionsOf(known)).filter(isWindow);
    const fetched = fetchAll(source, pages).filter(({ mcSeqno }) => mcSeqno > 0);
    expect(fetched.length).toBe(99 * 37);
    expect(pages.length).toBe(Math.ceil((100 * 37) / PAGE_ROWS));
  });

  test('are full but for the last, whether their ends lie in a block or between blocks', () => {
    const { headers } = even(100, 37);
    const range = rangeOf([...headers.values()].flat());
    const pages = range === undefined ? [] : positionsOf(headers).pagesOf(range, true);
    expect(pages.map(({ rows }) => rows)).toEqual([1000, 1000, 1000, 700]);
    expect(pages.map(({ offset }) => offset)).toEqual([0, 1, 2, 3]);
  });

  test('of a block larger than a page are found by their offset', () => {
    const { headers } = even(3, 2500);
    const pages = planRowPages('window', { from: 1, to: 1 }, headers, positionsOf(headers)).filter(isWindow);
    expect(pages.map(({ offset, rows, isLast }) => [offset, rows, isLast])).toEqual([
      [0, 1000, false],
      [1000, 1000, false],
      [2000, 500, true],
    ]);
  });
});

describe('spans of rows', () => {
  const limits = { mode: 'window', requestsPerSpan: Number.MAX_SAFE_INTEGER } as const;

  test('follow each other, cover the range, and have at most ten pages, or one block', () => {
    fc.assert(
      fc.property(chain, (source) => {
        const { headers } = source;
        const range = { from: 1, to: headers.size - 1 };
        const positions = positionsOf(headers);
        const spans = planRowSpans(limits, range, headers, positions);
        expect(spans[0]?.from).toBe(1);
        expect(spans.at(-1)?.to).toBe(range.to);
        for (const [i, span] of spans.entries()) {
          if (i > 0) expect(span.from).toBe((spans[i - 1]?.to ?? 0) + 1);
          if (span.to > span.from) expect(planRowPages('window', span, headers, positions).length).toBeLessThan(11);
        }
      }),
    );
  });

  test('end where they fill their pages', () => {
    const { headers } = even(1000, 30);
    const spans = planRowSpans(limits, { from: 1, to: 999 }, headers, positionsOf(headers));
    const pages = spans.map((span) => planRowPages('window', span, headers, positionsOf(headers)).length);
    expect(pages.reduce((sum, count) => sum + count, 0)).toBe(Math.ceil((999 * 30) / PAGE_ROWS));
  });
});

/** Blocks of so many rows, one after the other. */
function even(blocks: number, rowsPerBlock: number): Chain {
  const headers = new Map<number, readonly Header[]>();
  const rows: Row[] = [];
  for (let mcSeqno = 0; mcSeqno < blocks; mcSeqno++) {
    const [startLt, endLt] = [BigInt(mcSeqno * 1000), BigInt(mcSeqno * 1000 + 500)];
    headers.set(mcSeqno, [
      { workchain: 0, shard: '0', seqno: mcSeqno, mcSeqno, txCount: rowsPerBlock, startLt, endLt, utime: 0 },
    ]);
    for (let i = 0; i < rowsPerBlock; i++) rows.push({ mcSeqno, lt: startLt + BigInt(i % 501), id: `${mcSeqno}:${i}` });
  }
  return { headers, rows };
}
