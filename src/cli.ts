#!/usr/bin/env node
import './cli/v8-flags.ts';
import { CommanderError } from 'commander';
import { pasteable, rememberInvocation } from './cli/invocation.ts';
import { createProgram } from './cli/program.ts';
import { guardStreams } from './cli/streams.ts';
import { showWarnings } from './cli/warnings.ts';
import { formatError, TonlakeError, UsageError } from './core/errors.ts';

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
