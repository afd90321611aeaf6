import { describe, expect, test } from 'vitest';
import { openLimiter, type Rps } from '../../src/rate-limit/limiter.ts';
import { sharedClock } from './clock.ts';

describe('a limiter of one process', () => {
  test('many that ask at once are let in one by one, in order', async () => {
    const clock = sharedClock();
    const limiter = openLimiter(2, clock);
    const started: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      void limiter
        .take(new AbortController().signal)
        .then(({ startedAt }) => started.push(`${name} ${Math.round(startedAt)}`));
    }
    await clock.advance(5000);
    expect(started).toEqual(['a 0', 'b 508', 'c 1015']);
  });

  test.each<[Rps, number]>([
    [2, 2],
    ['auto', 1],
    [undefined, Number.POSITIVE_INFINITY],
  ])('before the first request, the rate of %s is %s requests per second', (given, rps) => {
    expect(openLimiter(given, sharedClock()).rps).toBe(rps);
  });

  test('a 429 holds back those who wait already', async () => {
    const clock = sharedClock();
    const limiter = openLimiter(10, clock);
    const first = await limiter.take(new AbortController().signal);
    const started: number[] = [];
    void limiter.take(new AbortController().signal).then(({ startedAt }) => started.push(startedAt));
    limiter.slow(first, 5000);
    await clock.advance(4999);
    expect(started).toEqual([]);
    await clock.advance(6000);
    expect(started).toEqual([5000]);
    expect(limiter.rps).toBeLessThan(10);
  });

  test('whoever gives up frees the turn at once, with the reason of the signal', async () => {
    const clock = sharedClock();
    const limiter = openLimiter(1, clock);
    await limiter.take(new AbortController().signal);
    const giveUp = new AbortController();
    const left = limiter.take(giveUp.signal);
    const stayed = limiter.take(new AbortController().signal);
    giveUp.abort(new Error('no longer needed'));
    await expect(left).rejects.toThrow('no longer needed');
    await clock.advance(2000);
    expect(Math.round((await stayed).startedAt)).toBe(1015);
    await expect(limiter.take(giveUp.signal)).rejects.toThrow('no longer needed');
  });

  test('it serves again after all who waited have left', async () => {
    const clock = sharedClock();
    const limiter = openLimiter(1, clock);
    await limiter.take(new AbortController().signal);
    const giveUp = new AbortController();
    const left = limiter.take(giveUp.signal);
    giveUp.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const next = limiter.take(new AbortController().signal);
    await clock.advance(3000);
    expect(Math.round((await next).startedAt)).toBe(1015);
  });
});
