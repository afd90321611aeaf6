#!/usr/bin/env node
import './engine.ts';
import { CommanderError } from 'commander';
import { pasteable, rememberInvocation } from './commands/invocation.ts';
import { guardStreams } from './commands/streams.ts';
import { showWarnings } from './commands/warnings.ts';
import { formatError, TonlakeError, UsageError } from './errors.ts';
import { createProgram } from './program.ts';

/** Faults of the command line that only the warehouse, or DuckDB, can tell. */
const USAGE_CODES: ReadonlySet<string> = new Set(['other-network', 'wrong-kind', 'several-results']);

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof UsageError || (error instanceof TonlakeError && USAGE_CODES.has(error.code)) ? 2 : 1;
}

rememberInvocation(process.argv[1] ?? '');
guardStreams();
showWarnings();

try {
  await createProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.stderr.write(`error: ${pasteable(formatError(error))}\n`);
  process.exitCode = exitCodeOf(error);
}
