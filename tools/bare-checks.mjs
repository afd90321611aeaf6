// Checks on a machine with Node alone: the first commands of the README must work, and tests of optional tools are skipped by name.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** Installed, generated and version-control folders. */
const NOT_COPIED = new Set(['node_modules', '.git', 'data']);

/**
 * Copies the checkout.
 *
 * @returns its folder, and an environment without optional tools: no ../shared, an empty home, and a PATH of node, npm and the shell that npm
 *   needs
 */
export function copyCheckout(folder) {
  const cwd = join(folder, 'tonlake');
  cpSync(ROOT, cwd, {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !NOT_COPIED.has(relative(ROOT, path)),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')];
  for (const path of [bin, home]) mkdirSync(path);
  symlinkSync(process.execPath, join(bin, 'node'));
  symlinkSync(realpathSync(join(dirname(process.execPath), 'npm')), join(bin, 'npm'));
  symlinkSync('/bin/sh', join(bin, 'sh'));
  return { cwd, env: { HOME: home, PATH: bin } };
}

/** @returns true if `npm start` ends with a complete export */
export function starts(place) {
  const { status, stdout, stderr } = spawnSync('npm', ['start'], { ...place, encoding: 'utf8' });
  const isComplete = status === 0 && stdout.includes('complete');
  if (!isComplete) console.log(stdout, stderr);
  return isComplete;
}

/** Lines of test/optional-tests.json, `file: words`. Some tests depend on the machine, and not on installed tools. */
const lines = Object.entries(JSON.parse(readFileSync(join(ROOT, 'test/optional-tests.json'), 'utf8'))).flatMap(
  ([need, tests]) => tests.map((line) => ({ line, isSkippedWithoutTools: !need.startsWith('only where') })),
);
const expected = lines.filter(({ isSkippedWithoutTools }) => isSkippedWithoutTools).map(({ line }) => line);

const fileOf = (line) => line.slice(0, line.indexOf(': '));
const wordsOf = (line) => line.slice(line.indexOf(': ') + 2);

/** True if a line names a test or one of its groups. */
const names = (line, { file, ancestorTitles, title }) =>
  fileOf(line) === file && [...ancestorTitles, title].some((each) => each.includes(wordsOf(line)));

/** Arguments for vitest that select the tests of all optional tools. */
export function optionalTests() {
  const words = [...new Set(expected.map(wordsOf))].map((each) => each.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return ['--testNamePattern', words.join('|'), ...new Set(expected.map((line) => `test/${fileOf(line)}`))];
}

/** True if a test, as vitest reports it, needs an optional tool. */
export const isOptional = (test) => expected.some((line) => names(line, test));

/**
 * Compares the skipped tests with the list.
 *
 * @param tests all tests, run without optional tools
 * @returns names of checks, and true for those that passed
 */
export function checkSkips(tests) {
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  const unlisted = skipped.filter((test) => !lines.some(({ line }) => names(line, test)));
  return [
    ...unlisted.map(({ file, fullName }) => [`in test/optional-tests.json, since it is skipped: ${file}: ${fullName}`, false]),
    ...expected.map((line) => {
      const named = tests.filter((test) => names(line, test));
      return [`skipped with Node alone: ${line}`, named.length > 0 && named.every((test) => skipped.includes(test))];
    }),
  ];
}
