import { expect, test } from 'vitest';
import { FollowLines } from '../../src/cli/follow-lines.ts';
import type { LagEvent } from '../../src/follow/follow-event.ts';

const lag: LagEvent = {
  ...{ event: 'lag', block: 1_000, head: 1_000, blocks: 0, seconds: 5, longest: 6, holes: 0, requests: 12 },
};

const RETRY = {
  ...{ label: 'masterchainInfo', request: '/masterchainInfo', attempt: 3 },
  ...{ code: 'gateway-error', message: 'source masterchainInfo: 502' },
};

function linesOf(isTTY: boolean, columns?: number) {
  const written: string[] = [];
  const now = { ms: 0 };
  const lines = new FollowLines(
    false,
    { isTTY, ...(columns && { columns }), write: (text) => written.push(text) },
    () => now.ms,
  );
  const retry = (sleepMs = 6_000) => lines.retry({ ...RETRY, sleepMs });
  return { written, lines, retry, now };
}

test('an outage is told once where lines stay, not at each retry, and so is its end', () => {
  const { written, lines, retry, now } = linesOf(false);
  retry();
  lines.show({ event: 'waiting', code: 'gateway-error', message: 'source head: 502 after 8 attempts', seconds: 1 });
  retry();
  retry(30_000);
  lines.show({ event: 'resumed', code: 'gateway-error', seconds: 340 });
  lines.show(lag);
  now.ms = 60_000;
  lines.show(lag);
  retry();
  now.ms = 65_000;
  retry();
  expect(written).toEqual([
    'waiting 6 s: source masterchainInfo: 502\n',
    'waiting for this to pass: source head: 502 after 8 attempts\n',
    'continuing after 5 min 40 s\n',
    'block 1000, at the head, lag 5 s  (12 requests)\n',
    'waiting 6 s: source masterchainInfo: 502\n',
  ]);
});

test('on a terminal the lag is one line that changes, and what is told begins a new one', () => {
  const { written, lines } = linesOf(true);
  lines.show(lag);
  lines.show({ ...lag, holes: 2, oldestHole: 990 });
  lines.tell('note');
  expect(written.map((text) => text.replace('\r\u001b[K', '>'))).toEqual([
    '>block 1000, at the head, lag 5 s  (12 requests)',
    '>block 1000, at the head, lag 5 s, 2 missing from 990  (12 requests)',
    ...['\n', 'note\n'],
  ]);
});

test('the line that changes never wraps: without its requests, then cut off', () => {
  const long = { ...lag, holes: 2, oldestHole: 990, martsBehind: 3 };
  const shown = [80, 60, 40].map((columns) => {
    const { written, lines } = linesOf(true, columns);
    lines.show(long);
    return written.join('').replace('\r\u001b[K', '');
  });
  expect(shown).toEqual(
    [
      'block 1000, at the head, lag 5 s, 2 missing from 990, marts 3 s behind',
      'block 1000, at the head, lag 5 s, 2 missing from 990, marts ',
      'block 1000, at the head, lag 5 s, 2 mis',
    ].map((line, at) => line.slice(0, [79, 59, 39][at])),
  );
});
