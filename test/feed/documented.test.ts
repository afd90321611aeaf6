import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { withPrograms } from '../with-programs.ts';

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

test('the consumer of docs/consumers.md runs as it stands, and sees each row once when it runs again', async () => {
  const folder = freshFolder();
  const page = await readFile(join(root, 'docs/consumers.md'), 'utf8');
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const code = example.replaceAll('data/', `${folder}/`);
  const warehouse = join(folder, 'sandbox');
  const fees = async (range: string): Promise<readonly [string, string]> => {
    const place = ['--network', 'sandbox', '--warehouse', warehouse];
    const { code: exit } = await tonlake(['run', 'transactions', '--range', range, ...place]);
    expect(exit).toBe(0);
    const { stdout: rows } = await tonlake([
      'sql',
      'select count(*) as n from transactions',
      '--format',
      'csv',
      ...place,
    ]);
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    return [stdout.trim(), `fees ${rows.split('\n')[1]?.trim()}`];
  };
  for (const range of ['1:5', '6:9']) {
    const [seen, held] = await fees(range);
    expect(seen).toBe(held);
  }
  expect(example).toContain('consume(');
});

test('the commands of docs/consumers.md run as they stand', async () => {
  const page = await readFile(join(root, 'docs/consumers.md'), 'utf8');
  const lines = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
  const cwd = freshFolder();
  const [, alert = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  await writeFile(join(cwd, 'failed.yaml'), alert);
  for (const line of lines) {
    const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, one, two, plain]) => one ?? two ?? plain ?? '',
    );
    expect(words.shift()).toBe('tonlake');
    expect(await tonlake(words, { cwd, env: withPrograms() }), line).toMatchObject({ code: 0 });
  }
  const told = (await readFile(join(cwd, 'commits.jsonl'), 'utf8')).trim().split('\n');
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const fields = Object.keys(JSON.parse(example));
  for (const each of told) expect(Object.keys(JSON.parse(each))).toEqual(fields);
  expect(told.length).toBeGreaterThan(1);
  const { stdout } = await tonlake([
    ...['sql', 'select hash from transactions where mc_block_seqno > 5 and not compute_success order by hash'],
    ...['--warehouse', join(cwd, 'w'), '--format', 'csv'],
  ]);
  const alerts = (await readFile(join(cwd, 'failed.jsonl'), 'utf8')).trim().split('\n');
  expect(alerts.map((each) => JSON.parse(each).row.hash).sort()).toEqual(stdout.trim().split('\n').slice(1).sort());
  expect(alerts.length).toBeGreaterThan(0);
});
