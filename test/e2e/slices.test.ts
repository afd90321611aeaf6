import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { EXTENSIONS, S3_PROGRAM, startS3, useS3 } from '../objects/s3-server.ts';
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

beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 20_000 });
  whole = join(freshFolder(), 'w');
  expect((await exportTo(whole)).code).toBe(0);
  wanted = await hashTables(whole);
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

describe('slices of a range', () => {
  test('have together the rows of one run, each in a warehouse of its own', async () => {
    const parts: Hashes[] = [];
    const spans: string[] = [];
    for (let index = 1; index <= SLICES; index++) {
      const warehouse = join(freshFolder(), 'w');
      const { code, report } = await exportTo(warehouse, ['--slice', `${index}/${SLICES}`]);
      expect(code).toBe(0);
      spans.push(`${report.from}:${report.to}`);
      parts.push(await hashTables(warehouse));
    }
    // The second begins with the day.
    expect(spans).toEqual(['4987:4999', '5000:5006', '5007:5016']);
    expect(addHashes(parts)).toEqual(wanted);
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

  test.skipIf(S3_PROGRAM === undefined || EXTENSIONS === undefined)(
    'at the same time fill one warehouse in an object store (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
    async () => {
      useS3(await startS3());
      process.env['TONLAKE_DUCKDB_EXTENSIONS'] = EXTENSIONS;
      const warehouse = 's3://lake/slices';
      const asked = { pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse, workers: 0 };
      const reports = await Promise.all([1, 2, 3].map((index) => run({ ...asked, slice: `${index}/${SLICES}` })));
      expect(reports.map(({ complete }) => complete)).toEqual([true, true, true]);
      expect(await hashTables(warehouse)).toEqual(wanted);
      expect(await run(asked)).toMatchObject({ complete: true, spans: 0 });
    },
  );

  test('plan tells the blocks of a slice', async () => {
    const place = ['--network', sandbox.url, '--range', RANGE, '--warehouse', join(freshFolder(), 'w')];
    const { code, stdout } = await tonlake(['plan', ...place, '--slice', '2/3', '--json']);
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
    const all = await tonlake(['plan', '--all', ...place, '--json']);
    const { pipelines } = JSON.parse(all.stdout) as { readonly pipelines: readonly { readonly pipeline: string }[] };
    const names = pipelines.map(({ pipeline }) => pipeline);
    expect(names).toContain('transactions');
    expect(names).not.toContain('account_latest');
    expect(names).not.toContain('jetton_masters');
  });
});
