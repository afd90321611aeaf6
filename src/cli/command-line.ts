import { CommanderError } from 'commander';
import { TonlakeError, UsageError } from '../core/errors.ts';
import { beginSuggestions } from '../core/suggest.ts';
import { errorText } from '../sql/sql-fault.ts';
import { rememberInvocation } from './invocation.ts';
import { createProgram } from './program.ts';
import { guardStreams } from './streams.ts';
import { showWarnings } from './warnings.ts';

/** Usage errors that only the warehouse or DuckDB can detect. */
const USAGE_CODES: ReadonlySet<string> = new Set(['other-network', 'wrong-kind', 'several-results']);

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
