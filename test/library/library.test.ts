import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as library from '../../src/index.ts';
import { freshFolder } from '../scratch.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');

const sandbox = await library.startSandbox({ blocks: 200 });
const warehouse = join(freshFolder(), 'w');
await library.run({ network: sandbox.url, range: '1:10', warehouse });
afterAll(() => sandbox.close());

/** What a program prints that depends on the package, in a folder of its own. */
function printed(code: string): { readonly folder: string; readonly stdout: string } {
  const folder = freshFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/tonlake'));
  const stdout = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    ...{ cwd: folder, encoding: 'utf8' },
  });
  return { folder, stdout };
}

test('the first example runs as it stands', () => {
  const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const { stdout } = printed(code);
  expect(stdout).toMatch(/^true \{\s+blocks: \d+,\s+transactions: \d+/);
  expect(stdout).toMatch(/^true true \{/m);
  expect(stdout).toMatch(/^HUGEINT \[ \d+n \]$/m);
});

test('has a function for what the page names, errors, and no more', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)\(/g)].map(([, name = '']) => name),
  );
  const helpers = ['formatError', 'isActionOf', 'loadRegistry'];
  const exported = Object.keys(library).filter((name) => !name.endsWith('Error') || helpers.includes(name));
  expect(exported.sort()).toEqual([...named, ...helpers].sort());
});

test.each([
  ['rows.csv', { as: 'headers' }, 'a database, .sqlite or .xlsx with as'],
  ['rows.xlsx', { keepFormulas: true }, 'a CSV file with keepFormulas'],
  ['postgres://u@127.0.0.1/x', { keepFormulas: true }, 'a CSV file with keepFormulas'],
] as const)('an option that %s has no use for is refused', async (to, options, expected) => {
  await expect(library.exportRows({ table: 'blocks' }, to, { warehouse, ...options })).rejects.toMatchObject({
    ...{ name: 'UsageError', message: `usage: expected ${expected}` },
  });
});

test('each day of a SQLite file is told when the file is there', async () => {
  const to = join(freshFolder(), 'rows.sqlite');
  const seen: unknown[] = [];
  const onDay = (report: unknown) => void seen.push([existsSync(to), report]);
  const { days } = await library.exportRows({ table: 'blocks' }, to, { warehouse, onDay });
  expect(seen).toEqual([[true, { day: '2026-05-01', rows: 27 }]]);
  expect(days).toEqual([{ day: '2026-05-01', rows: 27 }]);
});

test('an option that is off needs no target that uses it', async () => {
  const to = join(freshFolder(), 'rows.jsonl');
  const options = { warehouse, as: undefined, keepFormulas: false };
  expect(await library.exportRows({ sql: 'SELECT 1 AS one' }, to, options)).toMatchObject({ rows: 1 });
});

test('warehouse and pipelines have the defaults of the command line, and a warehouse knows its network', () => {
  const { folder, stdout } = printed(`
    import { run, open, status } from 'tonlake';
    const { pipeline } = await run({ network: 'sandbox', range: '1:3' });
    const lake = await open({ network: 'sandbox' });
    const again = await run({ warehouse: 'data/sandbox', range: '4:5' });
    const [{ blocks }] = await lake.query('select count(distinct mc_block_seqno)::INTEGER as blocks from transactions');
    await lake.close();
    console.log(pipeline, again.network, blocks, (await status({ network: 'sandbox' })).network);`);
  expect(stdout).toBe('transactions sandbox 5 sandbox\n');
  expect(existsSync(join(folder, 'data/sandbox/warehouse.duckdb'))).toBe(true);
});

async function all(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const some of rows) expect(some).toBeDefined();
}

const SLOW = 'select count(*) from range(100000) a, range(100000) b, range(100) c';

test.each([
  ['run', (signal: AbortSignal) => library.run({ network: sandbox.url, range: '11:40', warehouse: fresh(), signal })],
  ['follow', (signal: AbortSignal) => library.follow({ network: sandbox.url, from: '1', warehouse: fresh(), signal })],
  ['consume', (signal: AbortSignal) => all(library.consume({ warehouse, tables: ['transactions'], signal }))],
  ['readBatches', (signal: AbortSignal) => all(library.readBatches({ network: sandbox.url, range: '11:40', signal }))],
  ['verify', (signal: AbortSignal) => library.verify({ warehouse, signal })],
  ['build', (signal: AbortSignal) => library.build({ warehouse, signal })],
  [
    'query',
    async (signal: AbortSignal) => {
      const lake = await library.open({ warehouse });
      await lake.query(SLOW, {}, { signal }).finally(() => lake.close());
    },
  ],
] as const)('an abort of %s rejects with its reason, before it begins and on the way', async (_, start) => {
  const reason = new Error('enough');
  await expect(start(AbortSignal.abort(reason))).rejects.toBe(reason);
  const end = new AbortController();
  const started = start(end.signal);
  setTimeout(() => end.abort(reason), 20);
  await expect(started).rejects.toBe(reason);
});

function fresh(): string {
  return join(freshFolder(), 'w');
}

test('an abort ends a query that waits for its turn, and the one before it goes on', async () => {
  const lake = await library.open({ warehouse });
  const first = new AbortController();
  const slow = lake.query(SLOW, {}, { signal: first.signal });
  const second = new AbortController();
  const waiting = lake.query('SELECT 1 AS one', {}, { signal: second.signal });
  second.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  first.abort(new Error('too slow'));
  const third = lake.query('SELECT 1 AS one');
  await expect(slow).rejects.toThrow('too slow');
  expect(await third).toEqual([{ one: 1 }]);
  await lake.close();
});

test('a run that is aborted commits what it has proven, and the next one brings the rest', async () => {
  const path = fresh();
  const end = new AbortController();
  const place = { network: sandbox.url, warehouse: path, commitEveryMs: 0 };
  const reports: library.RunReport[] = [];
  const aborted = library.run({
    ...{ ...place, range: '1:150', walk: 'masterchain', concurrency: 1, signal: end.signal },
    onEvent: (event) => {
      if (event.event === 'span') end.abort(new Error('enough'));
      if (event.event === 'done') reports.push(event);
    },
  });
  await expect(aborted).rejects.toThrow('enough');
  expect(reports).toMatchObject([{ complete: false }]);
  const next = await library.run({ ...place, range: '1:150' });
  expect(next.complete).toBe(true);
  const [first] = reports;
  expect(first?.rows['blocks']).toBeGreaterThan(0);
  const { proven } = await library.verify({ warehouse: path });
  expect(proven).toBe(true);
});

test('rows of a query are objects, and a name that stands twice is refused unless columns are read', async () => {
  const lake = await library.open({ warehouse });
  expect(await lake.query('select $a::BIGINT as a, null as b', { a: 7 })).toEqual([{ a: 7n, b: null }]);
  await expect(lake.query('select 1 as a, 2 as a')).rejects.toThrow(
    'usage: expected a name for each column, got a twice',
  );
  await expect(lake.query('select $a as a', { a: ['x'] })).rejects.toMatchObject({
    hint: expect.stringContaining('a list as JSON and cast: $names::JSON::VARCHAR[]'),
  });
  expect(await lake.query('select len($a::JSON::VARCHAR[])::INTEGER as a', { a: '["x"]' })).toEqual([{ a: 1 }]);
  expect(await lake.columns('select 1 as a, 2 as a')).toMatchObject([
    { name: 'a', type: 'INTEGER', values: [1] },
    { name: 'a', type: 'INTEGER', values: [2] },
  ]);
  await lake.close();
  await expect(lake.query('select 1')).rejects.toThrow(/^store: warehouse .* is closed$/);
});

test('show says what a block is, and where its row is from', async () => {
  const { kind, sections, why } = await library.show('5', { warehouse, why: true });
  expect([kind, sections.length > 0, why?.rows.length]).toEqual(['block', true, 1]);
});
