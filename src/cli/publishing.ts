import { Option } from 'commander';
import { formatCount, formatDuration } from '../core/format.ts';
import type { Registry } from '../declare/registry.ts';
import type { PublishAlong } from '../iceberg/publish-along.ts';
import type { PublishReport } from '../iceberg/publish-warehouse.ts';
import type { Store } from '../warehouse/index.ts';

/** Formats of published tables. */
export type PublishFormat = 'iceberg';

/** `--publish`, for commands that commit rows. */
export const publishOption = (): Option =>
  new Option(
    '--publish <format>',
    'publish the tables as they grow, at most once a minute, like tonlake publish',
  ).choices(['iceberg' satisfies PublishFormat]);

interface PublishingOptions {
  readonly warehouse: string;
  readonly store?: Store['kind'] | undefined;
  readonly registry?: Registry | undefined;
}

/** @returns undefined if nothing is to be published @throws {StoreError} `no-files` for a DuckDB warehouse */
export async function openPublishing(
  format: PublishFormat | undefined,
  { warehouse, store, registry }: PublishingOptions,
): Promise<PublishAlong | undefined> {
  if (format === undefined) return undefined;
  const [{ PublishAlong }, { martDocs }, { warehouseRegistry }] = await Promise.all([
    import('../iceberg/publish-along.ts'),
    import('../iceberg/mart-docs.ts'),
    import('../warehouse/query/warehouse-registry.ts'),
  ]);
  const known = await warehouseRegistry(warehouse, registry);
  return PublishAlong.open({ warehouse, store, tables: known.tables, martDocs: () => martDocs(known, undefined) });
}

/** The result of a publication, in one line. */
export function describePublished(report: PublishReport): string {
  const { warehouse, catalog, namespace, entry, tables, published, skipped, seconds } = report;
  const place = catalog === undefined ? `${warehouse}/iceberg` : `${catalog} namespace ${namespace}`;
  const left = skipped.length === 0 ? '' : `; not published: ${skipped.join(', ')}`;
  return `${place}: ${formatCount(tables)} tables at entry-${entry}, ${formatCount(published)} of them new (${formatDuration(seconds)})${left}\n`;
}

/** A publication beside a command failed. */
export const describeUnpublished = (message: string): string =>
  `warning: the tables were not published, and will be tried again after later commits: ${message}`;

/** Publishes the last rows of a command, and says so unless its output is for programs. */
export async function finishPublishing(along: PublishAlong | undefined, isJson: boolean): Promise<void> {
  const report = await along?.finish();
  if (report === undefined) return;
  if (!isJson) process.stdout.write(describePublished(report));
  if (report.skipped.length > 0) process.exitCode = 1;
}
