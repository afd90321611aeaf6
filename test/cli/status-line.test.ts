import { expect, test } from 'vitest';
import { LiveEvents } from '../../src/cli/live-events.ts';
import { StatusLine } from '../../src/cli/status-line.ts';
import type { LagEvent } from '../../src/follow/follow-event.ts';

const lag: LagEvent = {
  ...{ event: 'lag', block: 1_000, head: 1_000, blocks: 0, seconds: 5, longest: 6, holes: 0, requests: 12 },
};

const RETRY = {
  ...{ label: 'masterchainInfo', request: '/masterchainInfo', attempt: 3 },
  ...{ code: 'gateway-error', message: 'source masterchainInfo: 502' },
};

/** A line whose clock stands still between the seconds that pass. */
function lineOn({ isTTY = true, columns = 200 } = {}) {
  const written: string[] = [];
  const ticks = new Set<() => void>();
  let seconds = 0;
  const line = new StatusLine({
    output: { isTTY, columns, write: (text) => written.push(text.replaceAll('\r\u001b[K', '>')) },
    now: () => seconds * 1000,
    every: (tick) => {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
  });
  return {
    line,
    written,
    ticks,
    pass: (count: number): void => {
      for (let second = 0; second < count; second++) {
        seconds++;
        for (const tick of ticks) tick();
      }
    },
  };
}

function eventsOn(options: { readonly isTTY?: boolean; readonly columns?: number }) {
  const shown = lineOn(options);
  const events = new LiveEvents(shown.line, false);
  return { ...shown, events, retry: (sleepMs = 6_000) => events.retry({ ...RETRY, sleepMs }) };
}

test('long work shows what it does and for how long, below what it says, and leaves nothing of it behind', async () => {
  const { line, written, ticks, pass } = lineOn();
  const result = await line.during('verifying', async () => {
    pass(3);
    line.print('a finding');
    pass(58);
    return 7;
  });
  expect([result, ticks.size]).toEqual([7, 0]);
  expect(written.slice(0, 6)).toEqual([
    ...['>verifying  2 s', '>verifying  3 s', '>', 'a finding\n', '>verifying  3 s', '>verifying  4 s'],
  ]);
  expect(written.slice(-3)).toEqual(['>verifying  1 min', '>verifying  1 min', '>']);
});

test('short work, and work without a terminal, show nothing', async () => {
  const short = lineOn();
  await short.line.during('verifying', async () => short.pass(1));
  const piped = lineOn({ isTTY: false });
  await piped.line.during('verifying', async () => piped.pass(5));
  expect([short.written, piped.written]).toEqual([[], []]);
});

test('the line ends also with work that fails', async () => {
  const { line, written, ticks, pass } = lineOn();
  const failing = line.during('verifying', async () => {
    pass(2);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect([written, ticks.size]).toEqual([['>verifying  2 s', '>'], 0]);
});

test('an outage is told once where lines stay, not at each retry, and so is its end', () => {
  const { written, events, retry, pass } = eventsOn({ isTTY: false });
  retry();
  events.showFollow({
    ...{
      event: 'waiting',
      of: 'head',
      code: 'gateway-error',
      message: 'source head: 502 after 8 attempts',
      seconds: 1,
    },
  });
  retry();
  retry(30_000);
  events.showFollow({ event: 'resumed', of: 'head', code: 'gateway-error', seconds: 340 });
  events.showFollow(lag);
  pass(60);
  events.showFollow(lag);
  retry();
  pass(5);
  retry();
  expect(written).toEqual([
    'waiting 6 s: source masterchainInfo: 502\n',
    'waiting for this to pass: source head: 502 after 8 attempts\n',
    'continuing after 5 min 40 s\n',
    'block 1000, at the head, lag 5 s  (12 requests)\n',
    'waiting 6 s: source masterchainInfo: 502\n',
  ]);
});

test('on a terminal the lag is the line, with what it waits for, and messages stand above it', () => {
  const { line, written, events, retry } = eventsOn({});
  events.showFollow(lag);
  events.showFollow({ ...lag, holes: 2, oldestHole: 990 });
  retry();
  events.showFollow(lag);
  line.print('note');
  line.end();
  expect(written).toEqual([
    '>block 1000, at the head, lag 5 s  (12 requests)',
    '>block 1000, at the head, lag 5 s, 2 missing from 990  (12 requests)',
    '>block 1000, at the head, lag 5 s, 2 missing from 990  waiting 6 s: source masterchainInfo: 502',
    '>block 1000, at the head, lag 5 s  (12 requests)',
    ...['>', 'note\n', '>block 1000, at the head, lag 5 s  (12 requests)', '>'],
  ]);
});

test('the line never wraps: the lag without its requests, then cut off', () => {
  const long = { ...lag, holes: 2, oldestHole: 990, martsBehind: 3 };
  const shown = [80, 60, 40].map((columns) => {
    const { written, events } = eventsOn({ columns });
    events.showFollow(long);
    return written.join('').replace('>', '');
  });
  expect(shown).toEqual(
    [
      'block 1000, at the head, lag 5 s, 2 missing from 990, marts 3 s behind',
      'block 1000, at the head, lag 5 s, 2 missing from 990, marts ',
      'block 1000, at the head, lag 5 s, 2 mis',
    ].map((line, at) => line.slice(0, [79, 59, 39][at])),
  );
});

test('a block that the index does not have yet is told once, after some seconds of asking', () => {
  const { written, events } = eventsOn({ isTTY: false });
  const poll = { label: 'blocks 7', request: '/x', sleepMs: 2000, code: 'not-indexed', message: 'still not indexed' };
  for (let attempt = 1; attempt < 9; attempt++) events.retry({ ...poll, attempt });
  events.retry({ ...poll, attempt: 6, code: 'rate-limited' });
  expect(written).toEqual(['waiting: still not indexed\n']);
});
