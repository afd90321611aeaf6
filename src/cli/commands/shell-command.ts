import type { Command } from 'commander';
import { type CommonOptions, withPlace } from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';
import { collectInSteps } from '../v8-flags.ts';

const HELP = `
Statements end with a semicolon and can have several lines. Tab completes tables, columns, functions and keywords; Ctrl-C cancels the
query, not the shell; results that are larger than the terminal open in $PAGER. .help lists the commands that begin with a dot. As in
tonlake sql, each query sees what is committed when it starts, and a warning names what is missing of its tables.

SET VARIABLE and CREATE TEMP last as long as the shell. A DuckDB warehouse is open only while a statement runs, so that others can write
it: there they last for one statement.

From a pipe, statements run without prompts, until one fails.

Examples:
  tonlake shell --network sandbox
  tonlake shell -w data/mainnet < queries.sql`;

/** `tonlake shell`: a prompt for queries. */
export function addShell(program: Command): void {
  withPlace(program.command('shell'))
    .description('prompt for queries over a warehouse')
    .addHelpText('after', HELP)
    .action(async (flags: CommonOptions) => {
      collectInSteps();
      const { openShell } = await import('../shell/open-shell.ts');
      if (!(await openShell(await findWarehouse(flags), flags.network))) process.exitCode = 1;
    });
}
