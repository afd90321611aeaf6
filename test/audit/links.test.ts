import { describe, expect, test } from 'vitest';
import { findLinkGaps } from '../../src/audit/header-links.ts';
import { type BlockRef, blockId, type LinkedBlock } from '../../src/chain/headers.ts';

const MASTER = '-9223372036854775808';
const WHOLE = '-9223372036854775808';
const LEFT = '4611686018427387904';
const RIGHT = '-4611686018427387904';

function ref(workchain: number, shard: string, seqno: number): BlockRef {
  return { id: blockId(workchain, shard, seqno), workchain, shard, seqno };
}

function header(
  workchain: number,
  shard: string,
  seqno: number,
  mcSeqno: number,
  prev: readonly BlockRef[],
): LinkedBlock {
  const startLt = BigInt(1000 * mcSeqno + seqno);
  return { ...ref(workchain, shard, seqno), mcSeqno, prev, txCount: 0, startLt, endLt: startLt + 1n, utime: mcSeqno };
}

function master(seqno: number): LinkedBlock {
  return header(-1, MASTER, seqno, seqno, [ref(-1, MASTER, seqno - 1)]);
}

/** One shard that splits in block 12 and merges in block 14. */
const chain: readonly LinkedBlock[] = [
  master(11),
  header(0, WHOLE, 101, 11, [ref(0, WHOLE, 100)]),
  master(12),
  header(0, LEFT, 102, 12, [ref(0, WHOLE, 101)]),
  header(0, RIGHT, 102, 12, [ref(0, WHOLE, 101)]),
  master(13),
  header(0, LEFT, 103, 13, [ref(0, LEFT, 102)]),
  header(0, LEFT, 104, 13, [ref(0, LEFT, 103)]),
  master(14),
  header(0, WHOLE, 105, 14, [ref(0, LEFT, 104), ref(0, RIGHT, 102)]),
];
const before = [master(10), header(0, WHOLE, 100, 10, [])];
const after = [master(14).id, blockId(0, WHOLE, 105)];
const ends = { before, after };
const span = { from: 11, to: 14 };

describe('the proof of headers by their links', () => {
  test('a whole list through a split and a merge has no gaps', () => {
    expect(findLinkGaps(chain, span, ends)).toEqual({
      ...{ missing: [], ended: [], stray: [], unlinked: [], misplaced: [], disordered: [], twice: [], older: [] },
    });
  });

  test.each(chain.map((block) => [block.id, block] as const))('without %s the list is not whole', (id, block) => {
    const gaps = findLinkGaps(
      chain.filter((other) => other !== block),
      span,
      ends,
    );
    expect(gaps.missing.map((missing) => missing.id)).toContain(id);
    expect(Math.min(...gaps.missing.map((missing) => missing.seenFrom))).toBeGreaterThanOrEqual(block.mcSeqno);
  });

  test('a block that nothing links to is stray', () => {
    const stranger = header(0, RIGHT, 900, 13, [ref(0, RIGHT, 899)]);
    expect(findLinkGaps([...chain, stranger], span, ends)).toMatchObject({
      stray: [stranger],
    });
  });

  test.each([
    ['nothing', []],
    ['itself', [ref(0, LEFT, 103)]],
    ['a block of another workchain', [ref(-1, MASTER, 102)]],
    ['a block further back', [ref(0, WHOLE, 101)]],
  ])('a block that links to %s is at fault, and not those below it', (_, prev) => {
    const wrong = { ...(chain[6] as LinkedBlock), prev };
    const gaps = findLinkGaps(
      chain.map((block) => (block === chain[6] ? wrong : block)),
      span,
      ends,
    );
    expect(gaps.unlinked).toEqual([wrong]);
    expect(gaps.stray).toEqual([]);
  });

  test('a block that is listed for two masterchain blocks is at fault in both', () => {
    const again = { ...(chain[3] as LinkedBlock), mcSeqno: 13 };
    expect(findLinkGaps([...chain, again], span, ends).twice).toEqual([chain[3], again]);
  });

  const without = (...ids: readonly string[]): readonly LinkedBlock[] => chain.filter(({ id }) => !ids.includes(id));

  test('a merge without one of its branches is at fault', () => {
    const merged = { ...(chain[9] as LinkedBlock), prev: [ref(0, LEFT, 104)] };
    const shown = [...without(blockId(0, RIGHT, 102), blockId(0, WHOLE, 105)), merged];
    const gaps = findLinkGaps(shown, span, ends);
    expect(gaps.unlinked).toEqual([merged]);
    expect(gaps.missing).toEqual([{ id: blockId(0, RIGHT, 102), seenFrom: 12 }]);
  });

  test('one half after a split lacks the other one', () => {
    const shown = without(blockId(0, RIGHT, 102), blockId(0, WHOLE, 105), master(14).id);
    const left = { before, after: [master(13).id, blockId(0, LEFT, 104)] };
    expect(findLinkGaps(shown, { from: 11, to: 13 }, left).missing).toEqual([
      { id: blockId(0, RIGHT, 102), seenFrom: 12 },
    ]);
  });

  test('a block before the span that the state at the end does not name needs one that follows it', () => {
    const shown = chain.filter(({ workchain }) => workchain === -1);
    const gaps = findLinkGaps(shown, span, { before, after: [master(14).id] });
    expect(gaps.ended).toEqual([before[1]]);
    expect(findLinkGaps(shown, span, { before, after: [master(14).id, blockId(0, WHOLE, 100)] }).ended).toEqual([]);
  });

  test('a masterchain block that another one is said to include is at fault, and missing', () => {
    const wrong = { ...master(12), mcSeqno: 13 };
    const gaps = findLinkGaps([...without(wrong.id), wrong], span, ends);
    expect(gaps).toMatchObject({ misplaced: [wrong], missing: [{ id: wrong.id, seenFrom: 12 }] });
  });

  test.each([
    ['masterchain block', { mcSeqno: 11 }],
    ['time', { utime: 1 }],
    ['logical time', { startLt: 1n }],
  ] as const)('a block with an earlier %s than the one before it is at fault', (what, change) => {
    const wrong = { ...(chain[7] as LinkedBlock), ...change };
    const { disordered } = findLinkGaps([...without(wrong.id), wrong], span, ends);
    expect(disordered).toEqual([{ block: wrong, prev: chain[6], what, seenFrom: 14 }]);
  });

  test('the time of a block before the span counts, not its masterchain block', () => {
    const later = before.map((block) => ({ ...block, mcSeqno: 99, utime: 99 }));
    const { disordered } = findLinkGaps(chain, span, { before: later, after });
    expect(disordered.map(({ block, what }) => [block.id, what])).toEqual([
      [master(11).id, 'time'],
      [blockId(0, WHOLE, 101), 'time'],
    ]);
  });

  test('after the first block of an index, a shard without a block so far links to older blocks', () => {
    const [master10] = before as [LinkedBlock];
    expect(findLinkGaps(chain, span, { before: [master10], after })).toMatchObject({
      ...{ missing: [], ended: [], stray: [] },
      older: [{ id: blockId(0, WHOLE, 100), seenFrom: 11 }],
    });
  });

  test('where the index begins, links to older blocks are no gaps', () => {
    expect(findLinkGaps(chain, span, { before: undefined, after })).toMatchObject({
      ...{ missing: [], stray: [] },
      older: before.map(({ id }) => ({ id, seenFrom: 11 })),
    });
  });

  test('where the index begins, what the state at the end names must be listed', () => {
    const [first, second] = chain as [LinkedBlock, LinkedBlock];
    const only = { before: undefined, after: [first.id, second.id] };
    expect(findLinkGaps([first, second], { from: 11, to: 11 }, only).missing).toEqual([]);
    expect(findLinkGaps([first], { from: 11, to: 11 }, only).missing).toEqual([{ id: second.id, seenFrom: 11 }]);
  });
});
