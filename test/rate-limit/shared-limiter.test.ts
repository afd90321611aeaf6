import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { resolveNetwork } from '../../src/http/network.ts';
import { Secret } from '../../src/http/secret.ts';
import { budgetStatus, formatBudgetStatus } from '../../src/rate-limit/budget-status.ts';
import { openSourceLimiter, type RateLimiter, type SourceLimiterOptions } from '../../src/rate-limit/limiter.ts';
import { freshFolder } from '../scratch.ts';

const BASE_URL = 'http://127.0.0.1:9/api/v3';
const KEY = new Secret('b7c1f00dd00fc1b7deadbeefcafe');

/** A budget as another process would open it: it shares nothing with others but the state directory. */
function open(state: string, options: Partial<SourceLimiterOptions> = {}): RateLimiter {
  const budget = openSourceLimiter({
    ...{ network: resolveNetwork(BASE_URL), baseUrl: BASE_URL, key: KEY, rps: 50 },
    ...{ priority: 'backfill', command: 'tonlake test' },
    ...{ env: { TONLAKE_STATE_DIR: state }, effects: realEffects },
    onWarning: (message) => expect.fail(message),
    ...options,
  });
  onTestFinished(() => budget.close());
  return budget;
}

function never(): AbortSignal {
  return new AbortController().signal;
}

function statusOf(state: string) {
  return budgetStatus({ network: resolveNetwork(BASE_URL), apiKey: KEY, env: { TONLAKE_STATE_DIR: state } });
}

/** The files of all limits. */
function limitFiles(state: string): string[] {
  return filesBelow(state).filter((path) => /\/limit\.\d+$/.test(path));
}

async function takeMany(budget: RateLimiter, count: number): Promise<void> {
  for (let taken = 0; taken < count; taken++) await budget.take(never());
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
  });
}

describe('a shared budget', () => {
  test('holds for all that ask together', async () => {
    const state = freshFolder();
    const from = performance.now();
    await Promise.all([1, 2, 3].map(() => takeMany(open(state), 25)));
    // 75 at 50 a second; the first need not wait.
    expect(performance.now() - from).toBeGreaterThan(1400);
  });

  test('an interactive request of one goes before all that wait elsewhere', async () => {
    const state = freshFolder();
    const backfill = open(state);
    const analyst = open(state, { priority: 'interactive' });
    const permit = await backfill.take(never());
    await analyst.take(never());
    backfill.slow(permit, 2000);
    const order: string[] = [];
    const waiting = [1, 2, 3].map(() => backfill.take(never()).then(() => order.push('backfill')));
    await analyst.take(never()).then(() => order.push('interactive'));
    await Promise.all(waiting);
    expect(order[0]).toBe('interactive');
  });

  test('serves those who wait when another ends', async () => {
    const state = freshFolder();
    const first = open(state, { rps: 10 });
    const others = [open(state, { rps: 10 }), open(state, { rps: 10 })];
    await Promise.all([first, ...others].map((budget) => budget.take(never())));
    const waiting = others.flatMap((budget) => [budget.take(never()), budget.take(never()), budget.take(never())]);
    await first.close();
    await Promise.all(waiting);
    expect((await statusOf(state)).holders).toHaveLength(2);
  });

  test('counts each request of many that ask at once', async () => {
    const state = freshFolder();
    const budgets = Array.from({ length: 8 }, () => open(state, { rps: 100 }));
    const from = performance.now();
    await Promise.all(budgets.map((budget) => takeMany(budget, 10)));
    expect(performance.now() - from).toBeGreaterThan(780);
    expect((await statusOf(state)).holders).toHaveLength(8);
    const [file = ''] = limitFiles(state);
    expect(limitFiles(state)).toEqual([file]);
  });

  test('a file that no version has written is passed over', async () => {
    const state = freshFolder();
    await open(state).take(never());
    const [file = ''] = limitFiles(state);
    writeFileSync(file.replace(/\d+$/, '70000'), 'nonsense');
    const budget = open(state);
    await budget.take(never());
    expect(limitFiles(state)[0]).toMatch(/limit\.7000\d$/);
    expect((await statusOf(state)).limit).toBe(50);
  });

  test('a file of another version ends each request, in one line that names it', async () => {
    const state = freshFolder();
    const running = open(state);
    await running.take(never());
    const [file = ''] = limitFiles(state);
    const other = file.replace(/\d+$/, '70000');
    writeFileSync(other, '{"version":2}');
    const refused = {
      message: `source: expected a rate limit of version 1 in ${other}, got version 2`,
      ...{
        code: 'other-limit',
        retryable: false,
        hint: `end the processes of the other version, then remove ${other}`,
      },
    };
    for (const budget of [running, open(state)]) {
      await expect(takeMany(budget, 30)).rejects.toMatchObject(refused);
    }
  });

  test('a folder that somebody removes is made again', async () => {
    const state = freshFolder();
    const budget = open(state, { rps: 20 });
    await budget.take(never());
    rmSync(state, { recursive: true });
    await takeMany(budget, 3);
    expect(existsSync(state)).toBe(true);
  });

  test('a 429 of one slows all, and Retry-After holds all', async () => {
    const state = freshFolder();
    const [one, other] = [open(state), open(state)];
    await one.take(never());
    const permit = await other.take(never());
    const from = performance.now();
    other.slow(permit, 700);
    await other.take(never());
    await one.take(never());
    // Timers count whole milliseconds.
    expect(performance.now() - from).toBeGreaterThan(698);
    expect(one.rps).toBeLessThan(50);
  });

  test('other keys and other networks have budgets of their own', async () => {
    const state = freshFolder();
    await open(state).take(never());
    await open(state, { key: undefined }).take(never());
    await open(state, { baseUrl: 'http://127.0.0.1:10/api/v3' }).take(never());
    expect(readdirSync(join(state, 'budget')).filter((name) => name !== 'salt')).toHaveLength(3);
  });

  test('the key stands in no file and no name, and only this user can read them', async () => {
    const state = freshFolder();
    const budget = open(state, { rps: 'auto', command: `tonlake api ${KEY.reveal()}` });
    budget.slow(await budget.take(never()), 0);
    await budget.close();
    const paths = filesBelow(state);
    expect(paths.some((path) => /limit\.\d+$/.test(path))).toBe(true);
    for (const path of paths) {
      expect(path).not.toContain(KEY.reveal());
      expect(statSync(path).mode & 0o077, path).toBe(0);
      if (statSync(path).isFile()) expect(readFileSync(path, 'utf8')).not.toContain(KEY.reveal());
    }
  });

  test('whoever gives up waits no longer, with the reason of the signal', async () => {
    const state = freshFolder();
    const [first, other] = [open(state, { rps: 1 }), open(state, { rps: 1 })];
    await first.take(never());
    const giveUp = new AbortController();
    const left = other.take(giveUp.signal);
    giveUp.abort(new Error('no longer needed'));
    await expect(left).rejects.toThrow('no longer needed');
  });

  test('without a state directory that can be written, nothing starts: each request fails in one line', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    const budget = open(file);
    const refused = { code: 'no-state', retryable: false, hint: 'set TONLAKE_STATE_DIR to a writable folder' };
    await Promise.all([1, 2].map(() => expect(budget.take(never())).rejects.toMatchObject(refused)));
    // The folder may be there later.
    rmSync(file);
    await budget.take(never());
  });
});

describe('the status of a budget', () => {
  test('tells limit, holders and the last 429', async () => {
    const state = freshFolder();
    const budget = open(state, { rps: 10 });
    const analyst = open(state, { rps: 5, priority: 'interactive', command: 'tonlake api' });
    budget.slow(await budget.take(never()), undefined);
    await analyst.take(never());
    const status = await statusOf(state);
    expect(status).toMatchObject({ network: BASE_URL, cap: 10, found: null });
    expect(status.limit).toBeLessThan(6);
    expect(status.last429).toMatch(/^\d{4}-/);
    expect(status.holders).toMatchObject([
      { pid: process.pid, command: 'tonlake test', priority: 'backfill', rps: 10 },
      { pid: process.pid, command: 'tonlake api', priority: 'interactive', rps: 5 },
    ]);
    expect(formatBudgetStatus(status)).toMatch(/requests\/s may start now, cap 10.*last 429 at/);
  });

  test('with nobody there it tells what is remembered', async () => {
    const env = { TONLAKE_STATE_DIR: freshFolder() };
    const status = await budgetStatus({ network: resolveNetwork('testnet'), env });
    expect(status).toMatchObject({ network: 'testnet', limit: null, found: null, last429: null, holders: [] });
    expect(formatBudgetStatus(status)).toBe('testnet: idle, no 429 yet\n');
  });
});
