import { describe, expect, test } from 'vitest';
import { findContradictions, type ProvenRows } from '../../src/audit/proven-rows.ts';
import type { LinkedBlock } from '../../src/chain/headers.ts';

const proven: ProvenRows = {
  spans: [{ from: 10, to: 12 }],
  blocks: [
    { id: 'a', mcSeqno: 10, rows: 2, firstLt: 100n, lastLt: 110n },
    { id: 'b', mcSeqno: 12, rows: 1, firstLt: 130n, lastLt: 130n },
  ],
};

function header(id: string, mcSeqno: number, txCount: number, startLt = 99n, endLt = 140n): LinkedBlock {
  return { id, workchain: 0, shard: '1', seqno: 1, mcSeqno, prev: [], txCount, startLt, endLt, utime: 1 };
}

const sound = [header('a', 10, 2), header('empty', 11, 0), header('b', 12, 1), header('later', 13, 7)];

describe('headers beside transactions that are committed already', () => {
  test('are sound where they count them; what is not committed contradicts nothing', () => {
    expect(findContradictions(sound, proven)).toEqual([]);
  });

  test.each([
    ['counts none of them', header('a', 10, 0), 'counts its 2 committed transactions, got 0'],
    ['counts one more', header('a', 10, 3), 'counts its 2 committed transactions, got 3'],
    ['begins after them', header('a', 10, 2, 101n), 'around its committed transactions (100 to 110), got 101 to 140'],
    [
      'ends before them',
      header('a', 10, 2, 99n, 109n),
      'around its committed transactions (100 to 110), got 99 to 109',
    ],
    ['is of another masterchain block', header('a', 11, 2), 'counts its 0 committed transactions, got 2'],
  ])('are at fault where one %s', (_, wrong, reason) => {
    const blocks = sound.map((block) => (block.id === wrong.id ? wrong : block));
    const [first] = findContradictions(blocks, proven);
    expect(first?.mcSeqno).toBe(wrong.mcSeqno);
    expect(first?.reason).toContain(reason);
  });

  test('are at fault where one is missing, or counts transactions where none were', () => {
    expect(findContradictions(sound.slice(1), proven)).toMatchObject([{ mcSeqno: 10 }]);
    expect(findContradictions([...sound, header('new', 11, 4)], proven)).toMatchObject([{ mcSeqno: 11 }]);
  });
});
