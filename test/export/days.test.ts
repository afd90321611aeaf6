import { afterAll, describe, expect, test } from 'vitest';
import { chainBounds, fetchBlockTime } from '../../src/chain/index-ends.ts';
import { fetchMasterBlock } from '../../src/chain/index-head.ts';
import { realEffects } from '../../src/core/effects.ts';
import { openSession } from '../../src/http/session.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { closing } from '../scratch.ts';

// The newest block is of 2026-05-02 01:40 UTC; the first one of 2026-05-01 23:26:40.
const sandbox = await startSandbox({ blocks: 20_000 });
const session = await openSession({ network: sandbox.url, effects: realEffects });

afterAll(async () => {
  await session.close();
  await sandbox.close();
});

test('the time of the newest block is told in milliseconds', async () => {
  expect(await chainBounds(session.source).headTime()).toBe(Date.UTC(2026, 4, 2, 1, 40));
});

test('the time of a masterchain block is its own, not that of a shard', async () => {
  expect(await fetchBlockTime(session.source, 20_000)).toBe(Date.UTC(2026, 4, 2, 1, 40));
  expect(await fetchBlockTime(session.source, 1)).toBe(Date.UTC(2026, 4, 1, 23, 26, 40));
});

test('a day begins at midnight of its zone', async () => {
  expect(await chainBounds(session.source).firstOfDay('2026-05-02')).toBe(5000);
  // An hour behind UTC: 9,000 blocks of 400 ms later.
  expect(await chainBounds(session.source, { zone: 'Atlantic/Cape_Verde' }).firstOfDay('2026-05-02')).toBe(14_000);
});

test('a day ends when every shard has passed midnight of its zone', async () => {
  const ends = await Promise.all(
    ['UTC', 'Atlantic/Cape_Verde'].map((zone) =>
      chainBounds(session.source, { zone, isOver: true }).lastOfDay('2026-05-01'),
    ),
  );
  expect(ends[0]).toBeGreaterThanOrEqual(5000);
  expect(ends[0]).toBeLessThan(5020);
  expect(ends[1]).toBe((ends[0] ?? 0) + 9000);
});

test('a day that is under way ends at the head, or is refused where it must be over', async () => {
  expect(await chainBounds(session.source).lastOfDay('2026-05-02')).toBe(20_000);
  await expect(chainBounds(session.source, { isOver: true }).lastOfDay('2026-05-02')).rejects.toMatchObject({
    ...{ code: 'day-not-over', retryable: true },
    message: 'walk: expected the index to be past the end of 2026-05-02 (UTC), got head 20000',
  });
});

test('a day without blocks is refused, before the chain as after its head', async () => {
  const { firstOfDay, lastOfDay } = chainBounds(session.source);
  const message = 'usage: expected a day that the index has, got 2025-05-01';
  await expect(firstOfDay('2025-05-01')).rejects.toMatchObject({
    message,
    hint: 'the next block is 1 of 2026-05-01',
  });
  await expect(lastOfDay('2025-05-01')).rejects.toMatchObject({
    message,
    hint: 'the index begins at block 1 of 2026-05-01',
  });
  await expect(firstOfDay('2026-05-03')).rejects.toMatchObject({
    message: 'usage: expected a day that the index has, got 2026-05-03',
    hint: 'the head is block 20000 of 2026-05-02',
  });
  // What is the last day of a chain in one zone may be a day that has not begun in another.
  const later = chainBounds(session.source, { zone: 'Pacific/Honolulu' });
  await expect(later.firstOfDay('2026-05-02')).rejects.toThrow(
    'usage: expected a day that the index has, got 2026-05-02',
  );
});

test('a time is the blocks from it on, and those that can hold rows from before it', async () => {
  const chain = chainBounds(session.source);
  const midnight = Date.UTC(2026, 4, 2);
  expect(await chain.firstSince(midnight)).toBe(5000);
  expect(await chain.lastBefore(midnight)).toBe(await chain.lastOfDay('2026-05-01'));
  // A block every 400 ms.
  expect(await chain.firstSince(midnight + 3_600_000)).toBe(14_000);
  expect(chain.openDays).toEqual([]);
});

test('a time that the head has not passed is open, or is refused where it must be over', async () => {
  const later = Date.UTC(2026, 4, 2, 1, 41);
  const chain = chainBounds(session.source);
  expect(await chain.lastBefore(later)).toBe(20_000);
  expect(chain.openDays).toEqual(['2026-05-02T01:41:00Z']);
  await expect(chainBounds(session.source, { isOver: true }).lastBefore(later)).rejects.toMatchObject({
    ...{ code: 'day-not-over', retryable: true },
    message: 'walk: expected the index to be past the end of 2026-05-02T01:41:00Z, got head 20000',
  });
  const message = 'usage: expected a time that the index has, got 2026-05-02T01:41:00Z';
  await expect(chain.firstSince(later)).rejects.toThrow(message);
});

test('the day that it is follows the clock that is given, or the newest block', async () => {
  expect(await chainBounds(session.source).today()).toBe('2026-05-02');
  const now = async (): Promise<number> => Date.UTC(2026, 6, 4);
  expect(await chainBounds(session.source, { now }).today()).toBe('2026-07-04');
});

test('blocks of another chain are no masterchain blocks, whatever their seqno', async () => {
  const lying = await startTestSandbox({ blocks: 50 });
  const { source } = closing(await openSession({ network: lying.url, effects: hurriedEffects() }));
  expect(await chainBounds(source).firstOfDay('2026-05-01')).toBe(1);
  expect((await fetchMasterBlock(source, 20)).seqno).toBe(20);
  lying.changeAnswers(({ path }, answer) => {
    return path === '/blocks'
      ? { ...answer, body: answer.body.replaceAll('"workchain":-1', '"workchain":0') }
      : undefined;
  });
  const shortList = {
    code: 'short-list',
    message: expect.stringContaining('expected a list of masterchain blocks, got others'),
  };
  await expect(chainBounds(source).firstOfDay('2026-05-01')).rejects.toMatchObject(shortList);
  await expect(fetchMasterBlock(source, 20)).rejects.toMatchObject(shortList);
});

interface Row {
  readonly seqno: number;
  readonly gen_utime: string;
}

/** Answers to the request for the first block since a time, which is block 5000. */
const LATE_STARTS: Readonly<Record<string, (rows: readonly Row[]) => readonly Row[]>> = {
  'begins with a later block': (rows) => rows.slice(3),
  'has later blocks first': (rows) => [...rows].reverse(),
  'has blocks from before it': (rows) => [{ seqno: 4990, gen_utime: String(Date.UTC(2026, 4, 2) / 1000 - 4) }, ...rows],
  'is empty, although the head is later': () => [],
};

describe('an answer to the question for the first block of a day', () => {
  const lying = startTestSandbox({ blocks: 6000 });
  const midnight = String(Date.UTC(2026, 4, 2) / 1000);
  /** Lies in the first answers. */
  const open = async (change: (rows: readonly Row[]) => readonly Row[], times: number) => {
    const sandbox = await lying;
    sandbox.requests.reset();
    let told = 0;
    sandbox.changeAnswers(({ path, query }, answer) =>
      path === '/blocks' && query.get('start_utime') === midnight && told++ < times
        ? withRows<Row>(answer, 'blocks', (rows) => change(rows).map((row) => ({ ...rows[0], ...row })))
        : undefined,
    );
    const { source } = closing(await openSession({ network: sandbox.url, effects: hurriedEffects() }));
    return { sandbox, bounds: chainBounds(source) };
  };

  test.each(Object.entries(LATE_STARTS))('that %s is refused, and asked for again', async (_, change) => {
    const { bounds } = await open(change, 2);
    expect(await bounds.firstOfDay('2026-05-02')).toBe(5000);
    expect(await bounds.lastOfDay('2026-05-01')).toBeGreaterThanOrEqual(5000);
  });

  test.each(Object.entries(LATE_STARTS))('that always %s ends in an error', async (_, change) => {
    const { bounds } = await open(change, Number.POSITIVE_INFINITY);
    for (const end of [() => bounds.firstOfDay('2026-05-02'), () => bounds.lastOfDay('2026-05-01')])
      await expect(end()).rejects.toMatchObject({ code: 'short-list', retryable: true });
  });

  test('takes one more request, for the block before, and none for the first block of the index', async () => {
    const { sandbox, bounds } = await open((rows) => rows, 0);
    await bounds.ends();
    const asked = async (end: () => Promise<number>): Promise<number> => {
      sandbox.requests.reset();
      await end();
      return sandbox.requests.stats().requests;
    };
    expect(await asked(() => bounds.firstOfDay('2026-05-01'))).toBe(1);
    expect(await asked(() => bounds.firstOfDay('2026-05-02'))).toBe(2);
    expect(await asked(() => bounds.firstOfDay('2026-05-02'))).toBe(0);
  });
});
