// Runs the commands that it is sent, each in its night, and answers with their exit codes: one process for many of them.
import './moved-clock.mjs';
import { runCommandLine } from '../../dist/src/cli/command-line.js';

process.on('message', async ({ night, args }) => {
  process.env.TONLAKE_BENCH_DAYS = String(night);
  process.exitCode = 0;
  await runCommandLine([process.execPath, 'tonlake', ...args]);
  process.send(process.exitCode);
});
