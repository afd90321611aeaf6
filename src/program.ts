import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCatalog } from './commands/catalog.ts';
import { addDescribe } from './commands/describe.ts';
import { addFiles } from './commands/files.ts';
import { addRun } from './commands/run.ts';
import { addSandbox } from './commands/sandbox.ts';
import { addSql } from './commands/sql.ts';
import { addStatus } from './commands/status.ts';

/** The command line as commander knows it; docs/cli.md is made from it. */
export function createProgram(): Command {
  const program = new Command('tonlake')
    .description(
      'Exports the TON blockchain from a TON Index v3 API into Parquet or DuckDB, and proves that nothing is missing.',
    )
    .version(readVersion())
    .showSuggestionAfterError();
  for (const add of [addRun, addStatus, addSql, addDescribe, addFiles, addCatalog, addSandbox]) add(program);
  for (const command of [program, ...program.commands]) command.exitOverride();
  return program;
}

/** The version of the package; its description lies two folders above the compiled file, one above the source. */
export function readVersion(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../' : '../../';
  const own: unknown = JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8'));
  return typeof own === 'object' && own !== null && 'version' in own ? String(own.version) : 'unknown';
}
