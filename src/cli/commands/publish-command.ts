import { type Command, InvalidArgumentError } from 'commander';
import { formatCount } from '../../core/format.ts';
import type { PublishEvent, Restart, TablePublished } from '../../iceberg/publish-warehouse.ts';
import { parseDuration, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { catalogOf, describePublished, type PlaceFlags, withPublishPlace } from '../publishing.ts';

interface PublishFlags extends ContextFlags, PlaceFlags {
  readonly keep?: number;
  readonly marts?: string;
}

const HOUR_MS = 3_600_000;

const HELP = `
Tables for DuckDB, pyiceberg, Polars, Spark, Trino and ClickHouse: the same Parquet files, with Iceberg metadata (format version 2) in
the folder iceberg/<table> of the warehouse, which may be s3://bucket/prefix. No row is copied. docs/lake.md has a query for each engine.

A snapshot shows one entry of the ledger, and has the tag entry-<number> in every table, so several tables can be read at one state.
Superseded files stay as long as a snapshot shows them (--keep). Publish after each export, build of marts or compaction;
--publish iceberg of tonlake run and follow, and iceberg: true in a job, do so. It needs no lock, and can run while another command
writes the warehouse.

Nothing else depends on that folder: if it is removed, damaged or moved, publishing again makes it anew.

With --catalog, an Iceberg REST catalog (Polaris, Lakekeeper, Nessie, Unity and others) keeps the tables. Credentials come from the
environment, by the names of pyiceberg: PYICEBERG_CATALOG__DEFAULT__TOKEN, or PYICEBERG_CATALOG__DEFAULT__CREDENTIAL=id:secret with
..._SCOPE and ..._OAUTH2_SERVER_URI.

Examples:
  tonlake publish iceberg --network sandbox
  tonlake publish iceberg --warehouse /data/mainnet --keep 48h --json
  tonlake publish iceberg --warehouse /in/container/mainnet --location /srv/mainnet
  tonlake publish iceberg --warehouse s3://lake/mainnet
  tonlake publish iceberg --warehouse s3://lake/mainnet --catalog https://catalog.example --namespace ton`;

/** `tonlake publish`: tables for other engines. */
export function addPublish(program: Command): void {
  const publish = program
    .command('publish')
    .summary('publish tables for other engines, over the same files')
    .description('publish tables for other engines, over the same files');
  const command = withPlace(publish.command('iceberg'))
    .description('publish every table and mart as an Apache Iceberg table')
    .option(
      '--keep <time>',
      'how long a snapshot stays readable after it was replaced, at least 1h (default: 24h)',
      parseKeep,
    );
  withPublishPlace(command)
    .option('--marts <folder>', 'folder of your own marts, for the descriptions of their columns')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(inContext(publishIceberg));
  withPlace(publish.command('duckdb'))
    .description('rebuild warehouse.duckdb, the views for other DuckDB clients')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake publish duckdb --network sandbox\n  duckdb -readonly data/sandbox/warehouse.duckdb',
    )
    .action(inContext(publishDuckdb));
}

async function publishDuckdb(context: Context): Promise<void> {
  const [{ rebuildCatalog }, { knownWarehouse }] = await Promise.all([
    import('../../warehouse/index.ts'),
    import('../../warehouse/query/warehouse-registry.ts'),
  ]);
  const known = { registry: await context.registry(), network: context.flags.network };
  context.write(`${await rebuildCatalog(await knownWarehouse(await context.warehouse(), known))}\n`);
}

/** At least an hour, for readers that have just begun. */
function parseKeep(text: string): number {
  const ms = parseDuration(text);
  if (ms < HOUR_MS) throw new InvalidArgumentError('Expected at least 1h.');
  return ms;
}

async function publishIceberg(context: Context<PublishFlags>): Promise<void> {
  const [{ publishWarehouse }, { declaredTables }, { openDataFiles }] = await Promise.all([
    import('../../iceberg/publish-warehouse.ts'),
    import('../../iceberg/declared-tables.ts'),
    import('../../warehouse/index.ts'),
  ]);
  const { location, keep: keepMs, marts } = context.flags;
  const [warehouse, registry, accept] = [
    await context.warehouse(),
    await context.registry(),
    await context.networkCheck(),
  ];
  const catalog = await catalogOf(context.flags, async () => (await openDataFiles(warehouse)).network);
  const options = {
    warehouse,
    ...declaredTables(registry, warehouse, marts),
    location,
    keepMs,
    catalog,
    accept,
    onEvent: (event: PublishEvent) => context.print(event, describe),
  };
  const report = await context.line.during('publishing', () => publishWarehouse(options));
  if (report.skipped.length > 0) process.exitCode = 1;
}

function describe(event: PublishEvent): string {
  if (event.event === 'table') return describeTable(event);
  return describePublished(event);
}

/** Tables that did not change have no line. */
function describeTable({ table, outcome, files, rows, added, removed, restarted, problem }: TablePublished): string {
  if (outcome === 'unchanged') return '';
  if (outcome === 'skipped') return `${table}: skipped: ${problem}\n`;
  const again = restarted === undefined ? '' : `; its history begins anew: ${reasons[restarted]}`;
  const change = `+${formatCount(added)} -${formatCount(removed)}`;
  return `${table}: ${formatCount(files)} files (${change}), ${formatCount(rows)} rows${again}\n`;
}

const reasons: Readonly<Record<Restart, string>> = {
  moved: 'the warehouse was moved',
  replaced: 'the warehouse was replaced by another state',
  foreign: 'another program has written to it',
  damaged: 'its metadata was damaged',
  changed: 'a column has another type now',
};
