import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { ALL_FAULTS, NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { exportRange, firstRequest, type Hashes, hashTables, query, readExport } from './export.ts';

const RANGE = '1000:1059';
const NEVER = 1e9;
/** Each block is asked for by itself, so that the server's log tells which were. */
const BY_BLOCK = ['--walk', 'masterchain'];

let sandbox: TestSandbox;
/** What the range holds, from an undisturbed run into a Parquet warehouse. */
let wanted: Hashes;
let warehouse: string;

const w = (): string => join(freshFolder(), 'w');

/** Masterchain seqnos that were asked for at a path, ascending. */
function askedAt(path: string, parameter: string): readonly number[] {
  const seqnos = sandbox.requests
    .entries()
    .filter((entry) => entry.path === path)
    .flatMap(({ query }) => new URLSearchParams(query).get(parameter) ?? [])
    .map(Number);
  return [...new Set(seqnos)].sort((a, b) => a - b);
}

const countTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

beforeAll(async () => {
  sandbox = await startTestSandbox();
  warehouse = w();
  const { code, stderr } = await exportRange(sandbox.url, RANGE, warehouse);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  wanted = await hashTables(warehouse);
});

beforeEach(() => {
  sandbox.setFaults(NO_FAULTS);
  sandbox.requests.reset();
});

describe('a run', () => {
  test('brings a range in, tells so in the last line, and asks for nothing the second time', async () => {
    const path = w();
    const args = ['run', 'transactions', '--network', 'sandbox', '--range', '1000:1119', '--warehouse', path, '--json'];
    const first = readExport(await tonlake(args));
    expect(first.code).toBe(0);
    expect(first.stderr).toBe('');
    expect(first.report).toEqual({
      event: 'done',
      network: 'sandbox',
      pipeline: 'transactions',
      from: 1000,
      to: 1119,
      asked: [{ from: 1000, to: 1119 }],
      rows: {
        blocks: expect.any(Number),
        transactions: expect.any(Number),
        messages: expect.any(Number),
        account_states: expect.any(Number),
      },
      requests: expect.any(Number),
      planned: expect.any(Number),
      retries: 0,
      spans: expect.any(Number),
      quarantined: 0,
      openDays: [],
      unproven: {},
      unknownKeys: {},
      content: { agrees: expect.any(Number) },
      complete: true,
      seconds: expect.any(Number),
    });
    const { rows, content } = first.report;
    expect(content['agrees']).toBe(rows['transactions']);
    expect(await query(path, 'select count(*), count(distinct hash) from transactions')).toEqual([
      [String(rows['transactions']), String(rows['transactions'])],
    ]);
    expect(await query(path, 'select count(distinct mc_block_seqno) from blocks')).toEqual([['120']]);
    const differing = `select count(*) from (select workchain, shard, seqno, tx_count from blocks)
      full join (select block_workchain, block_shard, block_seqno, count(*) n from transactions group by all)
      on workchain = block_workchain and shard = block_shard and seqno = block_seqno where coalesce(tx_count, -1) <> coalesce(n, 0)`;
    expect(await query(path, differing)).toEqual([['0']]);

    const second = readExport(await tonlake(args));
    expect(second.code).toBe(0);
    expect(second.events).toHaveLength(1);
    expect(second.report).toMatchObject({ requests: 0, retries: 0, spans: 0, complete: true });
  });

  test('asks only for the gap when part of the range is done', async () => {
    const path = w();
    await exportRange(sandbox.url, '1000:1029', path);
    sandbox.requests.reset();
    const { report } = await exportRange(sandbox.url, RANGE, path, BY_BLOCK);
    expect(report).toMatchObject({ from: 1000, to: 1059, complete: true });
    expect(askedAt('blocks', 'mc_seqno')).toEqual(countTo(1030, 1059));
    expect(askedAt('transactionsByMasterchainBlock', 'seqno')).toEqual(countTo(1030, 1059));
    expect(sandbox.requests.stats().requests).toBe(report.requests);
    expect(await hashTables(path)).toEqual(wanted);
    sandbox.requests.reset();
    expect((await exportRange(sandbox.url, '1010:1050', path)).report).toMatchObject({ requests: 0, complete: true });
    expect(sandbox.requests.stats().requests).toBe(0);
  });

  test('fills a hole between two done parts', async () => {
    const path = w();
    await exportRange(sandbox.url, '1000:1019,1040:1059', path);
    sandbox.requests.reset();
    const { events } = await exportRange(sandbox.url, RANGE, path, BY_BLOCK);
    expect(askedAt('transactionsByMasterchainBlock', 'seqno')).toEqual(countTo(1020, 1039));
    expect(events).toContainEqual(expect.objectContaining({ event: 'start', missing: [{ from: 1020, to: 1039 }] }));
    expect(await hashTables(path)).toEqual(wanted);
  });

  test('gives the same rows in a DuckDB file', async () => {
    const path = `${w()}.duckdb`;
    expect((await exportRange(sandbox.url, RANGE, path)).report).toMatchObject({ complete: true, spans: 2 });
    expect(await hashTables(path)).toEqual(wanted);
    expect((await exportRange(sandbox.url, RANGE, path)).report).toMatchObject({ requests: 0, complete: true });
    const named = w();
    expect((await exportRange(sandbox.url, '1000:1009', named, ['--store', 'duckdb'])).code).toBe(0);
    expect(await query(named, 'select count(distinct mc_block_seqno) from blocks')).toEqual([['10']]);
  });

  test.each([
    { walk: 'masterchain', rate: 1, least: 5 },
    { walk: 'window', rate: 5, least: 1 },
  ])('gives the same rows from a source with every fault (%o)', async ({ walk, rate, least }) => {
    const rates = Object.entries(ALL_FAULTS).map(([name, value]) =>
      typeof value === 'number' && value < 0.1 ? [name, rate * value] : [name, value],
    );
    sandbox.setFaults(Object.fromEntries(rates));
    const path = w();
    const { code, report, stderr } = await exportRange(sandbox.url, RANGE, path, ['--walk', walk]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report.complete).toBe(true);
    expect(report.retries).toBeGreaterThanOrEqual(least);
    expect(report.requests).toBe(sandbox.requests.stats().requests);
    expect(await hashTables(path)).toEqual(wanted);
  });
});

describe('a dry run', () => {
  test('changes nothing, and predicts the requests once the headers are known', async () => {
    const path = w();
    const dry = async (): Promise<Record<string, unknown>> => {
      const { code, stdout } = await tonlake([
        ...['run', 'transactions', '--network', sandbox.url, '--range', '1000:1039', '--warehouse', path],
        ...['--dry-run', '--json'],
      ]);
      expect(code).toBe(0);
      return JSON.parse(stdout);
    };
    expect(await dry()).toMatchObject({ event: 'plan', asked: [{ from: 1000, to: 1039 }] });
    expect(existsSync(path)).toBe(false);

    await tonlake(['run', 'blocks', '--network', sandbox.url, '--range', '1000:1039', '--warehouse', path]);
    const before = readdirSync(path, { recursive: true }).sort();
    sandbox.requests.reset();
    const plan = await dry();
    expect(plan).toMatchObject({
      basis: 'headers',
      pipelines: [
        { pipeline: 'blocks', done: [{ from: 1000, to: 1039 }], missing: [] },
        { pipeline: 'transactions', done: [], missing: [{ from: 1000, to: 1039 }] },
      ],
    });
    expect(sandbox.requests.stats().requests).toBe(0);
    expect(readdirSync(path, { recursive: true }).sort()).toEqual(before);

    sandbox.requests.reset();
    await exportRange(sandbox.url, '1000:1039', path);
    expect(sandbox.requests.stats().requests).toBe(plan['requests']);
    expect(await dry()).toMatchObject({ requests: 0 });
  });
});

describe('a source that is not ready', () => {
  test('blocks after the head are waited for', async () => {
    const growing = await startTestSandbox({ blocks: 1000, blockMs: 40 });
    const path = w();
    const { code, report } = await exportRange(growing.url, ':+20', path);
    expect(code).toBe(0);
    expect(report).toMatchObject({ complete: true });
    expect(report.to - report.from).toBe(19);
    expect(report.from).toBeGreaterThan(1000);
    expect(await query(path, 'select count(distinct mc_block_seqno), min(mc_block_seqno) from blocks')).toEqual([
      ['20', String(report.from)],
    ]);
  });

  test('a hole that does not close is reported, its neighbours are kept, and a later run fills it', async () => {
    sandbox.setFaults({ holes: [1030], holeAsks: NEVER, holeMs: NEVER });
    const path = w();
    const { code, report, events, stderr } = await exportRange(sandbox.url, RANGE, path, ['--wait', '0.5']);
    expect(code).toBe(1);
    expect(report.complete).toBe(false);
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'problem', pipeline: 'blocks', from: 1030, to: 1030, code: 'not-indexed' }),
    );
    expect(stderr).toMatch(/^problem: .*\b1030\b.*\n(problem: .*\n)?$/);
    // The block after the hole is proven by the state at the hole, so it may wait for it; no other may.
    const { pipelines } = JSON.parse((await tonlake(['status', '--warehouse', path, '--json'])).stdout);
    const hole = { from: 1030, to: expect.toSatisfy((to: number) => to === 1030 || to === 1031) };
    expect(pipelines).toMatchObject([
      { pipeline: 'blocks', missing: [{ spans: [hole] }] },
      { pipeline: 'transactions', missing: [{ spans: [hole] }] },
    ]);
    sandbox.setFaults(NO_FAULTS);
    sandbox.requests.reset();
    const again = await exportRange(sandbox.url, RANGE, path, BY_BLOCK);
    expect(again).toMatchObject({ code: 0, report: { complete: true } });
    expect(askedAt('transactionsByMasterchainBlock', 'seqno').length).toBeLessThanOrEqual(2);
    expect(await hashTables(path)).toEqual(wanted);
  });

  test('a range above the head is refused at once instead of being waited for', async () => {
    const path = w();
    const { code, report } = await exportRange(sandbox.url, '20000:20010', path);
    expect(code).toBe(1);
    expect(report).toMatchObject({ complete: false, spans: 0 });
  });
});

describe.each(['w', 'w.duckdb'])('Ctrl-C on a warehouse named %s', (name) => {
  test('ends after the span in flight, and the same command goes on from there', async () => {
    sandbox.setFaults({ slow: 1, slowMs: 40 });
    const path = join(freshFolder(), name);
    const args = ['run', 'transactions', '--network', sandbox.url, '--range', RANGE, '--warehouse', path, '--json'];
    const run = startTonlake([...args, ...BY_BLOCK, '--concurrency', '4']);
    await run.until('stdout', /"event":"start","pipeline":"transactions"/);
    run.kill('SIGINT');
    const { code, stderr, events, report } = readExport(await run.finished);
    expect(code).toBe(130);
    expect(stderr).toMatch(/interrupted: stopping after the current span/);
    expect(stderr).toMatch(/interrupted: committed rows are kept/);
    expect(report).toMatchObject({ event: 'done', complete: false });
    expect(events).toContainEqual(expect.objectContaining({ event: 'span', pipeline: 'blocks', from: 1000, to: 1059 }));
    sandbox.setFaults(NO_FAULTS);
    expect(await exportRange(sandbox.url, RANGE, path)).toMatchObject({ code: 0, report: { complete: true } });
    expect(await hashTables(path)).toEqual(wanted);
  });
});

test('a second Ctrl-C stops at once, and loses nothing that was committed', async () => {
  const path = w();
  await exportRange(sandbox.url, '1000:1029', path);
  sandbox.setFaults({ slow: 1, slowMs: 20_000 });
  sandbox.requests.reset();
  const run = startTonlake(['run', '--network', sandbox.url, '--range', RANGE, '--warehouse', path, '--json']);
  await firstRequest(sandbox);
  run.kill('SIGINT');
  await run.until('stderr', /press Ctrl-C again/);
  run.kill('SIGINT');
  expect(await run.finished).toMatchObject({ code: 130 });
  sandbox.setFaults(NO_FAULTS);
  sandbox.requests.reset();
  const again = await exportRange(sandbox.url, RANGE, path, BY_BLOCK);
  expect(again).toMatchObject({ code: 0, report: { complete: true } });
  expect(askedAt('blocks', 'mc_seqno')).toEqual(countTo(1030, 1059));
  expect(await hashTables(path)).toEqual(wanted);
});
