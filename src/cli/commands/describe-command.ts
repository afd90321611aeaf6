import type { Command } from 'commander';
import { TonlakeError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import { type CommonOptions, pipelinesOption, withPlace } from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';

interface DescribeFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake describe`: tables and columns. */
export function addDescribe(program: Command): void {
  withPlace(program.command('describe'))
    .description('list tables and marts, or show the columns of a table, mart or view')
    .argument('[table]', 'name of a table, mart or view; _commits for the ledger')
    .addOption(pipelinesOption())
    .option('--json', 'print a JSON object')
    .addHelpText('after', '\nExamples:\n  tonlake describe\n  tonlake describe messages')
    .action(async (name: string | undefined, flags: DescribeFlags) => {
      const { COMMITS } = await import('../../warehouse/index.ts');
      const { describeLedger, describeTable, describeTables, ledgerSummary, describeView, tableSummary, viewSummary } =
        await import('../../declare/describe-tables.ts');
      const [{ loadMarts }, { describeMart, describeMarts, martSummary }] = await Promise.all([
        import('../../marts/load-marts.ts'),
        import('../../marts/describe-marts.ts'),
      ]);
      if (name === COMMITS) {
        process.stdout.write(flags.json === true ? `${JSON.stringify([ledgerSummary()])}\n` : describeLedger());
        return;
      }
      const registry = await registryOf(flags);
      const { describeLeftOut } = await import('../../warehouse/query/left-out-gaps.ts');
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
        const gaps = await leftOutOf(
          flags,
          registry,
          tables.map((table) => table.name),
        );
        const leftOutIn = (name: string) => gaps.filter(({ table }) => table === name);
        const summaries = [
          ...tables.map((table) => ({ ...tableSummary(registry, table), leftOut: leftOutIn(table.name) })),
          ...told.map(martSummary),
        ];
        process.stdout.write(`${JSON.stringify(summaries)}\n`);
        return;
      }
      if (name === undefined) process.stdout.write(`${describeTables(registry)}\n${describeMarts(marts)}`);
      else if (mart !== undefined) process.stdout.write(describeMart(mart));
      else
        for (const table of tables)
          process.stdout.write(
            describeTable(registry, table, (await leftOutOf(flags, registry, [table.name])).map(describeLeftOut)),
          );
    });
}

/** The loaded pipelines and those of the warehouse, if there is one. */
async function registryOf(flags: DescribeFlags): Promise<Registry> {
  const [{ loadRegistry }, { warehouseRegistry }] = await Promise.all([
    import('../../declare/registry.ts'),
    import('../../warehouse/query/warehouse-registry.ts'),
  ]);
  const registry = await loadRegistry(flags.pipelines);
  try {
    return await warehouseRegistry(await findWarehouse(flags), registry);
  } catch (error) {
    if (error instanceof TonlakeError && flags.warehouse === undefined) return registry;
    throw error;
  }
}

/** What was left out of the warehouse; nothing if there is none and none was named. */
async function leftOutOf(flags: DescribeFlags, registry: Registry, tables: readonly string[]) {
  const [{ openReader }, { allLeftOut }] = await Promise.all([
    import('../../warehouse/index.ts'),
    import('../../warehouse/query/left-out-gaps.ts'),
  ]);
  try {
    const reader = await openReader(await findWarehouse(flags), registry.tables);
    const ledger = await reader.ledger();
    await reader.close();
    return allLeftOut(ledger, registry, tables);
  } catch (error) {
    if (error instanceof TonlakeError && flags.warehouse === undefined) return [];
    throw error;
  }
}
