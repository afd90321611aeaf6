import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { planRun } from '../../src/export/plan.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { run } from '../../src/export/run.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EVERY, SOME_STATES, walkFolder } from '../own-pipeline.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { query } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 4000 });

const folder = walkFolder();
const registry = await loadRegistry(folder);
const ROWS = 'select * from some_states order by all';
const SEQNOS = 'select distinct mc_seqno from some_states order by all';
const tens = (from: number, to: number) => Array.from({ length: (to - from) / 10 + 1 }, (_, i) => from + 10 * i);

const options = (warehouse: string, range: string) => ({
  ...{ pipelines: ['some_states'], network: sandbox.url, range, warehouse, registry },
});

describe('a walk kind that is a file beside its pipeline', () => {
  let source: string;
  let rows: Awaited<ReturnType<typeof query>>;

  beforeAll(async () => {
    source = join(freshFolder(), 'w');
    const report = await run({ ...options(source, '1000:1049') });
    expect(report).toMatchObject({ complete: true, planned: 6 });
    expect(await run({ ...options(source, '1050:1104') })).toMatchObject({ complete: true });
    rows = await query(source, ROWS);
  });

  const copy = (): string => {
    const to = join(freshFolder(), 'w');
    cpSync(source, to, { recursive: true });
    return to;
  };

  test('asks for what its code says, and for nothing twice', async () => {
    expect(await query(source, SEQNOS)).toEqual(tens(1000, 1100).map((seqno) => [String(seqno)]));
    sandbox.requests.reset();
    expect(await run({ ...options(copy(), '1000:1104') })).toMatchObject({ complete: true, spans: 0 });
    expect(sandbox.requests.entries().filter(({ path }) => path !== 'masterchainInfo')).toEqual([]);
  });

  test('gives the same rows with a worker thread', async () => {
    const path = join(freshFolder(), 'w');
    expect(await run(options(path, '1000:1104'))).toMatchObject({ complete: true, spans: 1 });
    expect(await query(path, ROWS)).toEqual(rows);
  });

  test('is planned by its own code where nothing was run yet', async () => {
    const plan = await planRun(options(join(freshFolder(), 'w'), '1000:1104'));
    const requests = { '/masterchainBlockShardState': 11 };
    const [found] = plan.pipelines;
    expect(found).toMatchObject({ seqnos: 105, basis: 'sample', requests });
    expect(Math.abs((found?.rows ?? 0) / rows.length - 1)).toBeLessThan(0.2);
  });

  test('is planned by what earlier runs took', async () => {
    const { pipelines } = await planRun(options(source, '1000:1209'));
    expect(pipelines).toMatchObject([{ missing: [{ from: 1105, to: 1209 }], seqnos: 105, basis: 'history' }]);
  });

  test('is read and verified without its code', async () => {
    const path = copy();
    for (const command of [['sql', SEQNOS, '--strict'], ['status'], ['compact'], ['verify']]) {
      const { code, stderr } = await tonlake([...command, '--warehouse', path]);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: expect.not.stringContaining('error') });
    }
    expect(await query(path, ROWS)).toEqual(rows);
  });

  test('brings back damaged rows', async () => {
    const path = copy();
    await damage(path);
    expect((await verify(path)).kinds).toContain('file-missing');
    expect(await repairWarehouse({ warehouse: path, registry })).toMatchObject({ proven: true });
    expect(await query(path, ROWS)).toEqual(rows);
  });

  test('without its code, a run and a repair say in one line which kind they lack', async () => {
    const path = copy();
    await damage(path);
    sandbox.requests.reset();
    const line =
      'error: usage some_states: expected the code of walk kind every, got none; hint: name the folder with the file that defines every: --pipelines FOLDER, or TONLAKE_PIPELINES\n';
    const where = ['--warehouse', path];
    const asked = ['some_states', '--network', sandbox.url, '--range', '1000:1109', ...where];
    for (const command of [
      ['run', ...asked],
      ['run', '--dry-run', ...asked],
      ['verify', '--repair', ...where],
    ]) {
      const { code, stderr } = await tonlake(command);
      expect({ command, code, stderr }).toEqual({ command, code: 2, stderr: expect.stringContaining(line) });
    }
    expect(sandbox.requests.entries()).toEqual([]);
  });

  async function damage(path: string): Promise<void> {
    const { stdout } = await tonlake(['show', 'some_states', '--files', '--warehouse', path]);
    const [file = ''] = stdout.split('\n');
    rmSync(file);
  }
});

test('rows behind its look back are read again by its walkSpan, and stand once', async () => {
  const kind = EVERY.replace('  *plan(', '  walkSpan: (context, span) => everyWalk(context, span),\n  *plan(').replace(
    "span: part, proof: 'none'",
    "span: part, proof: 'none', asOf: { from: context.ends.last - 1, to: context.ends.last }",
  );
  const changing = SOME_STATES.replace('step: 10 }', 'step: 10 }, lookBack: 3500');
  const own = await loadRegistry(walkFolder(kind, changing));
  const path = join(freshFolder(), 'w');
  const again = { ...options(path, '400:619'), registry: own };
  expect(await run(again)).toMatchObject({ complete: true, rows: { some_states: expect.any(Number) } });
  const first = await query(path, ROWS);
  sandbox.requests.reset();
  expect(await run(again)).toMatchObject({ complete: true, spans: 1 });
  expect(sandbox.requests.entries().filter(({ path: asked }) => asked === 'masterchainBlockShardState')).toHaveLength(
    22,
  );
  expect(await query(path, ROWS)).toEqual(first);
});

test('its rows are handed out as batches', async () => {
  let rows = 0;
  const seqnos = new Set<number>();
  for await (const { table, batch } of readBatches({
    ...{ network: sandbox.url, pipeline: 'some_states', range: '1000:1104', registry },
  })) {
    expect(table).toBe('some_states');
    rows += batch.numRows;
    for (const seqno of batch.getChild('mc_seqno') ?? []) seqnos.add(Number(seqno));
  }
  expect([...seqnos]).toEqual(tens(1000, 1100));
  expect(rows).toBeGreaterThan(11);
});

test.each([
  ['a name that no file defines', EVERY, SOME_STATES.replace("'every'", "'evry'"), /walk kind, got "evry".*/],
  ['code in the declaration', EVERY, SOME_STATES.replace('step: 10', 'step: () => 10'), /function at walk.data.step/],
  [
    'a walk kind without a plan',
    EVERY.replace('*plan', '*plans'),
    SOME_STATES,
    /every.js: expected a walk kind with a name and plan/,
  ],
])('a folder with %s is refused', async (_, kind, text, says) => {
  await expect(loadRegistry(walkFolder(kind, text))).rejects.toThrow(says);
});
