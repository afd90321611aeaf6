import { CommanderError } from 'commander';
import { formatError, oneLine, TonlakeError, UsageError } from '../core/errors.ts';
import { beginSuggestions } from '../core/suggest.ts';
import { asStoreError } from '../files/file-failure.ts';
import { errorText } from '../sql/sql-fault.ts';
import { rememberInvocation } from './invocation.ts';
import { createProgram } from './program.ts';

/** Usage errors that only the warehouse or DuckDB can detect. */
const USAGE_CODES: ReadonlySet<string> = new Set(['other-network', 'wrong-kind', 'several-results']);

/** Commands that do more than print: a closed pipe ends them before their work is done. */
const WORKING: ReadonlySet<string> = new Set([
  'run',
  'follow',
  'job',
  'build',
  'test',
  'verify',
  'compact',
  'copy',
  'publish',
  'forget',
  'export',
]);

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof UsageError || (error instanceof TonlakeError && USAGE_CODES.has(error.code)) ? 2 : 1;
}

/** False for help without --all, which hides options. Completion needs all of them. */
function showsAll(argv: readonly string[]): boolean {
  const isHelp = argv[2] === 'help' || argv.includes('--help') || argv.includes('-h');
  return !isHelp || argv.includes('--all');
}

/** Keeps a query that begins with an SQL comment from being parsed as an option. */
function asArgument(word: string): string {
  return /^--\s/.test(word) ? ` ${word}` : word;
}

/**
 * Reports a write error of standard output in one line, with exit code 1. If standard error fails, the command continues, because only
 * messages go there.
 */
function guardStreams(command: string): void {
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

/** Prints warnings of tonlake in one line each, without the process id and advice of Node; other warnings as Node does. */
function showWarnings(): void {
  const shown = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: unknown }) => {
    if (String(warning.code).startsWith('TONLAKE_')) process.stderr.write(`warning: ${oneLine(warning.message)}\n`);
    else for (const show of shown) show(warning);
  });
}

/**
 * Runs one command. Output goes to the standard streams, the exit code to `process.exitCode`. Never rejects.
 *
 * @param argv as in Node: the paths of Node and of the script, then the arguments
 */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  rememberInvocation(argv[1] ?? '');
  guardStreams(argv[2] ?? '');
  showWarnings();
  try {
    await createProgram(showsAll(argv)).parseAsync(argv.map(asArgument));
  } catch (error) {
    if (!(error instanceof CommanderError)) process.stderr.write(errorText(error));
    process.exitCode = exitCodeOf(error);
  } finally {
    beginSuggestions();
  }
}
