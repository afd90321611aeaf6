import { type Command, Option } from 'commander';
import { formatError } from '../core/errors.ts';
import { formatCount, formatDuration } from '../core/format.ts';
import { suggest } from '../core/suggest.ts';
import type { ExportOptions } from '../export/open-export.ts';
import { resolveNetwork } from '../http/network.ts';
import type { BackgroundPublisher } from '../iceberg/background-publisher.ts';
import { publishFlags } from '../iceberg/publish-flags.ts';
import type { PublishOptions, PublishReport } from '../iceberg/publish-warehouse.ts';
import type { CatalogConfig } from '../iceberg/rest/catalog-config.ts';
import { publishOptions } from '../jobs/step-options.ts';
import { type CommonOptions, optionOf } from './common-options.ts';
import type { Context } from './context.ts';
import { refuseWithout } from './option-conflicts.ts';

/** Formats of published tables. */
type PublishFormat = 'iceberg';

/** Where tables are published. */
export interface PlaceFlags {
  readonly location?: string;
  readonly catalog?: string;
  readonly namespace?: string;
  readonly catalogWarehouse?: string;
}

export interface PublishFlags extends PlaceFlags {
  readonly publish?: PublishFormat;
}

/** Where a command publishes along with its commits. */
export type PublishPlace = Pick<PublishOptions, 'location' | 'catalog'>;

/** Adds `--location`, `--catalog` and what belongs to it. */
export function withPublishPlace(command: Command): Command {
  return command
    .addOption(optionOf('--location <path>', publishOptions.location))
    .addOption(optionOf('--catalog <url>', publishOptions.catalog))
    .addOption(optionOf('--namespace <name>', publishOptions.namespace))
    .addOption(optionOf('--catalog-warehouse <name>', publishOptions.catalogWarehouse));
}

/** Adds `--publish` and where to, for commands that commit rows. */
export function withPublishing(command: Command): Command {
  const format = new Option(
    '--publish <format>',
    'publish the tables as they grow, at most once a minute, like tonlake publish',
  ).choices(['iceberg' satisfies PublishFormat]);
  return withPublishPlace(command.addOption(format));
}

/**
 * Where the tables of a command are published along with its commits; undefined if they are not.
 * @throws {UsageError}
 */
export async function publishPlaceOf(
  context: Context<PublishFlags & CommonOptions>,
  network: string,
): Promise<PublishPlace | undefined> {
  const { flags } = context;
  if (flags.publish !== undefined)
    return { location: flags.location, catalog: await catalogOf(flags, async () => resolveNetwork(network).name) };
  const names = ['location', 'catalog', 'namespace', 'catalogWarehouse'] as const;
  refuseWithout(context, '--publish', names, (flag) => `add --publish iceberg, or remove ${flag}`);
  return undefined;
}

/**
 * The namespace of a catalog that `--catalog` names.
 * @param networkOf the network, for the default of the namespace
 * @throws {UsageError}
 */
export async function catalogOf(
  { catalog: uri, namespace, catalogWarehouse }: PlaceFlags,
  networkOf: () => Promise<string>,
): Promise<CatalogConfig | undefined> {
  const { readCatalogConfig, namespaceOf, requireCatalog } = await import('../iceberg/rest/catalog-config.ts');
  if (uri === undefined) {
    requireCatalog(namespace ?? catalogWarehouse);
    return undefined;
  }
  const named = namespace ?? namespaceOf(await networkOf());
  return readCatalogConfig({ uri, namespace: named, warehouse: catalogWarehouse });
}

/** Publishes along with the commits of a command. @throws {StoreError} for a DuckDB warehouse */
export async function openPublishing(
  place: PublishPlace,
  { warehouse, store, registry }: Pick<ExportOptions, 'warehouse' | 'store' | 'registry'>,
  onFailure: (message: string) => void,
): Promise<BackgroundPublisher> {
  const [{ BackgroundPublisher }, { declaredTables }, { warehouseRegistry }] = await Promise.all([
    import('../iceberg/background-publisher.ts'),
    import('../iceberg/declared-tables.ts'),
    import('../warehouse/query/warehouse-registry.ts'),
  ]);
  const known = await warehouseRegistry(warehouse, registry);
  return BackgroundPublisher.open({ ...place, ...declaredTables(known, warehouse), warehouse, store, onFailure });
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

/** The last publication of a command that was interrupted failed; the command that publishes to the same place. */
export function describeLastUnpublished(error: unknown, place: PublishPlace = {}): string {
  const again = suggest('publish iceberg', '', publishFlags(place.location, place.catalog));
  return `warning: the last rows were not published; ${again} does it: ${formatError(error)}`;
}
