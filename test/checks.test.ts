import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from './scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');

interface FakeTest {
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly failureMessages?: readonly string[];
}

/** What a test does with Node alone, and where `TONLAKE_PYTHON` says that something was installed. */
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
  for (const path of ['src', 'pipelines']) mkdirSync(join(root, path));
  for (const name of ['tsc', 'biome', 'knip']) put(`node_modules/.bin/${name}`, '#!/bin/sh\n', 0o755);
  put('test/optional-tests.json', JSON.stringify({ some: optional }));
  put('package-lock.json', '{}');
  put('tsconfig.json', '{}');
  put('package.json', JSON.stringify({ scripts: { start: 'echo complete' } }));
  put(
    'node_modules/vitest/vitest.mjs',
    `import { writeFileSync } from 'node:fs';
    const tests = ${JSON.stringify({ bare, installed })}[process.env.TONLAKE_PYTHON === undefined ? 'bare' : 'installed'];
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

function run(root: string, command: string, args: readonly string[], env = process.env) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, env, encoding: 'utf8' });
  const lines = stdout.trim().split('\n');
  return {
    status,
    lines,
    last: lines.slice(lines.findLastIndex((line) => !/^(failed|skipped): |passed/.test(line)) + 1),
  };
}

test('a log that is cut at its start still names what was skipped and what failed', () => {
  const failureMessages = ['\u001B[31mError: first line\u001B[39m\n  second line'];
  const all = {
    works: { status: 'passed' },
    'does not': { status: 'failed', failureMessages },
    'is elsewhere': { status: 'skipped' },
  } as const;
  const { status, last } = run(fakeProject({ bare: all, installed: all }), process.execPath, ['tools/check.mjs']);
  expect(last).toEqual([
    'skipped: is elsewhere',
    'failed: some.test.ts does not: Error: first line',
    '6 passed, 1 failed',
  ]);
  expect(status).toBe(1);
});
