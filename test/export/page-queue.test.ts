import { expect, test } from 'vitest';
import { PageQueue } from '../../src/export/page-queue.ts';

const MB = 2 ** 20;

/** How many pages are under way at once when many more are asked for. */
async function width(queue: PageQueue): Promise<number> {
  let underWay = 0;
  let most = 0;
  const page = async (): Promise<void> => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };
  await Promise.all(Array.from({ length: 64 }, () => queue.add(page)));
  return most;
}

test('small pages are bounded by their number, large ones by their bytes, and huge ones still come two at a time', async () => {
  const queue = new PageQueue(16);
  expect(await width(queue)).toBe(4);
  for (let page = 0; page < 100; page++) queue.learn(MB);
  expect(await width(queue)).toBe(16);
  queue.learn(10 * MB);
  expect(await width(queue)).toBe(3);
  queue.learn(100 * MB);
  expect(await width(queue)).toBe(2);
});
