import type { Command } from 'commander';
import { type CommonOptions, networkOption, warehouseOption } from './options.ts';

interface DescribeFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake describe`: tables and columns. */
export function addDescribe(program: Command): void {
  program
    .command('describe')
    .description('show the tables, or the columns of one, or a view')
    .argument('[table]', 'name of a table, or of a view')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .option('--json', 'one JSON object on standard output')
    .addHelpText('after', '\nExamples:\n  tonlake describe\n  tonlake describe messages')
    .action(async (name: string | undefined, flags: DescribeFlags) => {
      const { loadRegistry } = await import('../registry.ts');
      const { describeTable, describeTables, describeView, tableSummary, viewSummary } = await import('../describe.ts');
      const registry = await loadRegistry();
      const of = name === undefined ? undefined : registry.tableOf(name);
      const view = of?.views.find((candidate) => candidate.name === name);
      if (of !== undefined && view !== undefined) {
        const summary = flags.json === true ? `${JSON.stringify([viewSummary(of, view)])}\n` : describeView(of, view);
        process.stdout.write(summary);
        return;
      }
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
