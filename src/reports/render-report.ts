import { DuckDBTimestampValue } from '@duckdb/node-api';
import { requireSoundAddress } from '../core/address.ts';
import { requireZone } from '../core/time-zone.ts';
import type { Registry } from '../declare/registry.ts';
import type { Reader } from '../warehouse/index.ts';
import { interruptible } from '../warehouse/query/interruptible.ts';
import { QueryCoverage } from '../warehouse/query/query-coverage.ts';
import { openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { type BoundParams, bindParams } from './bind-params.ts';
import { evaluateBlocks } from './evaluate-blocks.ts';
import { openReport } from './find-report.ts';
import { fullTitle, readHeading } from './heading.ts';
import { readProvenance } from './provenance.ts';
import type { Report } from './report.ts';
import type { ReportDef } from './report-definition.ts';
import type { ReportFormat } from './report-format.ts';
import { addRelations } from './report-relations.ts';

export interface RenderOptions {
  /** Parameter values by name; they are bound, never inserted into SQL. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Default `html`. */
  readonly format?: ReportFormat | undefined;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** IANA time zone for days and hours. Default `UTC`. */
  readonly timezone?: string | undefined;
  /** Default: the current time. */
  readonly now?: Date | undefined;
  /** DuckDB's memory limit in megabytes. Default: that of readers. */
  readonly memoryMb?: number | undefined;
  /** An abort ends the query that runs, and it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A rendered report. */
export interface RenderedReport {
  readonly name: string;
  /** With the subject: `One account: EQC...`. */
  readonly title: string;
  readonly format: ReportFormat;
  readonly content: string;
  /** Gaps in the data, one sentence each; shown in red. */
  readonly gaps: readonly string[];
  /** True if no block has rows. */
  readonly isEmpty: boolean;
}

/**
 * Renders a report from the current data of a warehouse; writes nothing.
 *
 * @param warehouse folder of Parquet files, or a DuckDB file
 * @param report name of a shipped report, or path of a folder with a `report.md`, or of a `.md` file
 * @throws {UsageError} `unknown-report`; for a wrong report, with file and line; for wrong parameters and time zones
 * @throws {ReportError} if a select fails, with file and line, or has too many rows
 * @throws {StoreError} if there is no warehouse, or it is of another network
 */
export async function renderReport(
  warehouse: string,
  report: string,
  options: RenderOptions = {},
): Promise<RenderedReport> {
  const { timezone = 'UTC', signal = new AbortController().signal } = options;
  requireZone(timezone);
  const def = await openReport(report);
  const params = bindParams(def, options.params ?? {});
  const { registry, reader } = await openWarehouse(warehouse, { network: options.network, isPinned: true });
  const coverage = new QueryCoverage(reader, registry);
  try {
    for (const text of params.addresses) requireSoundAddress(text, reader.network);
    if (options.memoryMb !== undefined) await reader.query(`SET memory_limit = '${options.memoryMb}MB'`);
    return await interruptible(reader, signal, () =>
      renderIn({ reader, coverage, registry, warehouse }, def, params, options),
    );
  } finally {
    await coverage.close();
    await reader.close();
  }
}

interface Opened {
  readonly reader: Reader;
  readonly coverage: QueryCoverage;
  readonly registry: Registry;
  /** As the user named it. */
  readonly warehouse: string;
}

/** Renders a report in an open warehouse. */
async function renderIn(
  { reader, coverage, registry, warehouse }: Opened,
  def: ReportDef,
  params: BoundParams,
  { format = 'html', timezone = 'UTC', now = new Date() }: RenderOptions,
): Promise<RenderedReport> {
  const contents = await coverage.contents();
  await addRelations(reader.query, contents, timezone);
  await addRelations((await coverage.empty()).query, contents, timezone, true);
  const values = { ...params.values, timezone, now: new DuckDBTimestampValue(BigInt(now.getTime()) * 1000n) };
  const taken = registry.tables.map(({ name }) => name);
  const optional = def.front.optional ?? [];
  const built = await reader.marts();
  const { results, unbuilt, relations, scans } = await evaluateBlocks({ query: reader.query, coverage }, def, {
    values,
    taken,
    absent: optional.filter(
      (name) => registry.tableOf(name) === undefined && !built.some((mart) => mart.name === name),
    ),
  });
  const provenance = await readProvenance({ reader, coverage, relations, scans, optional, timezone, now });
  const { query, network } = reader;
  const heading = await readHeading({ def, texts: params.texts, query, network, warehouse });
  const full: Report = { def, heading, params: params.texts, results, unbuilt, provenance };
  return {
    name: def.name,
    title: fullTitle(heading),
    format,
    gaps: provenance.gaps,
    content: await contentOf(full, format),
    isEmpty: [...results.values()].every(({ rows }) => rows.length === 0),
  };
}

async function contentOf(report: Report, format: ReportFormat): Promise<string> {
  switch (format) {
    case 'html':
      return (await import('./html/html-page.ts')).htmlPage(report);
    case 'md':
      return (await import('./markdown.ts')).markdownText(report);
    case 'csv':
      return (await import('./csv-and-json.ts')).csvText(report);
    case 'json':
      return (await import('./csv-and-json.ts')).jsonText(report);
    case 'text':
      return (await import('./plain-text.ts')).plainText(report);
  }
}
