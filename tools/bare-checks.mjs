// A machine with Node alone, on which the README's first commands must work: what is optional is skipped there by name.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** What a checkout has beyond its files, or what a run left there. */
const NOT_COPIED = new Set(['node_modules', '.git', 'data']);

/**
 * Copies the checkout.
 *
 * @returns a folder, and variables in which nothing optional is in reach: no ../shared, an empty home, and a PATH of node, npm and the shell
 *   that npm needs
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

/** Lines of test/optional-tests.json, `file: words`. Some are skipped on some machines only, whatever is installed. */
const lines = Object.entries(JSON.parse(readFileSync(join(ROOT, 'test/optional-tests.json'), 'utf8'))).flatMap(
  ([need, tests]) => tests.map((line) => ({ line, isOwed: !need.startsWith('only where') })),
);
const owed = lines.filter(({ isOwed }) => isOwed).map(({ line }) => line);

const fileOf = (line) => line.slice(0, line.indexOf(': '));
const wordsOf = (line) => line.slice(line.indexOf(': ') + 2);

/** True if a line names a test or a group that it is in. */
const names = (line, { file, ancestorTitles, title }) =>
  fileOf(line) === file && [...ancestorTitles, title].some((each) => each.includes(wordsOf(line)));

/** Arguments for vitest that choose the tests of everything optional. */
export function optionalTests() {
  const words = [...new Set(owed.map(wordsOf))].map((each) => each.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return ['--testNamePattern', words.join('|'), ...new Set(owed.map((line) => `test/${fileOf(line)}`))];
}

/** True if a test, as vitest reports it, is one of those. */
export const isOptional = (test) => owed.some((line) => names(line, test));

/**
 * Compares what was skipped with the list.
 *
 * @param tests all tests, run with nothing optional in reach
 * @returns names of checks, and whether each passed
 */
export function checkSkips(tests) {
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  const strange = skipped.filter((test) => !lines.some(({ line }) => names(line, test)));
  return [
    ...strange.map(({ file, fullName }) => [`in test/optional-tests.json, since it is skipped: ${file}: ${fullName}`, false]),
    ...owed.map((line) => {
      const named = tests.filter((test) => names(line, test));
      return [`skipped with Node alone: ${line}`, named.length > 0 && named.every((test) => skipped.includes(test))];
    }),
  ];
}
