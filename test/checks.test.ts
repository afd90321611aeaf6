import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder } from './scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');

interface FakeTest {
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly failureMessages?: readonly string[];
}

/** How tests end with Node alone, and when those of what is optional run once more. */
interface FakeProject {
  readonly bare: Readonly<Record<string, FakeTest>>;
  readonly installed: Readonly<Record<string, FakeTest>>;
  /** `file: words` of tests of what is optional. */
  readonly optional?: readonly string[];
}

/** A project with the rules of this one, in which lint, types and docs are well, and tests end as they are told to. */
function fakeProject({ bare, installed, optional = [] }: FakeProject): string {
  const root = freshFolder();
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  for (const path of ['tools/check.mjs', 'tools/bare-checks.mjs', '.ci/run'])
    cpSync(join(ROOT, path), join(root, path));
  for (const path of ['api', 'src', 'pipelines']) mkdirSync(join(root, path));
  for (const name of ['tsc', 'biome', 'knip']) put(`node_modules/.bin/${name}`, '#!/bin/sh\n', 0o755);
  put('test/optional-tests.json', JSON.stringify({ some: optional }));
  put('package-lock.json', '{}');
  put('tsconfig.json', '{}');
  put('package.json', JSON.stringify({ scripts: { start: 'echo complete' } }));
  put(
    'node_modules/vitest/vitest.mjs',
    `import { writeFileSync } from 'node:fs';
    const tests = ${JSON.stringify({ bare, installed })}[process.argv.includes('--testNamePattern') ? 'installed' : 'bare'];
    const assertionResults = Object.entries(tests).map(([title, test]) => ({
      title, ancestorTitles: [], fullName: title, failureMessages: [], ...test,
    }));
    const testResults = [{ name: process.cwd() + '/test/some.test.ts', status: 'passed', assertionResults }];
    const path = process.argv.find((each) => each.startsWith('--outputFile.json=')).slice('--outputFile.json='.length);
    writeFileSync(path, JSON.stringify({ testResults }));`,
  );
  put('dist/tools/docs.js', '');
  put('dist/built', '');
  return root;
}

const HOME = (root: string): string => join(root, 'home');

function run(root: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  mkdirSync(HOME(root), { recursive: true });
  const given = { PATH: process.env['PATH'], HOME: HOME(root), ...env };
  const { status, stdout } = spawnSync(command, args, { cwd: root, env: given, encoding: 'utf8' });
  const lines = stdout.trim().split('\n');
  return {
    status,
    lines,
    last: lines.slice(lines.findLastIndex((line) => !/^(failed|skipped): |passed/.test(line)) + 1),
  };
}

const check = (project: FakeProject, ...args: readonly string[]) =>
  run(fakeProject(project), process.execPath, ['tools/check.mjs', ...args]);

test('a log that is cut at its start still names what was skipped and what failed', () => {
  const failureMessages = ['\u001B[31mError: first line\u001B[39m\n  second line'];
  const all = {
    works: { status: 'passed' },
    'does not': { status: 'failed', failureMessages },
    'is elsewhere': { status: 'skipped' },
  } as const;
  const { status, last } = check({ bare: all, installed: all });
  expect(last).toEqual([
    'skipped: is elsewhere',
    'failed: some.test.ts does not: Error: first line',
    '6 passed, 1 failed',
  ]);
  expect(status).toBe(1);
});

test('with Node alone, what is optional is skipped by its name, and nothing else', () => {
  const installed = { 'a bucket': { status: 'passed' } } as const;
  const optional = ['some.test.ts: a bucket'];
  const right = { works: { status: 'passed' }, 'a bucket': { status: 'skipped' } } as const;
  expect(check({ bare: right, installed, optional }, '--bare')).toMatchObject({
    status: 0,
    last: ['9 passed, 0 failed'],
  });
  const wrong = { works: { status: 'skipped' }, 'a bucket': { status: 'passed' } } as const;
  const { status, last } = check({ bare: wrong, installed, optional }, '--bare');
  expect(last).toEqual([
    'skipped: works',
    'failed: in test/optional-tests.json, since it is skipped: some.test.ts: works',
    'failed: skipped with Node alone: some.test.ts: a bucket',
    expect.stringMatching(/ passed, 2 failed$/),
  ]);
  expect(status).toBe(1);
});

const hasBash = spawnSync('bash', ['--version']).status === 0;

describe.skipIf(!hasBash)('.ci/run', () => {
  const bare = { works: { status: 'passed' }, 'a bucket': { status: 'skipped' } } as const;
  const optional = ['some.test.ts: a bucket'];
  /** What the machine says to those that install something. @param programs scripts of the shell, by name */
  const install = (programs: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) => {
    const root = fakeProject({ bare, installed: { 'a bucket': { status: 'skipped' } }, optional });
    const bin = join(root, 'machine');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const all = {
      npm: 'if [ "$1" = ci ]; then export -p > "$HOME/ci"; exit 0; fi; shift 2; exec node tools/check.mjs "$@"',
      ...{ 'apt-get': 'echo no mirror; exit 100', python3: 'echo no venv; exit 1', java: 'exit 0' },
      ...programs,
    };
    for (const [name, text] of Object.entries(all)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return { root, ...run(root, 'bash', ['.ci/run'], { PATH: `${bin}:${process.env['PATH']}`, ...env }) };
  };

  test('skips by name what the machine cannot have, and says why', () => {
    const { root, status, lines, last } = install(
      { go: 'echo dial tcp: no such host; exit 1' },
      { TONLAKE_PYTHON: 'python', https_proxy: 'http://127.0.0.1:1' },
    );
    expect(lines).toContain(
      'versitygw could not be installed, tests of object stores are skipped: dial tcp: no such host',
    );
    expect(last).toEqual(['skipped: a bucket', expect.stringMatching(/ passed, 0 failed$/)]);
    expect(status).toBe(0);
    const given = readFileSync(join(HOME(root), 'ci'), 'utf8');
    expect(given).toContain('https_proxy=');
    expect(given).not.toContain('TONLAKE_');
    expect(/ PATH='?(.*?)'?\n/.exec(given)?.[1]).toMatch(/\/bare$/);
  });

  test('fails if what was begun did not end in time', () => {
    const { status, lines, last } = install({ go: 'exec sleep 60' }, { TONLAKE_INSTALL_SECONDS: '2' });
    expect(lines).toContain('FAILED: installed in time: versitygw, for tests of object stores');
    expect(last).toContain('failed: installed in time: versitygw, for tests of object stores');
    expect(status).toBe(1);
  });

  test('fails if npm cannot install with Node alone', () => {
    const { status, lines } = install({ npm: 'exit 1', go: 'exit 1' });
    expect(lines.slice(-2)).toEqual(['FAILED: npm ci with Node alone', '0 passed, 1 failed']);
    expect(status).toBe(1);
  });
});
