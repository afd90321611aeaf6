import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT_FILE, readProject } from '../../src/project/project-file.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

function projectOf(yaml: string): string {
  const folder = freshFolder();
  writeFileSync(join(folder, PROJECT_FILE), yaml);
  return folder;
}

describe('tonlake.yaml', () => {
  let folder: string;
  beforeAll(async () => {
    folder = projectOf('network: sandbox\nwarehouse: lake/blocks\nrps: 50\n');
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    const { code, stderr } = await tonlake(['run', 'blocks', '--range', '1000:1009'], { cwd: join(folder, 'a') });
    expect(code, stderr).toBe(0);
  });

  test('names network and warehouse of all commands, also in the folders below it', async () => {
    const count = ['sql', 'select count(*) as n from blocks', '--format', 'csv'];
    for (const cwd of [folder, join(folder, 'a/b')]) {
      const { code, stdout, stderr } = await tonlake(count, { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(Number(stdout.split('\n')[1])).toBeGreaterThan(10);
    }
    expect((await tonlake(['status'], { cwd: folder })).stdout).toContain('lake/blocks');
  });

  test('gives way to flags and to the environment', async () => {
    const query = ['sql', 'select 1'];
    const flagged = await tonlake([...query, '--warehouse', 'elsewhere'], { cwd: folder });
    expect([flagged.code, flagged.stderr]).toEqual([1, expect.stringMatching(/no warehouse at \S+\/elsewhere;/)]);
    const env = { TONLAKE_WAREHOUSE: 'from-env' };
    expect((await tonlake(query, { cwd: folder, env })).stderr).toMatch(/no warehouse at \S+\/from-env;/);
  });

  test('names the witness of exports', async () => {
    const project = projectOf('network: sandbox\nwitness: sandbox\n');
    const { code, stderr } = await tonlake(['run', 'blocks', '--range', '1000'], { cwd: project });
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected a witness other than the source')]);
  });

  test('lends its warehouse to no other network', async () => {
    const other = await tonlake(['sql', 'select 1', '--network', 'testnet'], { cwd: folder });
    expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/no warehouse at \S+\/data\/testnet;/)]);
    const same = await tonlake(['sql', 'select 1 as one', '--network', 'sandbox', '--format', 'csv'], { cwd: folder });
    expect([same.code, same.stdout]).toEqual([0, 'one\n1\n']);
  });

  test('is optional, and its warehouse need not be there to list what could be in it', async () => {
    expect(readProject(freshFolder())).toBe(undefined);
    const { code, stdout } = await tonlake(['show'], { cwd: projectOf('network: sandbox\n') });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ *blocks +/m)]);
  });
});

test('what tonlake.yaml does not know ends every command with path, line and what was meant', async () => {
  const folder = projectOf('network: sandbox\nwarehous: data\n');
  const below = join(folder, 'below');
  mkdirSync(below);
  const { code, stderr } = await tonlake(['status'], { cwd: below });
  expect([code, stderr]).toEqual([
    2,
    'error: usage: expected a known key of a project, got "warehous" (../tonlake.yaml:2:1); hint: did you mean warehouse?\n',
  ]);
});

test.each([
  ['rps: fast', /\(tonlake\.yaml:1:6\)/],
  ['s3_endpoint: minio', /\(tonlake\.yaml:1:14\)/],
  ['catalog:\n  namespace: ton', /expected the key url, got nothing \(tonlake\.yaml:2:3\)/],
  ['- network', /expected a mapping/],
])('a value that is none is refused with its place: %s', async (yaml, message) => {
  const { code, stderr } = await tonlake(['status'], { cwd: projectOf(yaml) });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test('its keys are those of docs/project.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/project.md'), 'utf8');
  expect(page).toContain('| `network` |');
  expect(page).toContain('| `catalog.url` |');
});
