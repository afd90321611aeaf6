import type { Command } from 'commander';
import { type CommonOptions, networkOption, warehouseOption } from './options.ts';

interface DescribeFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake describe`: tables and columns. */
export function addDescribe(program: Command): void {
  program
    .command('describe')
    .description('show the tables, or the columns of one')
    .argument('[table]', 'name of a table')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .option('--json', 'one JSON object on standard output')
    .addHelpText('after', '\nExamples:\n  tonlake describe\n  tonlake describe messages')
    .action(async (name: string | undefined, flags: DescribeFlags) => {
      const { loadRegistry } = await import('../registry.ts');
      const { describeTable, describeTables, tableSummary } = await import('../describe.ts');
      const registry = await loadRegistry();
      if (flags.json === true) {
        const tables = name === undefined ? registry.tables : [registry.table(name)];
        process.stdout.write(`${JSON.stringify(tables.map((table) => tableSummary(registry, table)))}\n`);
        return;
      }
      process.stdout.write(
        name === undefined ? describeTables(registry) : describeTable(registry, registry.table(name)),
      );
    });
}
