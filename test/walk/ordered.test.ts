import { describe, expect, test } from 'vitest';
import { inOrder, seqnosOf } from '../../src/walk/ordered.ts';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('loading ahead', () => {
  test('hands out results in the order of the keys, whatever ends first', async () => {
    const results = await collect(
      inOrder([3, 2, 1], 3, async (key) => {
        for (let i = 0; i < key * 3; i++) await Promise.resolve();
        return key * 10;
      }),
    );
    expect(results.map(({ value }) => value)).toEqual([30, 20, 10]);
  });

  test('never has more under way than it may', async () => {
    let open = 0;
    let most = 0;
    await collect(
      inOrder(seqnosOf([{ from: 1, to: 50 }]), 4, async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
      }),
    );
    expect(most).toBe(4);
  });

  test('a failure comes at the place of its key', async () => {
    const seen: number[] = [];
    const walk = async (): Promise<void> => {
      const load = async (key: number): Promise<number> => (key === 3 ? Promise.reject(new Error('third')) : key);
      for await (const { key } of inOrder([1, 2, 3, 4], 4, load)) seen.push(key);
    };
    await expect(walk()).rejects.toThrow('third');
    expect(seen).toEqual([1, 2]);
  });

  test('a consumer that stops ends what is under way', async () => {
    const aborted: number[] = [];
    const load = (key: number, signal: AbortSignal): Promise<number> =>
      key === 1
        ? Promise.resolve(key)
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              aborted.push(key);
              reject(new Error('aborted'));
            });
          });
    for await (const { key } of inOrder([1, 2, 3], 3, load)) {
      if (key === 1) break;
    }
    expect(aborted).toEqual([2, 3]);
  });
});
