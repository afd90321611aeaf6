// Runs every check of the project and ends with `N passed, N failed`. A check that fails counts as one failed test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'tonlake-check-'));
const results = join(folder, 'results.json');
const checks = [
  ['build', ['npm', 'run', '-s', 'build']],
  ['types of tests and benches', ['npx', 'tsc', '--noEmit', '-p', 'tsconfig.test.json']],
  ['lint', ['npx', 'biome', 'ci', '.']],
  ['dead code', ['npx', 'knip']],
  ['generated docs', ['node', 'dist/tools/docs.js', '--check']],
];
let passed = 0;
let failed = 0;

for (const [name, [command, ...args]] of checks) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status === 0) passed++;
  else failed++;
  console.log(`${status === 0 ? 'ok' : 'FAILED'}: ${name}`);
}

const vitest = spawnSync(
  'npx',
  ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
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
rmSync(folder, { recursive: true, force: true });
for (const name of skipped) console.log(`skipped: ${name}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
