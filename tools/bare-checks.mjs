// Proves that the README's first commands work on a machine with Node alone: the tests of everything optional are skipped there by name.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** What a checkout has beyond its files, or what a run left there. */
const NOT_COPIED = new Set(['node_modules', '.git', 'data']);

/**
 * Runs `npm start` and the files of test/optional-tests.json with nothing optional in reach: a copy of the checkout without ../shared, an
 * empty home, no variables, and a PATH of node, npm and the shell that npm needs.
 *
 * @returns names of checks, and whether each passed
 */
export function runBareChecks() {
  const folder = mkdtempSync(join(tmpdir(), 'tonlake-bare-'));
  try {
    const place = copyCheckout(folder);
    const started = spawnSync('npm', ['start'], { ...place, encoding: 'utf8' });
    const complete = started.status === 0 && started.stdout.includes('complete');
    if (!complete) console.log(started.stdout, started.stderr);
    return [['npm start with Node alone', complete], ...checkSkips(place, folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyCheckout(folder) {
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

/** Compares the tests that were skipped with the list. */
function checkSkips(place, folder) {
  const lines = Object.entries(JSON.parse(readFileSync(join(ROOT, 'test/optional-tests.json'), 'utf8'))).flatMap(
    ([need, tests]) => tests.map((line) => ({ line, isOwed: !need.startsWith('only where') })),
  );
  const files = [...new Set(lines.filter(({ isOwed }) => isOwed).map(({ line }) => `test/${line.split(': ')[0]}`))];
  const results = join(folder, 'results.json');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile.json=${results}`, ...files];
  const { stdout, stderr } = spawnSync(process.execPath, args, { ...place, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const tests = [];
  const faults = [];
  let report = { testResults: [] };
  try {
    report = JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    faults.push(`expected results of tests with Node alone, got ${stdout}${stderr}`);
  }
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(join(place.cwd, 'test'), name);
    if (status === 'failed' && assertionResults.length === 0) faults.push(`${file} with Node alone: ${message}`);
    for (const test of assertionResults) tests.push({ ...test, file });
  }
  for (const test of tests) {
    if (test.status === 'failed') faults.push(`${titleOf(test)} with Node alone: ${test.failureMessages[0]}`);
    else if (test.status !== 'passed' && !lines.some(({ line }) => isOf(line, test))) {
      faults.push(`${titleOf(test)} is skipped with Node alone, but not in test/optional-tests.json`);
    }
  }
  const owed = lines.filter(({ isOwed }) => isOwed);
  return [
    ...faults.map((fault) => [fault, false]),
    ...owed.map(({ line }) => {
      const found = tests.filter((test) => isOf(line, test));
      const isSkipped = found.length > 0 && found.every(({ status }) => status !== 'passed' && status !== 'failed');
      return [`skipped with Node alone: ${line}`, isSkipped];
    }),
  ];
}

const titleOf = ({ file, fullName }) => `${file}: ${fullName}`;

/** True if a line of the list, `file: words`, names a test or a group that it is in. */
function isOf(line, { file, ancestorTitles, title }) {
  const at = line.indexOf(': ');
  const words = line.slice(at + 2);
  return line.slice(0, at) === file && [...ancestorTitles, title].some((each) => each.includes(words));
}
