import { formatError } from '../core/errors.ts';
import { asStoreError } from '../files/file-failure.ts';

/**
 * Lets a standard stream that cannot be written end in one line and exit code 1. What a command does beside goes on without standard
 * error, which only tells of it.
 */
export function guardStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as head may go before everything is written; there is nobody left to tell.
    if (error.code !== 'EPIPE') {
      process.stderr.write(`error: ${formatError(asStoreError(error, 'standard output', '--output'))}\n`);
    }
    process.exit(1);
  });
  process.stderr.on('error', () => {
    process.once('exit', (code) => {
      if (code === 0) process.exitCode = 1;
    });
  });
}
