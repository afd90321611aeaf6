import { CommanderError } from 'commander';
import { formatError, TonlakeError, UsageError } from '../core/errors.ts';
import { pasteable, rememberInvocation } from './invocation.ts';
import { createProgram } from './program.ts';
import { guardStreams } from './streams.ts';
import { showWarnings } from './warnings.ts';

/** Faults of the command line that only the warehouse, or DuckDB, can tell. */
const USAGE_CODES: ReadonlySet<string> = new Set(['other-network', 'wrong-kind', 'several-results']);

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof UsageError || (error instanceof TonlakeError && USAGE_CODES.has(error.code)) ? 2 : 1;
}

/**
 * Runs one command: what it says goes to the standard streams, its exit code to `process.exitCode`. Never rejects.
 *
 * @param argv as Node has it: its own path, the script's, then the words of the user
 */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  rememberInvocation(argv[1] ?? '');
  guardStreams();
  showWarnings();
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) process.stderr.write(`error: ${pasteable(formatError(error))}\n`);
    process.exitCode = exitCodeOf(error);
  }
}
