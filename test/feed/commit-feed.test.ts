import { rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { DeliveryError } from '../../src/core/errors.ts';
import { commitFeed, commitLine } from '../../src/feed/commit-feed.ts';
import { requireSameLedger } from '../../src/feed/cursor.ts';
import { Deliveries, type DeliveryEvent } from '../../src/feed/deliveries.ts';
import { parseDeliveryTarget, type Send } from '../../src/jobs/delivery-target.ts';
import type { Store } from '../../src/warehouse/index.ts';
import { openReader } from '../../src/warehouse/index.ts';
import { compact, tables } from '../warehouse/compacting.ts';
import { commitItems, draftOf, freshPath, killOwner, openTestStore, type StoreKind } from '../warehouse/warehouses.ts';

interface Line {
  readonly number: number;
  readonly kind: string;
  readonly replaces: readonly string[];
  readonly files: readonly string[];
}

/** A target that refuses some attempts. */
function receiver(refuses: (attempt: number) => boolean = () => false) {
  const lines: Line[] = [];
  let attempt = 0;
  const send: Send = async (_target, body) => {
    if (refuses(++attempt)) throw new DeliveryError('it is full', { retryable: true });
    expect(body.endsWith('}\n')).toBe(true);
    lines.push(JSON.parse(body));
  };
  return { lines, send, numbers: () => lines.map(({ number }) => number) };
}

/** A clock that moves when somebody waits; the last pause of an end is never over. */
function quickClock() {
  const waits: number[] = [];
  let now = 0;
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    if (ms === 5000) {
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    }
    waits.push(ms);
    now += ms;
  };
  return { ...realEffects, waits, sleep, monotonic: () => now, random: () => 1 };
}

interface Sending {
  readonly effects?: ReturnType<typeof quickClock>;
  readonly targets?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onEvent?: (event: DeliveryEvent) => void;
  readonly isPatient?: () => boolean;
}

/** Sends what a store has for the targets, until they have all of it. */
async function openSending(store: Store, send: Send, { targets = ['cat'], env = {}, ...more }: Sending = {}) {
  const feeds = targets.map((text) => commitFeed(store.path, parseDeliveryTarget(text, env)));
  const options = { effects: quickClock(), command: 'test', onEvent: () => undefined, ...more };
  const deliveries = new Deliveries(feeds, { ...options, send });
  await deliveries.begin(store, 'sandbox').catch(async (error: unknown) => {
    await deliveries.end();
    throw error;
  });
  return deliveries;
}

describe.each<StoreKind>(['parquet', 'duckdb'])('a line for each commit of a %s warehouse', (kind) => {
  test('is sent in order, until it is taken, and after a restart from where it was taken', async () => {
    const path = freshPath(kind);
    const store = await openTestStore(path);
    await commitItems(store, 0, 9);
    const effects = quickClock();
    const first = receiver((attempt) => attempt === 2 || attempt === 3);
    const events: DeliveryEvent[] = [];
    const sending = await openSending(store, first.send, { effects, onEvent: (event) => events.push(event) });
    for (let at = 1; at < 5; at++) {
      await commitItems(store, at * 10, at * 10 + 9);
      sending.committed(store, 'sandbox');
    }
    await sending.end();
    // What was committed before it began is not told.
    expect(first.numbers()).toEqual([2, 3, 4, 5]);
    expect(effects.waits).toEqual([500, 1000]);
    expect(events).toEqual([
      { event: 'delivery-failed', to: 'on-commit cat', message: 'it is full' },
      { event: 'delivery-resumed', to: 'on-commit cat', seconds: 1.5 },
    ]);
    const entry = await commitItems(store, 50, 59);
    await commitItems(store, 60, 69);
    const second = receiver();
    await (await openSending(store, second.send)).end();
    expect(second.numbers()).toEqual([6, 7]);
    expect(second.lines[0]).toMatchObject({
      ...{ event: 'commit', id: entry.id, kind: 'rows', network: 'sandbox', pipeline: 'items' },
      ...{ from: 50, to: 59, blocks: '50:59', rows: { items: 10, parts: 20 }, replaces: [] },
    });
    expect(second.lines[0]?.files).toHaveLength(kind === 'parquet' ? 2 : 0);
    await store.close();
  });

  test('is sent again if a kill came between its effect and the position', async () => {
    const path = freshPath(kind);
    const store = await openTestStore(path);
    const { lines, send } = receiver();
    const sending = await openSending(store, async (...line) => {
      await send(...line);
      throw new Error('killed');
    });
    await commitItems(store, 0, 9);
    sending.committed(store, 'sandbox');
    await sending.end();
    await (await openSending(store, send)).end();
    expect(lines).toHaveLength(2);
    expect(lines[0]).toEqual(lines[1]);
    await store.close();
  });
});

describe('a target', () => {
  test('that takes nothing holds up neither commits nor other targets, and gets all lines later', async () => {
    const path = freshPath('parquet');
    const store = await openTestStore(path);
    const taken: Line[] = [];
    let isAway = true;
    const send: Send = async ({ name }, body, signal) => {
      if (name === 'other') taken.push(JSON.parse(body));
      // It neither answers nor ends before it is told to.
      else if (isAway) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      else taken.push(JSON.parse(body));
    };
    const targets = ['away', 'other'];
    const patience = { ...quickClock(), sleep: async () => undefined };
    const sending = await openSending(store, send, { targets, effects: patience });
    for (const from of [0, 10, 20]) {
      await commitItems(store, from, from + 9);
      sending.committed(store, 'sandbox');
    }
    await vi.waitUntil(() => taken.length === 3);
    await sending.end();
    expect(taken.map(({ number }) => number)).toEqual([1, 2, 3]);
    isAway = false;
    await (await openSending(store, send, { targets })).end();
    expect(taken.map(({ number }) => number)).toEqual([1, 2, 3, 1, 2, 3]);
    await store.close();
  });

  test('of a run gets at the end what is left, three times at most, and what it does not take is an error', async () => {
    const store = await openTestStore(freshPath('parquet'));
    const isPatient = () => true;
    const endAfter = async (refuses: (attempt: number) => boolean) => {
      const { send, numbers } = receiver(refuses);
      const sending = await openSending(store, send, { isPatient });
      await commitItems(store, 10 * store.ledger().length, 10 * store.ledger().length + 9);
      sending.committed(store, 'sandbox');
      await sending.end();
      return { sending, numbers };
    };
    // One attempt beside the commits, which the end cuts short, and two of the three at the end.
    const late = await endAfter((attempt) => attempt <= 3);
    expect(late.numbers()).toEqual([1]);
    late.sending.requireDelivered();
    const away = await endAfter((attempt) => attempt <= 4);
    expect(away.numbers()).toEqual([]);
    expect(() => away.sending.requireDelivered()).toThrow(
      expect.objectContaining({ name: 'DeliveryError', hint: expect.stringContaining('the next command') }),
    );
    expect((await endAfter(() => false)).numbers()).toEqual([2, 3]);
    await store.close();
  });

  test('has a position of its own: a new one begins with the next commit, and a URL in a variable can change', async () => {
    const store = await openTestStore(freshPath('parquet'));
    const first = receiver();
    const env = { HOOK: 'https://example.org/1' };
    const away: Send = () => Promise.reject(new DeliveryError('away', { retryable: true }));
    const one = await openSending(store, away, { targets: ['env:HOOK', 'https://example.org/1'], env });
    await commitItems(store, 0, 9);
    one.committed(store, 'sandbox');
    await one.end();
    const names: string[] = [];
    const send: Send = async (target, body, signal) => {
      names.push(`${target.name} ${target.notice.kind === 'webhook' ? target.notice.url : ''}`);
      return first.send(target, body, signal);
    };
    const moved = { HOOK: 'https://example.org/2' };
    await (await openSending(store, send, { targets: ['env:HOOK', 'https://example.org/2'], env: moved })).end();
    expect(names).toEqual(['HOOK https://example.org/2']);
    expect(first.numbers()).toEqual([1]);
    await store.close();
  });

  test('is sent to by one process at a time, and by the next one after a kill', async () => {
    const store = await openTestStore(freshPath('parquet'));
    const { send } = receiver();
    const sending = await openSending(store, send);
    await expect(openSending(store, send)).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('on-commit cat is sent already'),
    });
    const feed = commitFeed(store.path, parseDeliveryTarget('cat', {}));
    await killOwner(await feed.lockPath());
    const next = await openSending(store, send);
    await next.end();
    await sending.end();
    await store.close();
  });

  test('is a URL, a variable with a URL, or a command', () => {
    expect(parseDeliveryTarget('https://example.org/s3cret', {})).toMatchObject({ name: 'example.org' });
    expect(parseDeliveryTarget('jq . >> lines', {})).toMatchObject({
      name: 'jq',
      notice: { kind: 'command', command: ['sh', '-c', 'jq . >> lines'] },
    });
    const refused = (text: string, env = {}) => {
      try {
        return parseDeliveryTarget(text, env).name;
      } catch (error) {
        return String(error);
      }
    };
    expect(refused('ftp://example.org/s3cret')).toMatch(/expected a URL such as .*, got ftp:\/\/\.\.\.$/);
    expect(refused('https://')).toContain('expected a URL');
    expect(refused('env:HOOK')).toContain('expected a URL in HOOK, got none');
    expect(refused('env:HOOK', { HOOK: 's3cret' })).toMatch(/in HOOK, got something else$/);
  });
});

describe('a position', () => {
  test('of another warehouse is refused, with what to do about it', async () => {
    const [own, other] = [freshPath('parquet'), freshPath('parquet')];
    for (const path of [own, other]) {
      const store = await openTestStore(path);
      await commitItems(store, 0, 9);
      if (path === own) await (await openSending(store, receiver().send)).end();
      await store.close();
    }
    await cp(join(own, '_feed'), join(other, '_feed'), { recursive: true });
    const store = await openTestStore(other);
    const { send, lines } = receiver();
    await expect(openSending(store, send)).rejects.toMatchObject({
      code: 'foreign-cursor',
      hint: expect.stringMatching(/^to begin with the next commit: rm .*_feed\/on-commit-\w{12}\.json$/),
    });
    expect(lines).toEqual([]);
    await store.close();
  });

  test('that was changed is refused', async () => {
    const store = await openTestStore(freshPath('parquet'));
    await (await openSending(store, receiver().send)).end();
    const path = (await commitFeed(store.path, parseDeliveryTarget('cat', {})).lockPath()).replace('.lock', '.json');
    writeFileSync(path, '{"number":"x"}');
    await expect(openSending(store, receiver().send)).rejects.toThrow(
      `store: expected a position in ${path}, got something else`,
    );
    rmSync(path);
    await (await openSending(store, receiver().send)).end();
    await store.close();
  });

  test('stays valid when the entry at it was lost, and a repair filled its number', () => {
    const entry = { number: 3, id: 'a', supersedes: [] };
    const at = { number: 3, id: 'a' };
    // Only these fields are read.
    const check = (found: object) => () => requireSameLedger([{ ...entry, ...found }] as never, at);
    expect(check({})).not.toThrow();
    expect(check({ id: 'b', supersedes: ['b'] })).not.toThrow();
    expect(check({ id: 'b' })).toThrow('another warehouse');
    expect(check({ id: 'b', supersedes: ['b'], scope: 'forgotten' })).toThrow('another warehouse');
    expect(() => requireSameLedger([], at)).toThrow('another warehouse');
  });
});

test('a line tells what its commit did, also after it was merged or forgotten', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  const first = await commitItems(store, 0, 9);
  await commitItems(store, 10, 19);
  await commitItems(store, 0, 9, { supersedes: [first.id] });
  await commitItems(store, 20, 29, { scope: 'part of the rows' });
  await store.commit(
    { id: 'forgotten1', tables: {} },
    draftOf({ from: 40, to: 49 }, { scope: 'forgotten', supersedes: ['forgotten1'] }),
  );
  await store.close();
  await compact(path);
  const reader = await openReader(path, tables);
  const lines = (await reader.log(0)).map((entry): Line => JSON.parse(commitLine(entry)));
  expect(lines.map(({ kind }) => kind)).toEqual(['rows', 'rows', 'replaced', 'partial', 'forgotten', 'merged']);
  expect(lines.map(({ replaces }) => replaces.length)).toEqual([0, 0, 1, 0, 0, 2]);
  await reader.close();
});
