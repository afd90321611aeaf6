// Runs every check of the project and ends with `N passed, N failed`. A check that fails counts as one failed test.
// With `--bare` as the first argument, they run as on a machine with Node alone, and then the tests of optional tools that are installed here.
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
/** Checks that need only a build. They run in parallel with the tests, some of which wait for a clock. */
const staticChecks = [
  ['types of tests and benches', [installed('tsc'), '--noEmit', '-p', 'tsconfig.test.json']],
  ['lint', [installed('biome'), 'ci', '.']],
  ['dead code', [installed('knip')]],
  ['generated docs', ['node', 'dist/tools/docs.js', '--check']],
];
const [isBare, more] =
  process.argv[2] === '--bare' ? [true, process.argv.slice(3)] : [false, process.argv.slice(2)];
let passed = 0;
/** Names of failures, repeated at the end, because a truncated log shows its last lines. */
const failures = [];

function count(name, isPassed) {
  if (isPassed) passed++;
  else failures.push(name);
  console.log(`${isPassed ? 'ok' : 'FAILED'}: ${name}`);
}

/** True if dist is newer than all sources and their folders, whose times change when a file is removed. `npm ci` also builds. */
function isBuilt() {
  const builtAt = statSync('dist/built', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inside = ['api', 'src', 'pipelines', 'tools'].flatMap((name) => [
    name,
    ...readdirSync(name, { recursive: true }).map((path) => join(name, path)),
  ]);
  return ['tsconfig.json', 'package-lock.json', ...inside].every((path) => statSync(path).mtimeMs < builtAt);
}

/** Runs a command. @returns a function that prints its output and counts the result */
async function runCheck(name, [command, ...args]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  return () => {
    process.stdout.write(Buffer.concat(output));
    count(name, code === 0);
  };
}

function printTimes() {
  if (!existsSync(times)) return;
  /** By file, of all checkouts. */
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
 * Runs vitest in a checkout.
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
  // A file that failed to load has no tests to count.
  for (const { name, message } of broken) count(`${title}: ${name}: ${message}`, false);
  passed += tests.filter((test) => test.status === 'passed').length;
  const failed = tests.filter((test) => test.status === 'failed');
  for (const { file, fullName, failureMessages } of failed) failures.push(`${file} ${fullName}: ${failureMessages[0]}`);
  if (status !== 0 && failed.length + broken.length === 0) count(`${title}: vitest ended with ${status}`, false);
  return tests;
}

const isSkipped = ({ status }) => status !== 'passed' && status !== 'failed';

/** A file that appears when the installs of .ci/run have ended, with a line for each failed one. Default: none. */
const installs = process.env['TONLAKE_TESTS_AFTER'];
/** Maximum time to wait for it. */
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

/** Runs all tests with Node alone, then those of optional tools with all that is installed. @returns tests that were skipped in both runs */
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
const others = staticChecks.map(([name, command]) => runCheck(name, command));
const skipped = isBare ? await runBareFirst() : (await runTests('all', more)).filter(isSkipped);
for (const report of await Promise.all(others)) report();
printTimes();
rmSync(folder, { recursive: true, force: true });
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);
for (const failure of failures) console.log(`failed: ${stripVTControlCharacters(failure).trim().split('\n', 1)[0]}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
