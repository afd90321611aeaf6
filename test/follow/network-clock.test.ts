import { expect, test } from 'vitest';
import { NetworkClock } from '../../src/follow/head-loop.ts';
import { testClock } from './support.ts';

const START = Date.UTC(2026, 4, 1);

/** A clock that has seen its first head, and what passes. */
function startClock(firstHead = START) {
  const effects = testClock(START);
  const clock = new NetworkClock(effects);
  const first = clock.observe(firstHead);
  const pass = (ms: number) => effects.sleep(ms, undefined);
  return { effects, clock, first, pass };
}

test('a head within the time that has passed is no news, also after the wall clock was moved', async () => {
  const { effects, clock, first, pass } = startClock();
  expect(first).toBeUndefined();
  await pass(10_000);
  expect(clock.observe(START + 9_000)).toBeUndefined();
  effects.moveWall(3_600_000);
  await pass(10_000);
  expect(clock.observe(START + 19_000)).toBeUndefined();
  expect(clock.now()).toBe(START + 20_000);
});

test('a head from the future after a sleep of the machine says that it slept', async () => {
  const { effects, clock, pass } = startClock();
  await pass(10_000);
  effects.sleepMachine(100_000);
  expect(clock.observe(START + 109_000)).toBe('slept');
  expect(clock.now()).toBe(START + 110_000);
});

test.each([
  ['this time', START],
  ['another time', START + 400 * 86_400_000],
])('a head of %s that jumps while the machine is awake says that it jumped, and sets the clock', async (_, begin) => {
  const { clock, pass } = startClock(begin);
  await pass(10_000);
  expect(clock.observe(begin + 130_000)).toBe('jumped');
  expect(clock.now()).toBe(begin + 130_000);
  await pass(1_000);
  expect(clock.observe(begin + 131_000)).toBeUndefined();
});
