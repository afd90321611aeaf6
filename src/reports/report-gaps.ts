import { formatCount } from '../core/format.ts';
import { hullOf } from '../core/span.ts';
import { WHOLE } from '../declare/left-out.ts';
import type { Registry } from '../declare/registry.ts';
import type { Query } from '../sql/query-result.ts';
import { type LedgerEntry, type Reader, stillForgotten } from '../warehouse/index.ts';
import {
  absentTables,
  type CoverageGap,
  coverageGaps,
  describeGap,
  martGaps,
  periodGaps,
  type ReadPart,
} from '../warehouse/query/coverage-gaps.ts';
import { describeLeftOut, type LeftOutGap, leftOutGaps, type Reads } from '../warehouse/query/left-out-gaps.ts';
import { exportedEntries, walkedPipelines } from './report-relations.ts';

export interface GapOptions {
  readonly reader: Reader;
  readonly registry: Registry;
  /** Tables and marts that the report reads. */
  readonly relations: readonly string[];
  /** Columns of tables that it reads. */
  readonly reads: Reads;
  /** The parts of them that its selects read. */
  readonly parts: readonly ReadPart[];
  /** Tables that may be missing. */
  readonly optional: readonly string[];
  /** True if it reads the ledger, and so describes every table. */
  readonly isOfLedger: boolean;
}

/** Gaps in the data of a report, one sentence each. */
export async function findGaps(options: GapOptions, held: readonly LedgerEntry[]): Promise<readonly string[]> {
  const { reader, registry, relations, reads, optional, isOfLedger } = options;
  const isOptional = ({ table, columns }: LeftOutGap): boolean => columns.includes(WHOLE) && optional.includes(table);
  const ledger = exportedEntries(held, registry);
  const asked = askedTables(options, ledger);
  const parts = options.parts.filter(({ relation }) => asked.includes(registry.tableOf(relation)?.name ?? relation));
  const limited = parts
    .filter(({ periods }) => periods !== undefined)
    .map(({ relation }) => registry.tableOf(relation)?.name);
  const unlimited = parts
    .filter(({ periods }) => periods === undefined)
    .map(({ relation }) => registry.tableOf(relation)?.name);
  const whole = asked.filter((name) => isOfLedger || unlimited.includes(name) || !limited.includes(name));
  const told: string[] = [];
  const forgotten = stillForgotten(await reader.forgotten(), held);
  for (const gap of coverageGaps(ledger, registry, whole)) {
    told.push(`${describeGap(gap, forgotten)}${await timesOf(reader.query, gap)}`);
  }
  told.push(...(await periodGaps(reader.query, ledger, registry, parts)).map((gap) => describeGap(gap, forgotten)));
  const records = isOfLedger || relations.includes('quarantine') ? quarantinedRecords(ledger) : 0;
  const quarantine = `${formatCount(records)} records are in quarantine because they could not be decoded`;
  return [
    ...absentTables(
      ledger,
      registry,
      relations.filter((name) => !optional.includes(name)),
      forgotten,
    ),
    ...told,
    ...leftOutGaps(ledger, registry, reads)
      .filter((gap) => !isOptional(gap))
      .map(describeLeftOut),
    ...(records === 0 ? [] : [quarantine]),
    ...martGaps(held, options.parts),
  ];
}

/** Tables whose gaps matter. Of optional tables, only those with a history count, not those of readings. */
function askedTables({ registry, relations, optional, isOfLedger }: GapOptions, ledger: readonly LedgerEntry[]) {
  const walked = walkedPipelines(ledger);
  return registry.pipelines
    .filter(({ name }) => walked.includes(name))
    .flatMap(({ tables, walk }) =>
      tables.map(({ name }) => ({ name, isReading: ['snapshot', 'lookup'].includes(walk.kind) })),
    )
    .filter(
      ({ name, isReading }) => isOfLedger || (relations.includes(name) && !(isReading && optional.includes(name))),
    )
    .map(({ name }) => name);
}

/** `, between 2026-05-01 23:34:39 and 2026-05-01 23:35:20`: the times of the known blocks around a gap, in the zone of the report. */
async function timesOf(query: Query, { missing, quarantined }: CoverageGap): Promise<string> {
  const { rows } = await query(
    `SELECT max(local_time(block_time)) FILTER (mc_block_seqno < $from)::VARCHAR,
      min(local_time(block_time)) FILTER (mc_block_seqno > $to)::VARCHAR FROM _headers WHERE workchain = -1`,
    { ...hullOf([...missing, ...quarantined]) },
  );
  const [after, before] = (rows[0] ?? []).map((time) => (time === null ? undefined : String(time)));
  if (after === undefined) return before === undefined ? '' : `, before ${before}`;
  return before === undefined ? `, after ${after}` : `, between ${after} and ${before}`;
}

function quarantinedRecords(ledger: readonly LedgerEntry[]): number {
  return ledger.reduce((sum, { tables }) => sum + (tables['quarantine']?.rows ?? 0), 0);
}
