import type { Registry } from '../declare/registry.ts';
import { type BuildOptions as BaseBuildOptions, buildMarts, type MartBuild } from '../marts/build-marts.ts';
import { type CheckOptions, type CheckReport, runChecks } from '../marts/run-checks.ts';
import { type RenderedReport, type RenderOptions, renderReport } from '../reports/render-report.ts';
import { explainRow } from '../show/explain-row.ts';
import type { ExplainedThing, Explanation } from '../show/explanation.ts';
import { showIn } from '../show/show-thing.ts';
import {
  type ExportOptions as BaseExportOptions,
  type ExportReport,
  exportRows as exportFrom,
} from '../targets/export-rows.ts';
import type { ExportSource } from '../targets/exported-rows.ts';
import { type ForgetOptions as BaseForgetOptions, type ForgetReport, forgetRange } from '../verify/forget.ts';
import { type RepairOptions, repairWarehouse } from '../verify/repair.ts';
import { type VerifyReport, verifyWarehouse } from '../verify/verify.ts';
import { readStatus, type WarehouseStatus } from '../warehouse/query/status.ts';
import { openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { type PlaceOptions, warehouseOf } from './place-options.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Contents and gaps of a warehouse, as `tonlake status`. @throws {StoreError} `no-warehouse` */
export function status(options: PlaceOptions = {}): Promise<WarehouseStatus> {
  return readStatus(warehouseOf(options), options.network);
}

export interface VerifyOptions extends Omit<RepairOptions, 'warehouse' | 'network' | 'effects'>, PlaceOptions {
  /** Fetches damaged rows again. Default false: it only reports. */
  readonly repair?: boolean | undefined;
}

/**
 * Proves a warehouse from its own files, as `tonlake verify`, and repairs it with `repair`.
 *
 * @throws {UsageError} for an invalid range; {StoreError} if there is no warehouse; {SourceError} if a repair cannot continue; or the
 *   reason of `signal`
 */
export async function verify(options: VerifyOptions = {}): Promise<VerifyReport> {
  const { repair = false, ...given } = options;
  const all = { ...given, warehouse: warehouseOf(options) };
  return unlessAborted(options.signal, () => (repair ? repairWarehouse(all) : verifyWarehouse(all)));
}

export type BuildOptions = Omit<BaseBuildOptions, 'effects' | 'damaged' | 'onStep' | 'network'> & PlaceOptions;

/**
 * Builds marts from the tables they read, as `tonlake build`. Each day or mart is a commit of its own.
 *
 * @throws {UsageError}; {MartError} if a select is wrong, with file and line; {StoreError}; or the reason of `signal`
 */
export function build(options: BuildOptions = {}): Promise<readonly MartBuild[]> {
  return buildMarts(warehouseOf(options), options);
}

export type TestOptions = Omit<CheckOptions, 'effects' | 'network'> & PlaceOptions;

/** Runs the checks of a warehouse, as `tonlake test`. @throws {UsageError}; {MartError} if a select is wrong */
export function test(options: TestOptions = {}): Promise<CheckReport> {
  return runChecks(warehouseOf(options), options);
}

export interface ShowOptions extends PlaceOptions {
  /** Adds the origin of the row: ledger entry, file, proof. Default false. */
  readonly why?: boolean | undefined;
  readonly registry?: Registry | undefined;
}

/**
 * Finds everything that a warehouse has about an account, transaction, message or block, as `tonlake show --json`.
 *
 * @param thing address, hash, seqno or `@name`, in any usual form
 * @throws {UsageError} `bad-request` for another word; {StoreError}
 */
export async function show(thing: string, options: ShowOptions = {}): Promise<ExplainedThing> {
  const { registry, network, why } = options;
  const warehouse = warehouseOf(options);
  const opened = await openWarehouse(warehouse, { registry, network, isPinned: true });
  try {
    return await showIn(opened, thing, { why });
  } finally {
    await opened.reader.close();
  }
}

/**
 * Explains the origin of rows, as `tonlake show TABLE KEY`.
 *
 * @param key values in the order of the key columns, or `column=value`
 * @throws {UsageError} `unknown-table`; {StoreError}
 */
export function showRow(
  table: string,
  key: readonly string[],
  options: Omit<ShowOptions, 'why'> = {},
): Promise<Explanation> {
  return explainRow(warehouseOf(options), table, key, options);
}

export type ReportOptions = Omit<RenderOptions, 'network'> & PlaceOptions;

/**
 * Renders a report, as `tonlake report`, and writes nothing.
 *
 * @param name of a shipped report, or path of a folder with a `report.md`, or of a `.md` file
 * @throws {UsageError} for a wrong name, parameter or time zone; {ReportError} with file and line; {StoreError}
 */
export function report(name: string, options: ReportOptions = {}): Promise<RenderedReport> {
  return renderReport(warehouseOf(options), name, options);
}

export type ExportOptions = Omit<BaseExportOptions, 'network' | 'effects' | 'daysIfDated'> & PlaceOptions;

/**
 * Writes the rows of a table, mart or query to a file or database, as `tonlake export`.
 *
 * @param to path that ends in .csv, .json, .jsonl, .parquet, .arrow, .xlsx or .sqlite, or the URL of a PostgreSQL or ClickHouse database
 * @throws {UsageError} for a wrong target or option, or one that the target has no use for; {AuditError} `missing` with `strict`;
 *   {StoreError}
 */
export function exportRows(source: ExportSource, to: string, options: ExportOptions = {}): Promise<ExportReport> {
  return exportFrom(warehouseOf(options), source, to, options);
}

export type ForgetOptions = Omit<BaseForgetOptions, 'warehouse' | 'network' | 'effects' | 'onStep'> & PlaceOptions;

/**
 * Removes the rows of some blocks in one commit, as `tonlake forget --yes`.
 *
 * @throws {UsageError} if other rows need them; {StoreError} if the rows are not those that were committed; nothing is changed then
 */
export function forget(options: ForgetOptions): Promise<ForgetReport> {
  return forgetRange({ ...options, warehouse: warehouseOf(options) });
}
