import type { Command } from 'commander';
import { type CommonOptions, withPlace } from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';

/** `tonlake catalog`: rebuilds the views. */
export function addCatalog(program: Command): void {
  withPlace(program.command('catalog'))
    .description('rebuild warehouse.duckdb, the views for other DuckDB clients')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake catalog --network sandbox\n  duckdb -readonly data/sandbox/warehouse.duckdb',
    )
    .action(async (flags: CommonOptions) => {
      const [{ warehouseRegistry }, { rebuildCatalog }, { requireSameNetwork }] = await Promise.all([
        import('../../warehouse/query/warehouse-registry.ts'),
        import('../../warehouse/index.ts'),
        import('../../warehouse/query/status.ts'),
      ]);
      const warehouse = await findWarehouse(flags);
      const { tables } = await warehouseRegistry(warehouse);
      const path = await rebuildCatalog(warehouse, tables, (held) =>
        requireSameNetwork(held.path, held.network, flags.network),
      );
      process.stdout.write(`${path}\n`);
    });
}
