import type { Command } from 'commander';
import { type CommonOptions, networkOption, warehouseOf, warehouseOption } from './options.ts';

interface StatusFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake status`: what a warehouse holds and what is missing. */
export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show what a warehouse holds: done ranges, holes, rows, files, quarantine')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .option('--json', 'one JSON object on standard output')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake status --network sandbox\n  tonlake status --warehouse may.duckdb --json',
    )
    .action(async (flags: StatusFlags) => {
      const { readStatus, formatStatus } = await import('../status.ts');
      const status = await readStatus(warehouseOf(flags), flags.network);
      process.stdout.write(flags.json === true ? `${JSON.stringify(status)}\n` : formatStatus(status));
    });
}
