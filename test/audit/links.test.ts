import { describe, expect, test } from 'vitest';
import { blockId, type Header, headerId } from '../../src/audit/header.ts';
import { findLinkGaps } from '../../src/audit/links.ts';

const MASTER = '-9223372036854775808';
const WHOLE = '-9223372036854775808';
const LEFT = '4611686018427387904';
const RIGHT = '-4611686018427387904';

function header(workchain: number, shard: string, seqno: number, mcSeqno: number, prev: readonly string[]): Header {
  return { workchain, shard, seqno, mcSeqno, txCount: 1, startLt: 0n, endLt: 1n, prev };
}

function master(seqno: number): Header {
  return header(-1, MASTER, seqno, seqno, [blockId(-1, MASTER, seqno - 1)]);
}

/** One shard that splits in block 12 and merges in block 14. */
const chain: readonly Header[] = [
  master(11),
  header(0, WHOLE, 101, 11, [blockId(0, WHOLE, 100)]),
  master(12),
  header(0, LEFT, 102, 12, [blockId(0, WHOLE, 101)]),
  header(0, RIGHT, 102, 12, [blockId(0, WHOLE, 101)]),
  master(13),
  header(0, LEFT, 103, 13, [blockId(0, LEFT, 102)]),
  header(0, LEFT, 104, 13, [blockId(0, LEFT, 103)]),
  master(14),
  header(0, WHOLE, 105, 14, [blockId(0, LEFT, 104), blockId(0, RIGHT, 102)]),
];
const before = [master(10), header(0, WHOLE, 100, 10, [blockId(0, WHOLE, 99)])];
const after = [chain[8] as Header, chain[9] as Header];
const span = { from: 11, to: 14 };

describe('the proof of headers by their links', () => {
  test('a whole list through a split and a merge has no gaps', () => {
    expect(findLinkGaps(chain, span, before, after)).toEqual({ missing: [], stray: [], unlinked: [] });
  });

  test.each(chain.map((block) => [headerId(block), block] as const))(
    'without %s the list is not whole',
    (id, block) => {
      const gaps = findLinkGaps(
        chain.filter((other) => other !== block),
        span,
        before,
        after,
      );
      expect(gaps.missing.map((missing) => missing.id)).toContain(id);
      expect(Math.min(...gaps.missing.map((missing) => missing.seenFrom))).toBeGreaterThanOrEqual(block.mcSeqno);
    },
  );

  test('a block that nothing links to is stray', () => {
    const stranger = header(0, RIGHT, 900, 13, [blockId(0, RIGHT, 899)]);
    expect(findLinkGaps([...chain, stranger], span, before, after)).toMatchObject({
      stray: [stranger],
    });
  });

  test.each([
    ['nothing', []],
    ['itself', [blockId(0, LEFT, 103)]],
    ['a block of another workchain', [blockId(-1, MASTER, 102)]],
    ['a block further back', [blockId(0, WHOLE, 101)]],
  ])('a block that links to %s is at fault, and not those below it', (_, prev) => {
    const wrong = { ...(chain[6] as Header), prev };
    const gaps = findLinkGaps(
      chain.map((block) => (block === chain[6] ? wrong : block)),
      span,
      before,
      after,
    );
    expect(gaps.unlinked).toEqual([wrong]);
    expect(gaps.stray).toEqual([]);
  });

  test('where the index begins, links to older blocks are no gaps', () => {
    expect(findLinkGaps(chain, span, undefined, after)).toMatchObject({ missing: [], stray: [] });
  });
});
