// Runs every check of the project and ends with `N passed, N failed`. A check that fails counts as one failed test.
// With `--bare` first, those of a machine with Node alone follow. Other arguments are for vitest.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { runBareChecks } from './bare-checks.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tonlake-check-'));
const results = join(folder, 'results.json');
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
let failed = 0;

function count(name, isPassed) {
  if (isPassed) passed++;
  else failed++;
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
  const lines = readFileSync(times, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const sum = lines.reduce((total, { seconds }) => total + seconds, 0);
  console.log(`seconds of CPU by test file, ${sum.toFixed(0)} in all; docs/testing.md says why the first take long`);
  for (const { file, seconds } of lines.sort((a, b) => b.seconds - a.seconds)) {
    console.log(`${seconds.toFixed(1).padStart(7)} ${relative('.', file)}`);
  }
}

count('build', isBuilt() || spawnSync('npm', ['run', '-s', 'build'], { stdio: 'inherit' }).status === 0);
const others = besides.map(([name, command]) => runBeside(name, command));
const vitest = await new Promise((resolve) => {
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`, ...more];
  const env = { ...process.env, TONLAKE_TEST_TIMES: times };
  const child = spawn(installed('vitest'), ['run', ...args], { stdio: 'inherit', env });
  child.once('error', () => resolve({ status: 1 })).once('close', (status) => resolve({ status }));
});
for (const tell of await Promise.all(others)) tell();
/** A file that appears when the installs of .ci/run have ended. Tests wait for it (test/programs.ts). Default: none. */
const after = process.env['TONLAKE_TESTS_AFTER'];
if (after !== undefined) {
  const outcomes = existsSync(after) ? readFileSync(after, 'utf8').split('\n') : ['late: all installs'];
  for (const outcome of outcomes.filter((line) => line !== '')) {
    if (outcome.startsWith('late: ')) count(`installed in time: ${outcome.slice('late: '.length)}`, false);
    else console.log(outcome);
  }
}
const skipped = [];
try {
  const report = JSON.parse(readFileSync(results, 'utf8'));
  for (const file of report.testResults) {
    // A file that could not be loaded has no tests of its own to count.
    if (file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed')) failed++;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed++;
      else if (test.status === 'failed') failed++;
      else skipped.push(test.fullName);
    }
  }
  if (vitest.status !== 0 && failed === 0) failed++;
} catch {
  failed++;
}
printTimes();
rmSync(folder, { recursive: true, force: true });
if (isBare) for (const [name, isPassed] of runBareChecks()) count(name, isPassed);
for (const name of skipped) console.log(`skipped: ${name}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
