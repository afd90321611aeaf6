// Runs every check of the project and ends with `N passed, N failed`. A check that fails counts as one failed test.
// With `--bare` first, they run as on a machine with Node alone, and then the tests of everything optional with what is installed here.
// Other arguments are for vitest.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { checkSkips, copyCheckout, isOptional, optionalTests, starts } from './bare-checks.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tonlake-check-'));
/** One line per test file, with its CPU time (test/setup.ts). */
const times = join(folder, 'times.jsonl');
/** A program that npm installed. `npx` takes up to a second to find it. */
const installed = (name) => join('node_modules', '.bin', name);
/** What needs nothing but a build; runs beside the tests, some of which wait for a clock. */
const besides = [
  ['types of tests and benches', [installed('tsc'), '--noEmit', '-p', 'tsconfig.test.json']],
  ['lint', [installed('biome'), 'ci', '.']],
  ['dead code', [installed('knip')]],
  ['generated docs', ['node', 'dist/tools/docs.js', '--check']],
];
const [isBare, more] =
  process.argv[2] === '--bare' ? [true, process.argv.slice(3)] : [false, process.argv.slice(2)];
let passed = 0;
/** What failed, named again at the end: a log that is cut shows its last lines. */
const failures = [];

function count(name, isPassed) {
  if (isPassed) passed++;
  else failures.push(name);
  console.log(`${isPassed ? 'ok' : 'FAILED'}: ${name}`);
}

/** Whether dist is newer than all that it is made from, folders included: they tell of files that are gone. `npm ci` builds, too. */
function isBuilt() {
  const builtAt = statSync('dist/built', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inside = ['src', 'pipelines', 'tools'].flatMap((name) => [
    name,
    ...readdirSync(name, { recursive: true }).map((path) => join(name, path)),
  ]);
  return ['tsconfig.json', 'package-lock.json', ...inside].every((path) => statSync(path).mtimeMs < builtAt);
}

/** Runs a command, and shows what it says once it has ended. @returns whether it succeeded */
async function runBeside(name, [command, ...args]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  return () => {
    process.stdout.write(Buffer.concat(said));
    count(name, code === 0);
  };
}

function printTimes() {
  if (!existsSync(times)) return;
  /** By file, whichever checkout it ran in. */
  const all = new Map();
  for (const line of readFileSync(times, 'utf8').trim().split('\n')) {
    const { file, seconds } = JSON.parse(line);
    const name = file.replace(/^.*(?=\/test\/)\//, '');
    all.set(name, (all.get(name) ?? 0) + seconds);
  }
  const sum = [...all.values()].reduce((total, seconds) => total + seconds, 0);
  console.log(`seconds of CPU by test file, ${sum.toFixed(0)} in all; docs/testing.md says why the first take long`);
  for (const [file, seconds] of [...all].sort(([, a], [, b]) => b - a)) {
    console.log(`${seconds.toFixed(1).padStart(7)} ${file}`);
  }
}

/**
 * Runs vitest, in the place of a checkout.
 *
 * @returns all tests, as vitest reports them, with the names of their files
 */
async function runTests(title, args, { cwd = '.', env = process.env } = {}) {
  const results = join(folder, `${title}.json`);
  const shown = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...shown, ...args], {
    ...{ cwd, stdio: 'inherit', env: { ...env, TONLAKE_TEST_TIMES: times } },
  });
  const status = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  if (!existsSync(results)) {
    count(`${title}: vitest ran`, false);
    return [];
  }
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: relative(join(realpathSync(cwd), 'test'), name) })),
  );
  const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'));
  // A file that could not be loaded has no tests of its own to count.
  for (const { name, message } of broken) count(`${title}: ${name}: ${message}`, false);
  passed += tests.filter((test) => test.status === 'passed').length;
  const failed = tests.filter((test) => test.status === 'failed');
  for (const { file, fullName, failureMessages } of failed) failures.push(`${file} ${fullName}: ${failureMessages[0]}`);
  if (status !== 0 && failed.length + broken.length === 0) count(`${title}: vitest ended with ${status}`, false);
  return tests;
}

const isSkipped = ({ status }) => status !== 'passed' && status !== 'failed';

/** A file that appears when the installs of .ci/run have ended, with a line for each that did not succeed. Default: none. */
const installs = process.env['TONLAKE_TESTS_AFTER'];
/** How long to wait for it. */
const MAX_WAIT_MS = 480_000;

async function awaitInstalls() {
  if (installs === undefined) return;
  const end = performance.now() + MAX_WAIT_MS;
  while (!existsSync(installs) && performance.now() < end) await delay(100);
  const outcomes = existsSync(installs) ? readFileSync(installs, 'utf8').split('\n') : ['late: all installs'];
  for (const outcome of outcomes.filter((line) => line !== '')) {
    if (outcome.startsWith('late: ')) count(`installed in time: ${outcome.slice('late: '.length)}`, false);
    else console.log(outcome);
  }
}

/** All tests with Node alone, then those of what is optional with all that is installed. @returns the tests that were skipped in both */
async function runBareFirst() {
  const place = copyCheckout(folder);
  count('npm start with Node alone', starts(place));
  const bare = await runTests('with Node alone', more, place);
  if (more.length === 0) for (const [name, isPassed] of checkSkips(bare)) count(name, isPassed);
  await awaitInstalls();
  const optional = await runTests('with what is installed', [...optionalTests(), ...more]);
  return [...optional.filter(isOptional), ...bare.filter((test) => !isOptional(test))].filter(isSkipped);
}

count('build', isBuilt() || spawnSync('npm', ['run', '-s', 'build'], { stdio: 'inherit' }).status === 0);
const others = besides.map(([name, command]) => runBeside(name, command));
const skipped = isBare ? await runBareFirst() : (await runTests('all', more)).filter(isSkipped);
for (const tell of await Promise.all(others)) tell();
printTimes();
rmSync(folder, { recursive: true, force: true });
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);
for (const failure of failures) console.log(`failed: ${stripVTControlCharacters(failure).trim().split('\n', 1)[0]}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
