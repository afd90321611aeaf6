import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { freshFolder } from './scratch.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a command line in a folder, without what npm tells of the tests' own start. */
function shell(line: string, cwd: string) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|TONLAKE_|VITEST|NODE_)/i.test(name)),
  );
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const peers = Object.keys(peerDependencies);

const canUnpack = spawnSync('tar', ['--version']).status === 0;

describe.skipIf(!canUnpack)('as an installed package', () => {
  let place: string;
  let installed: string;
  let packed: number;

  beforeAll(() => {
    const folder = freshFolder();
    expect(shell(`npm pack --ignore-scripts --silent --pack-destination '${folder}'`, root).code).toBe(0);
    packed = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
    place = join(folder, 'mine');
    const modules = join(place, 'node_modules');
    installed = join(modules, 'tonlake');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    mkdirSync(installed);
    expect(shell(`tar -xzf ../*.tgz -C node_modules/tonlake --strip-components 1`, place).code).toBe(0);
    // What npm would install beside it, and more: not what it leaves to the user.
    const isLeft = (name: string): boolean => peers.some((peer) => peer.split('/')[0] === name);
    for (const name of readdirSync(join(root, 'node_modules')).filter((each) => !each.startsWith('.'))) {
      if (isLeft(name)) continue;
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    symlinkSync('../tonlake/dist/src/cli.js', join(modules, '.bin/tonlake'));
  });

  test('it is smaller than seven megabytes, without source maps', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizeOf = (each: typeof files): number =>
      each.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    expect(files.filter(({ name }) => name.endsWith('.map'))).toEqual([]);
    expect(sizeOf(files)).toBeLessThan(7_000_000);
    expect(packed).toBeLessThan(2_100_000);
  });

  test('few other packages are installed with it', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: true; devOptional?: true; optional?: true }>;
    };
    const installed = Object.entries(packages).filter(
      ([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional,
    );
    // The package itself comes first.
    expect(installed.length - 1).toBeLessThanOrEqual(60);
  });

  test('what draws charts is in it, not beside it', () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies).filter((name) => /plot|dom/.test(name))).toEqual([]);
    // It loads and draws where nothing else is.
    const alone = freshFolder();
    copyFileSync(join(installed, 'dist/src/reports/html/plot-library.js'), join(alone, 'library.mjs'));
    const script = `import('./library.mjs').then(({ Plot, openDocument }) =>
      console.log(Plot.dot([[1, 2]]).plot({ document: openDocument() }).outerHTML.slice(0, 4)))`;
    expect(shell(`node -e "${script.replace(/\s+/g, ' ')}"`, alone)).toEqual({ code: 0, stdout: '<svg\n', stderr: '' });
  });

  test('the page of tonlake ui is in it, and is smaller than a megabyte', () => {
    const page = join(installed, 'dist/ui');
    const names = readdirSync(page);
    expect(names).toEqual(expect.arrayContaining(['index.html', 'main.js', 'main.css']));
    const bytes = names.map((name) => gzipSync(readFileSync(join(page, name))).length);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(1_000_000);
    // Only the server gives it files: no address of the internet is in it.
    const texts = names.map((name) => readFileSync(join(page, name), 'utf8')).join('\n');
    const addresses = [...texts.matchAll(/(?:src=|href=|url\(|import\(|fetch\()["'`]?(https?:)?\/\/[^"'`)\s]+/g)].map(
      ([all]) => all,
    );
    expect(addresses).toEqual([]);
  });

  test('a client of an object store or a database that is not installed is named, with how to install it', () => {
    const run = (args: string, address = '') =>
      shell(`TONLAKE_BUDGET='${address}' ./node_modules/.bin/tonlake ${args}`, place);
    expect(run('run blocks --network sandbox --range 1:2')).toMatchObject({ code: 0 });
    const refused = [
      ['object stores', run('sql "select 1" --warehouse s3://lake/mainnet')],
      ['object stores', run('copy data/sandbox s3://lake/mainnet')],
      ['PostgreSQL', run('export blocks --network sandbox --to postgresql://localhost/lake')],
      ['ClickHouse', run('export blocks --network sandbox --to http://localhost:8123/lake')],
      ['Redis', run('api masterchainInfo --network testnet', 'redis://localhost')],
    ] as const;
    const hinted = refused.map(([use, { code, stderr }]) => {
      const line =
        /^error: usage: expected an installed client of (.*), got none; hint: npm install (.*), with --global/;
      const [, named, packages = ''] = line.exec(stderr) ?? [stderr];
      expect([use, code, stderr.trim().split('\n').length]).toEqual([named, 2, 1]);
      return packages.split(' ');
    });
    expect([...new Set(hinted.flat())].sort()).toEqual(peers);
  });

  test('an empty folder leads to the holders of a jetton by day in the five commands of docs/reports.md', () => {
    const text = readFileSync(join(root, 'docs/reports.md'), 'utf8');
    const [, way = ''] = /^## From an empty folder[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const [, table = 'no table'] = /^With `--format text`[\s\S]*?^```text\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const lines = way.trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(5);
    const asInstalled = `PATH="$PWD/node_modules/.bin:$PATH"`;
    const { code, stdout, stderr } = shell(`set -e; export ${asInstalled}; ${way.replaceAll('npx ', '')}`, place);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const [, name = 'no name'] = /^(jetton\.html: .*) \(.* kB\)$/m.exec(stdout) ?? [];
    expect(text).toContain(name);
    const { stdout: shown } = shell(
      `export ${asInstalled}; cd lake; ${lines[4]?.replaceAll('npx ', '').replace(/--output .*/, '--format text')}`,
      place,
    );
    expect(shown).toContain(table);
    expect(readFileSync(join(place, 'lake/jetton.html'), 'utf8')).toContain('Holders at the end of each day');
  });

  test('the command begins in an empty folder, and its hints work there', () => {
    const run = (args: string) => shell(`./node_modules/.bin/tonlake ${args}`, place);
    const hints = ['job list', 'job schedule'].map((args) => {
      const { code, stderr } = run(args);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(
          /^error: usage: expected job files, there is no folder jobs or pipelines\/jobs; hint: .*\n$/,
        ),
      });
      expect(stderr).not.toContain('node_modules');
      return / create one: (.*)\n$/.exec(stderr)?.[1] ?? '';
    });
    const [begin = ''] = hints;
    const begun = shell(begin.replace('tonlake job', './node_modules/.bin/tonlake job'), place);
    expect(begun).toMatchObject({ code: 0, stderr: '' });
    expect(begun.stdout).toContain('nightly');
    expect(run('job list')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/nightly.*15 3 \* \* \*.*never ran/),
    });
    expect(run('job list jobs/nightly.yaml')).toMatchObject({ code: 0 });
  });
});
