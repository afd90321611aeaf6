import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Names, TableDetail, TableItem } from '../../src/ui/ui-types.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { serveWarehouse, Visitor } from '../ui/support.ts';
import { withPrograms } from '../with-programs.ts';

let folder: string;
let printed: string;
beforeAll(async () => {
  const cwd = freshFolder();
  const { code, stdout, stderr } = await tonlake(['init', 'lake'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  folder = join(cwd, 'lake');
  printed = stdout;
});

test('tonlake init writes a project, and says what to do next', () => {
  const paths = printed.split('\n\n')[0]?.split('\n') ?? [];
  expect(paths).toEqual(
    [
      'README.md',
      'alerts/failed.yaml',
      '.env.example',
      '.gitignore',
      'jobs/daily.yaml',
      'marts/busy_accounts.sql',
      'reports/accounts/report.md',
      'tonlake.yaml',
    ].map((path) => join('lake', path)),
  );
  expect(paths.every((path) => existsSync(join(folder, '..', path)))).toBe(true);
  expect(printed).toContain('cd lake\n');
  expect(readFileSync(join(folder, '.gitignore'), 'utf8').split('\n')).toContain('.env');
});

test('a file in the place of the folder is refused', async () => {
  const { code, stderr } = await tonlake(['init', 'README.md'], { cwd: folder });
  expect([code, stderr]).toEqual([
    2,
    'error: usage: expected a folder, got the file README.md; hint: choose another folder\n',
  ]);
});

test('every command of its README runs as it is, on the sandbox', async () => {
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  const lines = block.trim().split('\n');
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const [program, ...args] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
    expect(program).toBe('tonlake');
    const { code, stdout, stderr } = await tonlake(args, { cwd: folder, env: withPrograms() });
    expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
  }
  expect(readFileSync(join(folder, 'out/blocks.csv'), 'utf8')).toMatch(
    /^workchain,blocks,transactions\n-1,\d+,\d+\n0,\d+,\d+\n$/,
  );
  expect(readFileSync(join(folder, 'out/accounts.html'), 'utf8')).toContain('Busy accounts');
  expect(readFileSync(join(folder, 'out/failed.jsonl'), 'utf8')).toMatch(
    /^(\{"text":"\S+ failed with exit code .*\}\n)+$/,
  );
  const rows = await tonlake(
    ['sql', 'select count(*) as n from busy_accounts', '-w', 'data/sandbox', '--format', 'csv'],
    { cwd: folder },
  );
  expect(Number(rows.stdout.split('\n')[1])).toBeGreaterThan(10);
});

test('its own mart is a table like others: described, explained, and in the workbench', async () => {
  const inProject = (...args: readonly string[]) => tonlake([...args, '-w', 'data/sandbox'], { cwd: folder });
  const described = await inProject('show', 'busy_accounts');
  expect([described.code, described.stderr]).toEqual([0, '']);
  expect(described.stdout).toMatch(/^busy_accounts: a mart of your own, built from transactions\n/);
  expect(described.stdout).toContain('\nits file has its key and what its columns mean\n');
  expect(described.stdout).not.toContain('()');
  expect(described.stdout).toMatch(/\ntransactions +BIGINT\b/);
  const [held = '', ...others] = (await inProject('show')).stdout.split('\n\n');
  expect(held).toMatch(/^in the warehouse:\n/);
  expect(held).toMatch(/\nbusy_accounts +a mart of your own, built from transactions/);
  expect(held).toMatch(/\ntransactions +one transaction /);
  expect(others.join('\n')).toMatch(/^marts that are not built:\n/);
  expect(others.join('\n')).toMatch(/\nnot exported:\n[\s\S]*\njetton_masters +one jetton /);
  expect(others.join('\n')).not.toMatch(/^transactions /m);
  const key = `account=-1:${'3'.repeat(64)}`;
  const explained = await inProject('show', 'busy_accounts', key);
  expect([explained.code, explained.stderr]).toEqual([0, '']);
  expect(explained.stdout).toMatch(
    /\n {2}proof +derived by its select from the rows of transactions: some source rows/,
  );
  const server = await serveWarehouse(join(folder, 'data/sandbox'));
  const visitor = await Visitor.enter(server);
  const detail = await visitor.read<TableDetail>('/api/tables/busy_accounts');
  expect(detail).toMatchObject({
    kind: 'mart',
    rows: expect.any(Number),
    doc: expect.stringContaining('transactions'),
  });
  expect(detail.columns.map(({ name }) => name)).toEqual([
    'account',
    'transactions',
    'failed',
    'total_fees',
    '_coverage',
  ]);
  const tables = await visitor.read<readonly TableItem[]>('/api/tables');
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['busy_accounts', 'check_failures']));
  expect((await visitor.get('/api/tables/check_failures')).status).toBe(200);
  expect((await visitor.read<Names>('/api/names')).columns['busy_accounts']).toContain('total_fees');
});

test('files that are there are never replaced', async () => {
  writeFileSync(join(folder, 'README.md'), 'mine');
  const { code, stderr } = await tonlake(['init'], { cwd: folder });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('expected a folder without README.md, alerts/failed.yaml, .env.example'),
  ]);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine');
});
