import { catalogPlace, namespaceOf, parseUri } from '../iceberg/rest/catalog-place.ts';
import { requireKind } from '../warehouse/index.ts';
import type { JobIceberg } from './job.ts';
import { placed, wrongValue } from './job-fault.ts';
import type { ParsedJob } from './parse-job.ts';

/**
 * Where the tables of a job are published; undefined for nowhere.
 * @param network its name
 * @throws {UsageError} with line and column
 */
export async function checkIceberg(
  { fields, yaml }: ParsedJob,
  { warehouse, network }: { readonly warehouse: string; readonly network: string },
): Promise<JobIceberg | undefined> {
  const { iceberg = false } = fields;
  if (iceberg === false) return undefined;
  if ((await requireKind(warehouse, undefined)) === 'duckdb') {
    const hint = 'remove it, or export to a folder of Parquet files';
    throw wrongValue(yaml, ['iceberg'], `false for the DuckDB warehouse ${warehouse}`, hint);
  }
  if (iceberg === true) return { catalog: undefined, location: undefined };
  const { catalog: uri, namespace, warehouse: catalogWarehouse, location } = iceberg;
  if (uri === undefined) {
    for (const key of ['namespace', 'warehouse'] as const)
      if (iceberg[key] !== undefined)
        throw wrongValue(yaml, ['iceberg', key], `${key} only with catalog`, 'name the catalog, or remove it');
    return { catalog: undefined, location };
  }
  placed(yaml, ['iceberg', 'catalog'], () => parseUri(uri, 'catalog'));
  const named = namespace ?? placed(yaml, ['iceberg', 'catalog'], () => namespaceOf(network));
  const catalog = { uri, namespace: named, warehouse: catalogWarehouse };
  // Without the environment, which is that of the machine that runs the job.
  placed(yaml, ['iceberg', 'namespace'], () => catalogPlace(catalog, {}));
  return { catalog, location };
}
