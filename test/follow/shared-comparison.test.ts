import { expect, test } from 'vitest';
import { type Committing, shareComparisons } from '../../src/follow/rounds.ts';

/** Works that tell what they do, and comparisons that do. */
function tellingWorks() {
  const told: string[] = [];
  const working =
    (name: string, commits: number): Committing =>
    async (compared) => {
      for (let commit = 1; commit <= commits; commit++) {
        told.push(`${name} fetches ${commit}`);
        await Promise.resolve();
        await compared();
        told.push(`${name} commits ${commit}`);
      }
    };
  const compare = async () => {
    told.push('compares');
  };
  return { told, working, compare };
}

test('works fetch one after the other, and commit after one comparison for all', async () => {
  const { told, working, compare } = tellingWorks();
  await shareComparisons([working('a', 1), working('none', 0), working('b', 2)], compare);
  expect(told).toEqual([
    ...['a fetches 1', 'b fetches 1', 'compares', 'a commits 1', 'b commits 1'],
    ...['b fetches 2', 'compares', 'b commits 2'],
  ]);
});

test('rows that are fetched during a comparison wait for the next one', async () => {
  const { told, working } = tellingWorks();
  let compares = 0;
  let isStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    isStarted = resolve;
  });
  const overlapping: Committing = async (compared) => {
    const first = compared();
    await started;
    told.push('fetches during it');
    const second = compared();
    await Promise.all([first, second]);
    told.push(`commits after ${compares}`);
  };
  await shareComparisons([overlapping, working('a', 1)], async () => {
    compares++;
    isStarted();
    await new Promise((resolve) => setImmediate(resolve));
  });
  expect(told).toEqual(['a fetches 1', 'fetches during it', 'a commits 1', 'commits after 2']);
});

test('a comparison that fails, fails all commits that wait for it', async () => {
  const { told, working } = tellingWorks();
  const sharing = shareComparisons([working('a', 1), working('b', 1)], async () => {
    throw new Error('another chain');
  });
  await expect(sharing).rejects.toThrow('another chain');
  expect(told).toEqual(['a fetches 1', 'b fetches 1']);
});

test('work that fails begins no other; what was fetched before is still compared and committed', async () => {
  const { told, working, compare } = tellingWorks();
  const failing: Committing = async () => {
    throw new Error('the source is down');
  };
  await expect(shareComparisons([working('a', 1), failing, working('b', 1)], compare)).rejects.toThrow('is down');
  expect(told).toEqual(['a fetches 1', 'compares', 'a commits 1']);
});
