import { chainBounds, fetchHeadTime } from '../chain/index-ends.ts';
import { run } from '../export/run.ts';
import { openSession } from '../http/session.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import type { JobActions } from './job-actions.ts';
import { tryNeeds } from './preflight.ts';
import { sendNotice } from './webhook.ts';
import { writeDatabase, writeRows } from './write-rows.ts';

/** The steps that the program runs. */
export const jobActions: JobActions = {
  withChain: async ({ network, zone, rps, effects }, use) => {
    const session = await openSession({ network, rps, effects, command: 'tonlake job run' });
    try {
      const { source } = session;
      return await use({
        ...chainBounds(source, { zone, isOver: true }),
        headTime: () => fetchHeadTime(source),
      });
    } finally {
      await session.close();
    }
  },
  tryNeeds,
  run,
  verify: async ({ repair, ...options }) => {
    if (!repair) return (await import('../verify/verify.ts')).verifyWarehouse({ ...options, signal: undefined });
    return (await import('../verify/repair.ts')).repairWarehouse(options);
  },
  compact: async ({ network, ...options }) => {
    const [{ compactWarehouse }, registry] = await Promise.all([
      import('../warehouse/index.ts'),
      warehouseRegistry(options.warehouse),
    ]);
    const { tables, pipelines } = registry;
    const limit = async ({ path, network: held }: { readonly path: string; readonly network: string }) =>
      requireSameNetwork(path, held, network);
    return compactWarehouse({ ...options, tables, pipelines, limit: (held) => limit(held).then(() => undefined) });
  },
  publishIceberg: async ({ network, catalog, ...options }) => {
    const [{ publishWarehouse }, { martDocs }, { catalogPlace }, registry] = await Promise.all([
      import('../iceberg/publish-warehouse.ts'),
      import('../iceberg/mart-docs.ts'),
      import('../iceberg/rest/catalog-place.ts'),
      warehouseRegistry(options.warehouse),
    ]);
    return publishWarehouse({
      ...options,
      catalog: catalog === undefined ? undefined : catalogPlace(catalog),
      tables: registry.tables,
      martDocs: () => martDocs(registry),
      accept: ({ path, network: held }) => requireSameNetwork(path, held, network),
    });
  },
  forgetOld: async (options) => (await import('../verify/retention.ts')).forgetOld(options),
  buildMarts: async (warehouse, names, network) => {
    const { buildMarts } = await import('../marts/build-marts.ts');
    return buildMarts(warehouse, { names, network });
  },
  runChecks: async (warehouse, names, network) => {
    const { runChecks } = await import('../marts/run-checks.ts');
    return (await runChecks(warehouse, { names, network })).checks;
  },
  renderReport: async (warehouse, report, request) => {
    const { renderReport } = await import('../reports/render-report.ts');
    return renderReport(warehouse, report, request);
  },
  writeRows,
  writeDatabase,
  notify: sendNotice,
};
