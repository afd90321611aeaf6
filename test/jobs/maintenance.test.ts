import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { fileOf, ledgerFiles, readEntry, rewrite } from '../verify/support.ts';
import type { FakeActions } from './fakes.ts';
import { jobOf, NIGHT, runFaked } from './support.ts';

const JOB = `network: sandbox
warehouse: w
pipelines: [blocks]
range: "RANGE"
exports:
  - {query: 'select count(*)::int as blocks from blocks', output: out/count.json}
`;

/** Runs a job in a folder. */
async function runIn(cwd: string, text: string, range: string) {
  writeFileSync(join(cwd, 'upkeep.yaml'), text.replace('RANGE', range));
  const { code, stdout, stderr } = await tonlake(['job', 'run', 'upkeep.yaml', '--json'], { cwd });
  const record = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const steps: readonly { kind: string; status: string; message?: string }[] = record.steps;
  return { code, stderr, record, steps, step: (kind: string) => steps.find((each) => each.kind === kind) };
}

test('verify and compact come after the export and before marts; a run verifies what no earlier one has proven', async () => {
  const folder = freshFolder();
  const text = `network: mainnet\npipelines: [blocks]\nrange: yesterday\nverify: {repair: true}\ncompact: true\nmarts: [block_times]\n`;
  const night = (at: number, more = '', over?: FakeActions) =>
    jobOf(`${text}${more}`, 'jobs/nightly.yaml', join(folder, 'w')).then((job) =>
      runFaked(job, over, { due: NIGHT + at * 86_400_000 }),
    );
  const first = await night(0);
  expect(first.record.state).toBe('done');
  expect(first.asked.steps).toEqual(['run', 'repair after 0', 'compact', 'marts']);
  expect((await night(1)).asked.steps).toEqual(['run', 'repair after 8, a1', 'compact', 'marts']);
  const damaged = { entry: 9, ledger: '', proven: false, findings: 1, files: 4, unproven: {} };
  expect((await night(2, '', { verify: async () => damaged })).record.error?.code).toBe('not-proven');
  expect((await night(3)).asked.steps[1]).toBe('repair after 8, a1');
  expect((await night(4, 'doc: Each night.\n')).asked.steps[1]).toBe('repair after 0');
});

test('the record tells what verify and compact did', async () => {
  const cwd = freshFolder();
  await runIn(cwd, JOB, '1000:1009');
  const { code, step } = await runIn(cwd, `${JOB}verify: true\ncompact: true\n`, '1000:1019');
  expect(code).toBe(0);
  expect(step('verify')).toMatchObject({ status: 'done', message: expect.stringMatching(/^\d+ files proven$/) });
  expect(step('compact')).toMatchObject({ status: 'done', message: expect.stringMatching(/^\d+ -> \d+ files$/) });
  expect(ledgerFiles(join(cwd, 'w')).map(readEntry).at(-1)).toMatchObject({ span: { from: 1000, to: 1019 } });
});

test('iceberg comes last, and is refused before a run into a DuckDB warehouse', async () => {
  const cwd = freshFolder();
  const { code, steps } = await runIn(cwd, `${JOB}iceberg: true\n`, '1000:1009');
  expect([code, steps.at(-1)]).toMatchObject([
    0,
    { kind: 'iceberg', status: 'done', message: expect.stringMatching(/^1 tables at entry-\d+, 1 of them new$/) },
  ]);
  const file = JOB.replace('warehouse: w', 'warehouse: w.duckdb').replace('RANGE', '1000:1009');
  writeFileSync(join(cwd, 'file.yaml'), `${file}iceberg: true\n`);
  const refused = await tonlake(['job', 'list', 'file.yaml'], { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('file.yaml:7:')]);
});

test('tables that were not published are named, with the command that publishes to the same place', async () => {
  const warehouse = join(freshFolder(), 'w');
  const place = '{catalog: "http://127.0.0.1:1", namespace: a.b, warehouse: c, location: /data/w}';
  const text = `network: mainnet\npipelines: [blocks]\nrange: yesterday\niceberg: ${place}\n`;
  const { error } = await runFaked(await jobOf(text, 'jobs/nightly.yaml', warehouse), {
    publishIceberg: async () => ({ entry: 7, tables: 4, published: 3, skipped: ['blocks'] }),
  });
  const flags = `--warehouse ${warehouse} --location /data/w --catalog http://127.0.0.1:1 --namespace a.b --catalog-warehouse c`;
  expect(error).toMatchObject({
    message: 'job nightly: expected all tables to be published, but skipped blocks',
    hint: `tonlake publish iceberg ${flags} shows the reasons`,
  });
});

test('a DuckDB warehouse is verified, and has nothing to merge', async () => {
  const cwd = freshFolder();
  const text = JOB.replace('warehouse: w', 'warehouse: w.duckdb');
  const { code, step } = await runIn(cwd, `${text}verify: true\ncompact: true\n`, '1000:1009');
  expect(code).toBe(0);
  expect(step('verify')?.status).toBe('done');
  expect(step('compact')?.message).toBe('nothing to merge: a DuckDB warehouse is a single file');
});

test('each run verifies what was committed since the last one; `all` reads everything', async () => {
  const cwd = freshFolder();
  const warehouse = join(cwd, 'w');
  const job = 'network: sandbox\nwarehouse: w\nmarts: [block_times]\n';
  const exported = async (range: string): Promise<void> => {
    const { code } = await tonlake(['run', 'blocks', '--network', 'sandbox', '-w', 'w', '--range', range], { cwd });
    expect(code).toBe(0);
  };
  const night = async (verify: string) => {
    const { code, step } = await runIn(cwd, `${job}verify: ${verify}\n`, '');
    return { code, verify: step('verify') };
  };
  await exported('1000:1009');
  expect(await night('true')).toMatchObject({ code: 0, verify: { name: 'all', message: '1 files proven' } });
  const file = fileOf(warehouse, 'blocks', 1005);
  await rewrite(warehouse, file, 'SELECT * REPLACE (tx_count + 1 AS tx_count) FROM old');
  await exported('1010:1019');
  // The mart of the first night, and the new blocks: what was verified is not read again.
  expect(await night('true')).toMatchObject({
    code: 0,
    verify: { name: expect.stringMatching(/^since entry \d+$/), message: '2 files proven' },
  });
  expect(await night('{all: true}')).toMatchObject({ code: 1, verify: { name: 'all', status: 'failed' } });
});

test('damage fails the job before anything is published, and a job that repairs mends it', async () => {
  const cwd = freshFolder();
  await runIn(cwd, JOB.replace('out/count.json', 'out/first.json'), '1000:1009');
  const warehouse = join(cwd, 'w');
  const file = fileOf(warehouse, 'blocks', 1005);
  await rewrite(warehouse, file, 'SELECT * REPLACE (tx_count + 1 AS tx_count) FROM old');
  const failed = await runIn(cwd, `${JOB}verify: {deep: true}\n`, '1010:1019');
  expect(failed.code).toBe(1);
  expect(failed.record).toMatchObject({ state: 'failed', error: { code: 'not-proven' } });
  expect(failed.step('verify')).toMatchObject({ status: 'failed', message: expect.stringContaining('1000:1009') });
  expect(existsSync(join(cwd, 'out/count.json'))).toBe(false);

  const mended = await runIn(cwd, `${JOB}verify: {repair: true}\n`, '1010:1019');
  expect(mended.code).toBe(0);
  expect(mended.step('verify')?.message).toMatch(/files proven; repaired blocks 1000:1009$/);
  const [{ blocks }] = JSON.parse(readFileSync(join(cwd, 'out/count.json'), 'utf8'));
  const { stdout } = await tonlake(['verify', '--warehouse', 'w', '--json'], { cwd });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ proven: true });
  expect(blocks).toBeGreaterThan(40);
});
