import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { planRun } from '../../src/export/plan.ts';
import { run } from '../../src/export/run.ts';
import { Database } from '../../src/sql/database.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { OWN_ORDERS, pipelineFolder } from '../own-pipeline.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { query } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 4000 });

const ROWS = 'select * from own_orders order by tx_lt, tx_hash';
const SUM = 'select count(*), sum(amount)::varchar, count(distinct sender) from own_orders';

async function bring(warehouse: string, range: string, text = OWN_ORDERS) {
  const registry = await loadRegistry(pipelineFolder(text));
  return run({ pipelines: ['own_orders'], network: sandbox.url, range, warehouse, registry });
}

describe.each(['w', 'w.duckdb'])('a pipeline that is one file of a folder, in %s', (name) => {
  let source: string;
  let held: Awaited<ReturnType<typeof query>>;

  beforeAll(async () => {
    source = join(freshFolder(), name);
    for (const range of ['1000:1019', '1020:1049'])
      expect(await bring(source, range)).toMatchObject({ complete: true });
    held = await query(source, ROWS);
  });

  const copy = (): string => {
    const to = join(freshFolder(), name);
    cpSync(source, to, { recursive: true });
    return to;
  };

  test('its table is read without the folder, with types, units and words', async () => {
    const warehouse = await openWarehouse(source);
    const { rows, columns } = await warehouse.query(
      'select count(*) as n, sum(amount) as amount, any_value(block_time) as at, count(distinct sender) as senders from own_orders',
    );
    await warehouse.close();
    expect(columns.map(({ type }) => type)).toEqual(['BIGINT', 'DECIMAL(38,0)', 'TIMESTAMP', 'BIGINT']);
    expect(Number(rows[0]?.[0])).toBeGreaterThan(20);
    expect(await query(source, SUM)).toEqual(
      await query(source, SUM.replace('own_orders', '(from own_orders where tx_lt > 0)')),
    );
    const told = await tonlake(['show', 'own_orders', '--warehouse', source, '--json']);
    const [summary] = JSON.parse(told.stdout);
    expect(summary).toMatchObject({ table: 'own_orders', grain: 'one order' });
    expect(summary.columns).toContainEqual(expect.objectContaining({ name: 'amount', unit: 'jetton unit' }));
  });

  test('damage is found and repaired by the stored declaration alone', async () => {
    const path = copy();
    if (name === 'w') rmSync(await firstFile(path));
    else await edit(path, 'DELETE FROM _rows.own_orders WHERE tx_lt = (SELECT max(tx_lt) FROM _rows.own_orders)');
    const { kinds } = await verify(path);
    expect(kinds).toContain(name === 'w' ? 'file-missing' : 'rows-changed');
    const report = await repairWarehouse({ warehouse: path });
    expect(report).toMatchObject({ proven: true });
    expect(report.requests).toBeGreaterThan(0);
    expect(await query(path, ROWS)).toEqual(held);
  });

  test.each(['missing', 'torn'])(
    'a declaration that is %s is told by verify, and written again by one that is the same',
    async (how) => {
      const path = copy();
      await harmDeclaration(path, how);
      if (how === 'torn') await expect(query(path, SUM)).rejects.toThrow('is no declaration of a pipeline');
      // A DuckDB file has the view itself.
      else if (name === 'w') await expect(query(path, SUM)).rejects.toThrow('own_orders does not exist');
      expect(await verify(path)).toMatchObject({ kinds: expect.arrayContaining(['declaration-broken']) });
      const registry = await loadRegistry(pipelineFolder());
      expect(await repairWarehouse({ warehouse: path, registry })).toMatchObject({ proven: true });
      expect(await query(path, SUM)).toEqual(await query(source, SUM));
    },
  );

  test('a torn declaration is found before rows name it again', async () => {
    const path = copy();
    await forgetRange({ warehouse: path, pipelines: ['own_orders'], range: '1000:1069' });
    await harmDeclaration(path, 'torn');
    const registry = await loadRegistry(pipelineFolder());
    expect(await verify(path, { registry })).toMatchObject({ kinds: ['declaration-broken'] });
    expect(await repairWarehouse({ warehouse: path, registry })).toMatchObject({ proven: true });
    expect(await bring(path, '1000:1049')).toMatchObject({ complete: true });
    expect(await verify(path)).toMatchObject({ kinds: [] });
    expect(await query(path, SUM)).toEqual(await query(source, SUM));
  });

  test('a declaration that adds a column reads older rows, and is the one that is read from then on', async () => {
    const path = copy();
    const wider = OWN_ORDERS.replace(
      '        sender:',
      "        receiver: field('/destination', 'who gets it').nullable(),\n        sender:",
    );
    expect(await bring(path, '1050:1059', wider)).toMatchObject({ complete: true });
    const found = await query(path, 'select count(receiver) > 0, count(receiver) < count(*) from own_orders');
    expect(found).toEqual([['true', 'true']]);
    expect(await verify(path)).toMatchObject({ kinds: [] });
  });

  test('a run of other pipelines keeps the table in the catalog', async () => {
    const path = copy();
    await run({ pipelines: ['blocks'], network: sandbox.url, range: '1060:1064', warehouse: path });
    const catalog = name === 'w' ? join(path, 'warehouse.duckdb') : path;
    const database = await Database.open(catalog, { access_mode: 'READ_ONLY' });
    const { rows } = await database.query('SELECT count(*) > 0 FROM own_orders');
    database.close();
    expect(rows).toEqual([[true]]);
  });

  /** The first file of the table. */
  async function firstFile(path: string): Promise<string> {
    const { stdout } = await tonlake(['show', 'own_orders', '--files', '--warehouse', path]);
    const [file = ''] = stdout.split('\n');
    return file;
  }

  async function edit(path: string, sql: string): Promise<void> {
    const database = await Database.open(path);
    await database.run(sql);
    database.close();
  }

  async function harmDeclaration(path: string, how: string): Promise<void> {
    if (name !== 'w') {
      const sql =
        how === 'missing'
          ? 'DELETE FROM _declarations'
          : 'UPDATE _declarations SET declaration = left(declaration, 99)';
      return edit(path, `${sql} WHERE pipeline = 'own_orders'`);
    }
    const folder = join(path, '_declarations');
    for (const file of readdirSync(folder).filter((each) => each.startsWith('own_orders-'))) {
      if (how === 'missing') rmSync(join(folder, file));
      else writeFileSync(join(folder, file), '{"name":"own_or');
    }
  }

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('brings in what it needs, and is planned as any other', async () => {
    const registry = await loadRegistry(pipelineFolder());
    const plan = await planRun({
      ...{ pipelines: ['own_orders'], network: sandbox.url, range: '1000:1069', warehouse: source, registry },
    });
    expect(plan.pipelines.map(({ pipeline, missing }) => ({ pipeline, missing }))).toEqual([
      { pipeline: 'blocks', missing: [{ from: 1050, to: 1069 }] },
      { pipeline: 'own_orders', missing: [{ from: 1050, to: 1069 }] },
    ]);
  });

  test('every command reads it without the folder', async () => {
    const path = copy();
    const place = ['--warehouse', path];
    const commands = [
      ['sql', SUM, '--strict'],
      ['status'],
      ['show', 'own_orders', '--files'],
      ['publish', 'duckdb'],
      ['compact'],
      ['build', 'block_times'],
      ['test'],
      ['report', 'export-health', '--format', 'md'],
      ['verify'],
    ];
    for (const command of commands) {
      const { code, stderr } = await tonlake([...command, ...place]);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: expect.not.stringContaining('error') });
    }
    expect(await query(path, SUM)).toEqual(await query(source, SUM));
  });

  test.each([
    [
      'a type',
      "field('/amount', 'amount that is moved').unit('jetton unit')",
      "field('/transaction_lt', 'amount').unit('jetton unit')",
      /own_orders.amount as decimal-38 .* now declared as decimal-int64/,
    ],
    [
      'a unit',
      ".unit('jetton unit')",
      ".unit('nanoton')",
      /amount as .* in jetton unit, now declared as .* in nanoton/,
    ],
    ['an origin', "field('/source'", "field('/destination'", /sender from \/source, now declared from \/destination/],
    [
      'a key',
      "key: ['tx_hash']",
      "key: ['tx_hash', 'tx_lt']",
      /own_orders by the key tx_hash, now declared by tx_hash, tx_lt/,
    ],
    [
      'one column less',
      "        sender: field('/source', 'who sends it'),\n",
      '',
      /sender as .* not declared any more/,
    ],
  ])('a declaration that changes %s is refused before the first request', async (_, from, to, says) => {
    const asked = sandbox.requests.stats().requests;
    await expect(bring(copy(), '1050:1059', OWN_ORDERS.replace(from, to))).rejects.toThrow(says);
    expect(sandbox.requests.stats().requests).toBe(asked);
  });
});
