import { formatError } from '../core/errors.ts';
import { asStoreError } from '../files/file-failure.ts';

/** Commands that do more than print: when the reader of their events closes the pipe, they end before their work is done. */
const WORKING: ReadonlySet<string> = new Set([
  ...['run', 'follow', 'job', 'build', 'test', 'verify'],
  ...['compact', 'copy', 'publish', 'forget', 'export'],
]);

/**
 * Reports a write error of a standard stream in one line, with exit code 1. If standard error fails, the command continues, because it
 * only has messages.
 *
 * @param command name of the command
 */
export function guardStreams(command: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as head can close the pipe early, which is not an error.
    if (error.code === 'EPIPE') process.exit(WORKING.has(command) ? 1 : 0);
    process.stderr.write(`error: ${formatError(asStoreError(error, 'standard output', '--output'))}\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {
    process.once('exit', (code) => {
      if (code === 0) process.exitCode = 1;
    });
  });
}
