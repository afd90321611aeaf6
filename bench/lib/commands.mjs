// Runs the commands that its parent sends, each on its simulated day, and replies with their exit codes.
import './moved-clock.mjs';
import { runCommandLine } from '../../dist/src/cli/command-line.js';

process.on('message', async ({ night, args }) => {
  process.env.TONLAKE_BENCH_DAYS = String(night);
  process.exitCode = 0;
  await runCommandLine([process.execPath, 'tonlake', ...args]);
  process.send(process.exitCode);
});
