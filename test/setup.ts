import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
// The flags of V8 that the command line sets.
import '../src/cli/v8-flags.ts';
import { cleanUp } from './scratch.ts';

/** Length of a tick of `/proc`, in seconds. */
const TICK = 1 / 100;

/** CPU time of this process and its threads, and on Linux of the processes that it started and that have ended, in seconds. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  let children = 0;
  try {
    // The name of the program, which may hold anything, ends with the last parenthesis.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    children = (Number(fields[13]) + Number(fields[14])) * TICK;
  } catch {
    // Not Linux.
  }
  return (user + system) / 1e6 + children;
}

// Setup files run anew for each test file, also where files share a process.
const before = cpuSeconds();
afterAll(async () => {
  await cleanUp();
  const times = process.env['TONLAKE_TEST_TIMES'];
  if (times === undefined) return;
  const { testPath } = expect.getState();
  appendFileSync(times, `${JSON.stringify({ file: testPath, seconds: cpuSeconds() - before })}\n`);
});
