// Runs the commands that it is sent, one after the other, and answers with their exit codes: one process for many of them.
import { runCommandLine } from '../../dist/src/cli/command-line.js';

process.on('message', async (args) => {
  process.exitCode = 0;
  await runCommandLine([process.execPath, 'tonlake', ...args]);
  process.send(process.exitCode);
});
