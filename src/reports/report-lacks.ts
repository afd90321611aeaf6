import { formatCount } from '../core/format.ts';
import type { Registry } from '../declare/registry.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { type Contents, feeding } from '../warehouse/query/coverage.ts';
import type { QueryCoverage } from '../warehouse/query/query-coverage.ts';
import type { Scan } from '../warehouse/query/scans.ts';

export interface LackOptions {
  readonly coverage: QueryCoverage;
  /** What its selects read. */
  readonly scans: readonly Scan[];
  /** Tables and marts that may be missing. */
  readonly optional: readonly string[];
  /** True if it reads the ledger, and so describes every table. */
  readonly isOfLedger: boolean;
}

/** What the data of a report lack, one sentence each. */
export async function lacksOfReport({
  coverage,
  scans,
  optional,
  isOfLedger,
}: LackOptions): Promise<readonly string[]> {
  const contents = await coverage.contents();
  const tables = isOfLedger ? exportedTables(contents) : [];
  const all = tables.map((relation): Scan => ({ relation, columns: new Set<string>(), periods: undefined }));
  const read = scans.filter(({ relation }) => !mayLack(contents, relation, optional));
  const reads = new Set(scans.map(({ relation }) => relation));
  const records = isOfLedger || reads.has('quarantine') ? quarantinedRecords(contents.ledger) : 0;
  return [
    ...(await coverage.lacksOf([...read, ...all])),
    ...(records === 0 ? [] : [`${formatCount(records)} records are in quarantine because they could not be decoded`]),
  ];
}

/** Of optional relations, marts and tables with a history count, not those of readings; and not where they are missing altogether. */
function mayLack({ registry, ledger }: Contents<Registry>, relation: string, optional: readonly string[]): boolean {
  const pipeline = feeding(registry, relation);
  if (!optional.includes(registry.tableOf(relation)?.name ?? relation)) return false;
  if (pipeline !== undefined && ['snapshot', 'lookup'].includes(pipeline.walk.kind)) return true;
  return ledger.every(({ tables }) => tables[relation] === undefined);
}

function exportedTables({ registry, ledger }: Contents): readonly string[] {
  return registry.pipelines
    .filter(({ name }) => ledger.some(({ pipeline }) => pipeline === name))
    .flatMap(({ tables }) => tables.map(({ name }) => name));
}

function quarantinedRecords(ledger: readonly LedgerEntry[]): number {
  return ledger.reduce((sum, { tables }) => sum + (tables['quarantine']?.rows ?? 0), 0);
}
