import type { Command } from 'commander';
import { type CommonOptions, networkOption, warehouseOption } from './options.ts';

interface DescribeFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake describe`: tables and columns. */
export function addDescribe(program: Command): void {
  program
    .command('describe')
    .description('show the tables and marts, or the columns of one, or a view')
    .argument('[table]', 'name of a table, of a mart or of a view; _commits for the ledger')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .option('--json', 'one JSON object on standard output')
    .addHelpText('after', '\nExamples:\n  tonlake describe\n  tonlake describe messages')
    .action(async (name: string | undefined, flags: DescribeFlags) => {
      const { loadRegistry } = await import('../registry.ts');
      const { COMMITS } = await import('../store/catalog.ts');
      const { describeLedger, describeTable, describeTables, ledgerSummary, describeView, tableSummary, viewSummary } =
        await import('../describe.ts');
      const [{ loadMarts }, { describeMart, describeMarts, martSummary }] = await Promise.all([
        import('../mart/marts.ts'),
        import('../mart/describe.ts'),
      ]);
      if (name === COMMITS) {
        process.stdout.write(flags.json === true ? `${JSON.stringify([ledgerSummary()])}\n` : describeLedger());
        return;
      }
      const registry = await loadRegistry();
      const of = name === undefined ? undefined : registry.tableOf(name);
      const view = of?.views.find((candidate) => candidate.name === name);
      if (of !== undefined && view !== undefined) {
        const summary = flags.json === true ? `${JSON.stringify([viewSummary(of, view)])}\n` : describeView(of, view);
        process.stdout.write(summary);
        return;
      }
      const marts = of === undefined ? await loadMarts(registry) : [];
      const mart = marts.find((candidate) => candidate.name === name);
      const tables = name === undefined ? registry.tables : mart === undefined ? [registry.table(name)] : [];
      const told = name === undefined ? marts : marts.filter((candidate) => candidate === mart);
      if (flags.json === true) {
        const summaries = [...tables.map((table) => tableSummary(registry, table)), ...told.map(martSummary)];
        process.stdout.write(`${JSON.stringify(summaries)}\n`);
        return;
      }
      if (name === undefined) process.stdout.write(`${describeTables(registry)}\n${describeMarts(marts)}`);
      else if (mart !== undefined) process.stdout.write(describeMart(mart));
      else for (const table of tables) process.stdout.write(describeTable(registry, table));
    });
}
