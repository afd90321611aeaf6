import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import type { FollowEvent } from '../../src/follow/follow-event.ts';
import type { Passing, Replied, TestSandboxOptions } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

/** A growing network, and the options to follow it from its head on. */
async function startFollowed(most: number, sandboxOptions: TestSandboxOptions = {}) {
  const { effects, sandbox } = await startGrowing(most, sandboxOptions);
  const warehouse = join(freshFolder(), 'w');
  const options = { pipelines: ['blocks'], network: sandbox.url, warehouse, effects, lagMs: 10_000, from: '-2:' };
  /** Answers so while some time passes, once the head has moved. */
  const whilePassing = (ms: number, answer: (passing: Passing) => Replied | Promise<Replied>) => {
    let until: number | undefined;
    return (event: FollowEvent): void => {
      if (event.event !== 'lag' || event.block <= HEAD || until !== undefined) return;
      until = effects.elapsed() + ms;
      sandbox.answer = (passing) => (effects.elapsed() < (until ?? 0) ? answer(passing) : passing.forward());
    };
  };
  return { effects, sandbox, options, whilePassing };
}

const troubles = (events: readonly FollowEvent[]) =>
  events.flatMap((event) => (event.event === 'waiting' || event.event === 'resumed' ? [event] : []));

describe('a source', () => {
  test.each([
    ['is down for an hour', 3_600_000, 502, 'gateway-error'],
    ['answers 429 for ten minutes', 600_000, 429, 'rate-limited'],
  ])('that %s is asked now and then, and caught up with', async (_, ms, status, code) => {
    const { effects, sandbox, options, whilePassing } = await startFollowed(60);
    const fail = whilePassing(ms, () => ({ status, body: '' }));
    let failed = 0;
    const { events, report } = await followUntil((event) => {
      fail(event);
      if (event.event === 'resumed') failed = sandbox.requests.targets.length;
      return reaches(HEAD + 60)(event);
    }, options);
    expect(report.complete).toBe(true);
    const told = troubles(events);
    expect(told.at(0)).toMatchObject({ event: 'waiting', code });
    expect(told.at(-1)).toMatchObject({ event: 'resumed', code });
    // It is told again every five minutes, not with each try.
    expect(told.length).toBeLessThanOrEqual(2 + Math.ceil(ms / 300_000));
    expect(effects.elapsed()).toBeLessThan(ms + 300_000);
    expect(failed).toBeLessThan(40 + (ms / 60_000) * 12);
  });

  test('whose head stands is told once, and followed when it moves', async () => {
    const { options, whilePassing } = await startFollowed(320);
    let standing: Promise<Replied> | undefined;
    const stand = whilePassing(120_000, (passing) => {
      if (passing.path !== '/masterchainInfo') return passing.forward();
      standing ??= passing.forward();
      return standing;
    });
    const { events, report } = await followUntil((event) => {
      stand(event);
      return reaches(HEAD + 320)(event);
    }, options);
    expect(troubles(events)).toMatchObject([
      {
        event: 'waiting',
        code: 'head-stands',
        message: expect.stringMatching(/^the head stands at block \d+ for 3\d s$/),
      },
      { event: 'resumed', code: 'head-stands' },
    ]);
    expect(report.complete).toBe(true);
  });

  test('with a hole that stays is followed beyond it; the hole is told once, and proven when it closes', async () => {
    const hole = HEAD + 20;
    const { options } = await startFollowed(250, { faults: { holes: [hole], holeAsks: 1e9, holeMs: 40_000 } });
    const { events, lags, report } = await followUntil(reaches(HEAD + 250), options);
    expect(
      lags.filter(({ block, holes, oldestHole }) => block > hole && holes === 2 && oldestHole === hole).length,
    ).toBeGreaterThan(3);
    expect(lags.at(-1)).toMatchObject({ holes: 0 });
    expect(report.complete).toBe(true);
    // The hole is told once, and so is the block after it, whose headers refer to the missing ones.
    expect(events.filter(({ event }) => event === 'problem')).toMatchObject([
      { pipeline: 'blocks', from: hole, to: hole, code: 'not-indexed' },
      { pipeline: 'blocks', from: hole + 1, to: hole + 1, code: 'unbalanced' },
    ]);
    // Blocks beside the hole were not requested again for it.
    const proven = events.flatMap((event) => (event.event === 'span' && event.pipeline === 'blocks' ? [event] : []));
    expect(proven.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(252);
  });

  test('with a block whose every page fails is followed beyond it, and that block is named', async () => {
    const heavy = HEAD + 20;
    const { options, sandbox } = await startFollowed(80);
    sandbox.answer = async ({ path, forward }) => {
      const answer = await forward();
      const isHeavy =
        path.startsWith('/transactions') && new RegExp(`"mc_block_seqno": ?${heavy}\\b`).test(answer.body);
      return isHeavy ? { status: 500, body: '{"error":"timeout: context deadline exceeded"}' } : answer;
    };
    const { events, lags, report } = await followUntil(reaches(HEAD + 60), { ...options, pipelines: ['transactions'] });
    const problems = events.flatMap((event) => (event.event === 'problem' ? [event] : []));
    expect(problems).toMatchObject([{ pipeline: 'transactions', from: heavy, to: heavy, code: 'server-error' }]);
    expect(lags.at(-1)).toMatchObject({ holes: 1, oldestHole: heavy });
    expect(report.complete).toBe(false);
  });

  test('that refuses the key is followed again with the key that replaces it in its file', async () => {
    const { sandbox, options } = await startFollowed(100);
    const file = join(freshFolder(), 'key');
    writeFileSync(file, 'key-one\n');
    let accepted = 'key-one';
    const seen = new Set<unknown>();
    sandbox.answer = (passing) => {
      const key = passing.headers['x-api-key'];
      seen.add(key);
      return key === accepted ? passing.forward() : { status: 401, body: '{"error":"API key does not exist"}' };
    };
    const { events, report } = await followUntil(
      (event) => {
        if (event.event === 'lag' && event.block > HEAD) accepted = 'key-two';
        if (event.event === 'waiting') writeFileSync(file, 'key-two\n');
        return reaches(HEAD + 100)(event);
      },
      { ...options, env: { TONLAKE_API_KEY_FILE: file } },
    );
    expect(troubles(events)).toMatchObject([
      { event: 'waiting', code: 'unauthorized' },
      { event: 'resumed', code: 'unauthorized' },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/key-one|key-two/);
    expect([...seen]).toEqual(['key-one', 'key-two']);
    expect(report.complete).toBe(true);
  });

  test('that does not answer at the start ends it in one line', async () => {
    const { sandbox, options } = await startFollowed(10);
    sandbox.answer = () => ({ status: 502, body: '' });
    await expect(followUntil(() => false, options)).rejects.toMatchObject({ code: 'gateway-error' });
  });
});

describe('a machine', () => {
  test('whose clock is moved, or which slept, measures the lag by the chain and goes on', async () => {
    const { effects, options } = await startFollowed(420);
    const begin = Date.UTC(2026, 4, 2) - 2_000_000 + HEAD * 400;
    effects.moveWall(begin - effects.now());
    let jumps = 0;
    const { events, lags, report } = await followUntil((event) => {
      if (event.event === 'lag' && event.block > HEAD && jumps === 0) {
        jumps++;
        effects.moveWall(3_600_000);
      }
      if (event.event === 'lag' && event.block > HEAD + 60 && jumps === 1) {
        jumps++;
        effects.moveWall(-7_200_000);
      }
      if (event.event === 'lag' && event.block > HEAD + 120 && jumps === 2) {
        jumps++;
        effects.sleepMachine(100_000);
      }
      return reaches(HEAD + 420)(event);
    }, options);
    expect(report.complete).toBe(true);
    expect(events.filter(({ event }) => event === 'clock')).toMatchObject([{ why: 'slept' }]);
    expect(lags.filter(({ seconds }) => seconds > 10)).toEqual([]);
  });

  test('whose disk is full waits for space, and misses nothing', async () => {
    const { options } = await startFollowed(80);
    let failures = 3;
    const full = new StoreError('store: warehouse w: the disk is full (ENOSPC)', { code: 'disk-full' });
    const committed = (): void => {
      if (failures-- > 0) throw full;
    };
    const steps = [{ committed, end: async () => undefined }];
    const slow = { ...options, steps, effects: { ...options.effects, random: () => 1 } };
    const { events, report } = await followUntil(reaches(HEAD + 80), slow);
    expect(troubles(events)).toMatchObject([
      { event: 'waiting', code: 'disk-full' },
      { event: 'resumed', code: 'disk-full' },
    ]);
    expect(report.complete).toBe(true);
  });
});
