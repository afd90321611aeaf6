import { chainBounds } from '../chain/index-ends.ts';
import type { ChainBounds } from '../chain/range-part.ts';
import { run } from '../export/run.ts';
import { openSession, type SessionOptions } from '../http/session.ts';
import type { PublishOptions } from '../iceberg/publish-warehouse.ts';
import type { BuildOptions } from '../marts/build-marts.ts';
import type { CheckOptions } from '../marts/run-checks.ts';
import type { RenderOptions } from '../reports/render-report.ts';
import { exportRows } from '../targets/export-rows.ts';
import type { RepairOptions } from '../verify/repair.ts';
import type { RetentionOptions } from '../verify/retention.ts';
import type { CompactOptions } from '../warehouse/index.ts';
import { requireSameNetwork, warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import type { JobIceberg } from './job.ts';
import { preflight } from './preflight.ts';
import { sendNotice } from './send-notice.ts';

interface NetworkChain extends ChainBounds {
  /** Time of the newest block, milliseconds since 1970. */
  headTime(): Promise<number>;
}

type OfNetwork<T> = T & { readonly network: string };

/** The functions that the steps of a job call; those of the commands. */
export const jobActions = {
  /** Connects to a network to resolve a range; days are complete days of a zone. */
  withChain: async <T>(
    { zone, ...options }: Pick<SessionOptions, 'network' | 'rps' | 'effects'> & { readonly zone: string },
    use: (chain: NetworkChain) => Promise<T>,
  ): Promise<T> => {
    const session = await openSession({ ...options, command: 'tonlake job run' });
    try {
      return await use(chainBounds(session.source, { zone, isOver: true }));
    } finally {
      await session.close();
    }
  },
  preflight,
  run,
  /** Verifies a warehouse. `repair`: also repairs damaged rows. */
  verify: async ({ repair, ...options }: RepairOptions & { readonly repair: boolean }) => {
    if (!repair) return (await import('../verify/verify.ts')).verifyWarehouse({ ...options, signal: undefined });
    return (await import('../verify/repair.ts')).repairWarehouse(options);
  },
  /** Merges small files; when stopped, it finishes the current merge. */
  compact: async ({ network, ...options }: OfNetwork<Pick<CompactOptions, 'warehouse' | 'effects' | 'stop'>>) => {
    const { compactWarehouse } = await import('../warehouse/index.ts');
    const { tables, pipelines } = await warehouseRegistry(options.warehouse);
    return compactWarehouse({
      ...options,
      tables,
      pipelines,
      limit: async (warehouse) => {
        requireSameNetwork(warehouse.path, warehouse.network, network);
        return undefined;
      },
    });
  },
  /** Publishes the tables and marts as Iceberg tables. */
  publishIceberg: async ({
    network,
    catalog,
    ...options
  }: OfNetwork<JobIceberg & Pick<PublishOptions, 'warehouse' | 'effects'>>) => {
    const [{ publishWarehouse }, { declaredTables }, { readCatalogConfig }, registry] = await Promise.all([
      import('../iceberg/publish-warehouse.ts'),
      import('../iceberg/declared-tables.ts'),
      import('../iceberg/rest/catalog-config.ts'),
      warehouseRegistry(options.warehouse),
    ]);
    return publishWarehouse({
      ...options,
      catalog: catalog === undefined ? undefined : readCatalogConfig(catalog),
      ...declaredTables(registry, options.warehouse),
      accept: (warehouse) => requireSameNetwork(warehouse.path, warehouse.network, network),
    });
  },
  /** Removes rows older than the retention, in one commit. */
  forgetOld: async (options: RetentionOptions) => (await import('../verify/retention.ts')).forgetOld(options),
  buildMarts: async (warehouse: string, options: BuildOptions) =>
    (await import('../marts/build-marts.ts')).buildMarts(warehouse, options),
  runChecks: async (warehouse: string, options: CheckOptions) =>
    (await (await import('../marts/run-checks.ts')).runChecks(warehouse, options)).checks,
  renderReport: async (warehouse: string, report: string, options: RenderOptions) =>
    (await import('../reports/render-report.ts')).renderReport(warehouse, report, options),
  /** Writes rows to a file, or to a database, where they replace those of the same days. */
  exportRows,
  /** Sends a notification. @throws {JobError} if the program or server fails */
  notify: sendNotice,
};

export type JobActions = typeof jobActions;
