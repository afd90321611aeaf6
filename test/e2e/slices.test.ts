import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { HAS_BUCKETS, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { type Hashes, hashTables, query, readExport } from './export.ts';

/** Midnight is before block 5000. */
const RANGE = '4987:5016';
const SLICES = 3;
const PIPELINES = ['transactions', 'message_links'];

let sandbox: Sandbox;
let whole: string;
let wanted: Hashes;
/** Each slice in a folder of its own, and the blocks that it told of. */
const slices = Array.from({ length: SLICES }, () => join(freshFolder(), 'w'));
const spans: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 20_000 });
  whole = join(freshFolder(), 'w');
  expect((await exportTo(whole)).code).toBe(0);
  wanted = await hashTables(whole);
  for (const [at, folder] of slices.entries()) {
    const { code, report } = await exportTo(folder, ['--slice', `${at + 1}/${SLICES}`]);
    expect(code).toBe(0);
    spans.push(`${report.from}:${report.to}`);
  }
});

afterAll(async () => {
  await sandbox.close();
});

async function exportTo(warehouse: string, more: readonly string[] = [], range = RANGE) {
  const place = ['--network', sandbox.url, '--range', range, '--warehouse', warehouse, '--json'];
  return readExport(await tonlake(['run', ...PIPELINES, ...place, ...more]));
}

/** Rows and hash of tables whose rows are those of several. */
function addHashes(parts: readonly Hashes[]): Hashes {
  const sums = new Map<string, readonly [rows: number, hash: bigint]>();
  for (const [table, text] of parts.flatMap((part) => Object.entries(part))) {
    const [, rows = '', hash = ''] = /^(\d+) rows, (\d+)$/.exec(text) ?? [];
    const [before, sum] = sums.get(table) ?? [0, 0n];
    sums.set(table, [before + Number(rows), sum + BigInt(hash)]);
  }
  return Object.fromEntries([...sums].map(([table, [rows, hash]]) => [table, `${rows} rows, ${hash}`]));
}

describe('folders of slices are added to one by copy --add', () => {
  const add = (from: readonly string[], to: string) => tonlake(['copy', '--add', ...from, to, '--json']);

  test('which then has the rows of one run, proven, and nothing to fetch; each is added once', async () => {
    const to = join(freshFolder(), 'w');
    const [first = '', ...others] = slices;
    // In any order, and in several turns.
    expect((await add([...others].reverse(), to)).code).toBe(0);
    const { code, stdout } = await add([...slices], to);
    const [again, there] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect({ code, again, there }).toMatchObject({
      ...{ code: 0, again: { event: 'added', from: first, present: 0, left: [] } },
      there: { from: others[0], added: 0, left: [] },
    });
    expect(await hashTables(to)).toEqual(wanted);
    expect((await verify(to)).findings).toEqual([]);
    const { report } = await exportTo(to);
    expect(report).toMatchObject({ spans: 0, complete: true });
    // The slices are as they were.
    expect((await verify(first)).findings).toEqual([]);
  });

  test('a gate ends with 1 until all are there, by the ledger alone', async () => {
    const to = join(freshFolder(), 'w');
    const [first = '', ...others] = slices;
    expect((await add(others, to)).code).toBe(0);
    const gate = (...more: readonly string[]) => tonlake(['status', '--warehouse', to, ...more]);
    const short = await gate('--range', RANGE);
    expect({ code: short.code, text: short.stdout }).toEqual({
      code: 1,
      text: `${RANGE}: 30 blocks (${RANGE})\nblocks: 13 blocks missing: 4987:4999 (not exported)\nmessage_links: 13 blocks missing: 4987:4999 (not exported)\ntransactions: 13 blocks missing: 4987:4999 (not exported)\n`,
    });
    expect((await gate('message_links', '--range', '5000:5016')).code).toBe(0);
    // A day that the warehouse knows nothing of is missing, not wrong usage.
    const lost = await gate('--range', '2026-04-30');
    expect({ code: lost.code, text: lost.stderr }).toEqual({
      code: 1,
      text: expect.stringMatching(
        /^error: store: expected a day that the warehouse has, got 2026-04-30 .*hint: it has 2026/,
      ),
    });
    expect((await gate('transactionz', '--range', RANGE)).code).toBe(2);
    expect((await add([first], to)).code).toBe(0);
    const whole = await gate('--range', RANGE, '--json');
    expect({ code: whole.code, ...JSON.parse(whole.stdout) }).toMatchObject({ code: 0, complete: true, missing: {} });
  });

  test('rows that are not those of its ledger are refused; what was added stays', async () => {
    const damaged = join(freshFolder(), 'w');
    cpSync(slices[1] ?? '', damaged, { recursive: true });
    const folder = join(damaged, 'tables/transactions');
    const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.parquet'),
    );
    const bytes = readFileSync(join(folder, file));
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    writeFileSync(join(folder, file), bytes);
    const to = join(freshFolder(), 'w');
    const { code, stderr } = await add([slices[0] ?? '', damaged, slices[2] ?? ''], to);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: store: \S+ differs from the committed file; hint: /),
    });
    expect((await verify(to)).findings).toEqual([]);
    expect((await add([...slices], to)).code).toBe(0);
    expect(await hashTables(to)).toEqual(wanted);
  });

  test('a bucket, a DuckDB file, one folder twice, and a single path are wrong usage', async () => {
    const [first = ''] = slices;
    for (const paths of [[first, 's3://lake/w'], [first, 'w.duckdb'], [first, first, 'w'], [first]]) {
      const { code, stderr } = await tonlake(['copy', '--add', ...paths]);
      expect({ code, lines: stderr.trim().split('\n').length }, paths.join(' ')).toEqual({ code: 2, lines: 1 });
    }
  });
});

describe('slices of a range', () => {
  test('have together the rows of one run, each in a warehouse of its own', async () => {
    // The second begins with the day.
    expect(spans).toEqual(['4987:4999', '5000:5006', '5007:5016']);
    expect(addHashes(await Promise.all(slices.map(hashTables)))).toEqual(wanted);
  });

  test('one after the other fill one warehouse: the run of the whole range has nothing to fetch, and its records cross no edge', async () => {
    const warehouse = join(freshFolder(), 'w');
    for (const index of [2, 3, 1]) {
      expect((await exportTo(warehouse, ['--slice', `${index}/${SLICES}`])).code).toBe(0);
    }
    expect(await hashTables(warehouse)).toEqual(wanted);
    const { code, report } = await exportTo(warehouse);
    expect({ code, spans: report.spans, complete: report.complete }).toEqual({ code: 0, spans: 0, complete: true });
    expect((await verify(warehouse)).findings).toEqual([]);
    const edges = 'select count(*) from messages_edge';
    expect(await query(warehouse, edges)).toEqual(await query(whole, edges));
  });

  test.skipIf(!HAS_BUCKETS)(
    'at the same time fill one warehouse in an object store (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
    async () => {
      useS3(await startS3());
      const warehouse = 's3://lake/slices';
      const asked = { pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse };
      const reports = await Promise.all([1, 2, 3].map((index) => run({ ...asked, slice: `${index}/${SLICES}` })));
      expect(reports.map(({ complete }) => complete)).toEqual([true, true, true]);
      expect(await hashTables(warehouse)).toEqual(wanted);
      expect(await run(asked)).toMatchObject({ complete: true, spans: 0 });
    },
  );

  test('plan tells the blocks of a slice', async () => {
    const place = ['--network', sandbox.url, '--range', RANGE, '--warehouse', join(freshFolder(), 'w')];
    const { code, stdout } = await tonlake(['run', '--dry-run', ...place, '--slice', '2/3', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ asked: [{ from: 5000, to: 5006 }] });
  });

  test('lists and lookups belong to none: they need the rows of all', async () => {
    const place = [
      '--network',
      sandbox.url,
      '--range',
      RANGE,
      '--warehouse',
      join(freshFolder(), 'w'),
      '--slice',
      '1/3',
    ];
    const { code, stderr } = await tonlake(['run', 'account_latest', ...place]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /expected pipelines of blocks for --slice, got account_latest; hint: when all slices are done, once and without --slice: tonlake run .*account_latest --range 4987:5016/,
    );
    const all = await tonlake(['run', '--dry-run', '--all', ...place, '--json']);
    const { pipelines } = JSON.parse(all.stdout) as { readonly pipelines: readonly { readonly pipeline: string }[] };
    const names = pipelines.map(({ pipeline }) => pipeline);
    expect(names).toContain('transactions');
    expect(names).not.toContain('account_latest');
    expect(names).not.toContain('jetton_masters');
  });
});
