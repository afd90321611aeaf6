import type { Command } from 'commander';
import { type CommonOptions, networkOption, warehouseOf, warehouseOption } from './options.ts';

/** `tonlake files`: what any Parquet reader needs. */
export function addFiles(program: Command): void {
  program
    .command('files')
    .description('list the Parquet files that hold a table at this moment, one path per line')
    .argument('<table>', 'name of a table')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake files transactions --network sandbox\n  tonlake files messages | xargs ls -l',
    )
    .action(async (table: string, flags: CommonOptions) => {
      const [{ loadRegistry }, { openReader }, { requireSameNetwork }] = await Promise.all([
        import('../registry.ts'),
        import('../store/reader.ts'),
        import('../status.ts'),
      ]);
      const registry = await loadRegistry();
      const reader = await openReader(warehouseOf(flags), registry.tables).catch((error: unknown) => {
        // A wrong name is told first; marts are known to the warehouse alone.
        registry.table(table);
        throw error;
      });
      try {
        requireSameNetwork(reader.path, reader.network, flags.network);
        const isMart = (await reader.ledger()).some((entry) => entry.mart !== undefined && table in entry.tables);
        const name = isMart ? table : registry.table(table).name;
        for (const path of await reader.files(name)) process.stdout.write(`${path}\n`);
      } finally {
        await reader.close();
      }
    });
}
