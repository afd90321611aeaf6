import type { Command } from 'commander';
import { MartError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import { type CommonOptions, withPlace } from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';

/** `tonlake files`: lists files for other Parquet readers. */
export function addFiles(program: Command): void {
  withPlace(program.command('files'))
    .description('list the current Parquet files of a table or mart, one path per line')
    .argument('<table>', 'name of a table or of a built mart')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake files transactions --network sandbox\n  tonlake files messages | xargs ls -l',
    )
    .action(async (table: string, flags: CommonOptions) => {
      const [{ loadRegistry }, { warehouseRegistry }, { openReader }, { requireSameNetwork }] = await Promise.all([
        import('../../declare/registry.ts'),
        import('../../warehouse/query/warehouse-registry.ts'),
        import('../../warehouse/index.ts'),
        import('../../warehouse/query/status.ts'),
      ]);
      let registry = await loadRegistry();
      const reader = await findWarehouse(flags)
        .then(async (path) => {
          registry = await warehouseRegistry(path);
          return openReader(path, registry.tables);
        })
        .catch(async (error: unknown) => {
          // An unknown name is reported first.
          if (!(await isDeclaredMart(registry, table))) registry.table(table);
          throw error;
        });
      try {
        requireSameNetwork(reader.path, reader.network, flags.network);
        const isBuilt = (await reader.ledger()).some((entry) => entry.mart !== undefined && table in entry.tables);
        if (!isBuilt && (await isDeclaredMart(registry, table))) throw notBuilt(table);
        const name = isBuilt ? table : registry.table(table).name;
        const paths = await reader.files(name);
        for (const path of paths) process.stdout.write(`${path}\n`);
        if (reader.kind === 'duckdb') {
          process.stderr.write(`no Parquet files: a DuckDB warehouse is a single file, ${reader.path}\n`);
        } else if (paths.length === 0)
          process.stderr.write(`no Parquet files: ${name} has no rows in ${reader.path}\n`);
      } finally {
        await reader.close();
      }
    });
}

/** Whether a name is that of a built-in mart and not of a table. */
async function isDeclaredMart(registry: Registry, name: string): Promise<boolean> {
  if (registry.tables.some((table) => table.name === name)) return false;
  const { loadMarts } = await import('../../marts/load-marts.ts');
  return (await loadMarts(registry)).some((mart) => mart.name === name);
}

function notBuilt(name: string): MartError {
  return new MartError(`mart ${name}: expected a built mart, got one that is not built yet`, {
    code: 'not-built',
    hint: `tonlake mart build ${name}`,
  });
}
