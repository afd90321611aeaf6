import { type DaySpan, isFullDay } from '../../chain/day-spans.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../core/format.ts';
import { hullOf, intersectSpans, type Span, shortSpans, spanSize, totalSize, unionSpans } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import { isEphemeral } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { doneSpans } from '../ledger/done-spans.ts';
import { entriesIn } from '../ledger/entries-in.ts';
import type { Reader } from '../reader.ts';
import type { LedgerEntry } from '../store.ts';
import {
  ALL_ROWS,
  behindOf,
  type Contents,
  type Coverage,
  coverage,
  describeParts,
  type LeftOutGap,
  type MartBehind,
  partOf,
  readContents,
  spansIn,
  tablesIn,
} from './coverage.ts';
import { readHeaderDays } from './header-days.ts';
import { allLeftOut, describeLeftOut } from './left-out-gaps.ts';
import { describeBehind } from './query-coverage.ts';
import { openWarehouse } from './warehouse-registry.ts';

/** Status of one pipeline: its coverage of the range of the warehouse, rows and files. */
export interface PipelineStatus extends Coverage {
  readonly pipeline: string;
  /** Number of masterchain blocks that are proven or unproven. */
  readonly blocks: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  readonly commits: number;
  /** Tables and columns that were left out, and where. */
  readonly leftOut: readonly LeftOutGap[];
  /** Coverage of each UTC day, by the headers in the warehouse. */
  readonly days: readonly DayCoverage[];
  /** ISO 8601, UTC. */
  readonly lastCommit: string | undefined;
}

/** Masterchain blocks of one UTC day. */
export interface DayCoverage extends DaySpan {
  readonly date: string;
  /** Number of its blocks that are proven or unproven. */
  readonly blocks: number;
}

/** Status of one mart in a warehouse. */
export interface MartStatus {
  readonly mart: string;
  readonly rows: number;
  /** Number of days built, if the mart is built day by day. */
  readonly days: number;
  /** Days, or `all`, for which its inputs miss rows. */
  readonly lacking: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601, UTC. */
  readonly lastCommit: string;
  /** Undefined if it is current. */
  readonly behind: MartBehind | undefined;
}

export interface NewestBlock {
  readonly seqno: number;
  /** ISO 8601, UTC; undefined if times were left out. */
  readonly time: string | undefined;
}

export interface WarehouseStatus {
  readonly network: string;
  readonly warehouse: string;
  readonly store: 'parquet' | 'duckdb';
  /** Newest masterchain block with proven headers; undefined without headers. */
  readonly newest: NewestBlock | undefined;
  /** Records in quarantine. */
  readonly quarantined: number;
  readonly pipelines: readonly PipelineStatus[];
  readonly marts: readonly MartStatus[];
}

/**
 * Reads the status of a warehouse.
 *
 * @param network if set, the warehouse must be of this network
 * @throws {StoreError}
 */
export async function readStatus(warehouse: string, network?: string): Promise<WarehouseStatus> {
  const { registry, reader } = await openWarehouse(warehouse, { network });
  try {
    return await statusIn(reader, registry);
  } finally {
    await reader.close();
  }
}

/** {@link readStatus} of an open warehouse. */
export async function statusIn(reader: Reader, registry: Registry): Promise<WarehouseStatus> {
  const contents = await readContents(reader, registry);
  const { ledger } = contents;
  const days = [...(await readHeaderDays(reader.query, ledger, registry))].map(([date, span]) => ({ date, ...span }));
  const walked = ledger.filter(({ mart }) => mart === undefined);
  return {
    network: reader.network,
    warehouse: reader.path,
    store: reader.kind,
    newest: await readNewest(reader, ledger, registry),
    quarantined: ledger.reduce((sum, entry) => sum + (entry.tables['quarantine']?.rows ?? 0), 0),
    pipelines: pipelinesIn(walked).map((name) => statusOf(contents, name, days)),
    marts: martsOf(contents),
  };
}

/** Pipelines with commits. */
function pipelinesIn(walked: readonly LedgerEntry[]): readonly string[] {
  return [...new Set(walked.map(({ pipeline }) => pipeline))].sort();
}

function martsOf(contents: Contents): readonly MartStatus[] {
  const built = contents.ledger.filter(({ mart }) => mart !== undefined);
  const names = [...tablesIn(built)].sort();
  return names.map((name) => {
    const entries = built.filter(({ tables }) => tables[name] !== undefined);
    const parts = entries.flatMap(({ tables }) => tables[name] ?? []);
    const files = parts.flatMap((part) => part.files);
    const open = entries.filter(({ mart }) => mart?.coverage === 'missing');
    return {
      mart: name,
      rows: parts.reduce((sum, { rows }) => sum + rows, 0),
      days: entries.filter(({ mart }) => mart?.day !== undefined).length,
      lacking: open.map(({ mart }) => mart?.day ?? ALL_ROWS).sort(),
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      lastCommit: entries.at(-1)?.committedAt ?? '',
      behind: behindOf(contents, name),
    };
  });
}

function statusOf(
  contents: Contents<Registry>,
  name: string,
  days: readonly (DaySpan & { readonly date: string })[],
): PipelineStatus {
  const { ledger, registry } = contents;
  const pipeline = registry.pipelines.find((each) => each.name === name);
  const entries = ledger.filter((entry) => entry.pipeline === name);
  const rows: Record<string, number> = {};
  const tables = entries.flatMap((entry) => Object.entries(entry.tables));
  for (const [table, entry] of tables) {
    if (table !== 'quarantine') rows[table] = (rows[table] ?? 0) + entry.rows;
  }
  const files = tables.flatMap(([, entry]) => entry.files);
  // Rows of a watch cover no blocks.
  const isOfBlocks = pipeline !== undefined && !isEphemeral(pipeline);
  const found = isOfBlocks ? coverage(contents, pipeline) : { proven: [], unproven: [], missing: [] };
  const stored = storedSpans(found);
  return {
    pipeline: name,
    ...found,
    blocks: totalSize(stored),
    rows,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    commits: entries.length,
    leftOut: allLeftOut(ledger, registry, pipeline?.tables.map((table) => table.name) ?? []),
    days: isOfBlocks ? days.map((day) => ({ ...day, blocks: totalSize(intersectSpans([day], stored)) })) : [],
    lastCommit: entries.at(-1)?.committedAt,
  };
}

/** Blocks that are proven or unproven. */
export function storedSpans({ proven, unproven }: Pick<Coverage, 'proven' | 'unproven'>): readonly Span[] {
  return unionSpans([...proven, ...spansIn(unproven)]);
}

async function readNewest(
  reader: Reader,
  ledger: readonly LedgerEntry[],
  registry: Registry,
): Promise<NewestBlock | undefined> {
  const headers = registry.playing('headers');
  const seqno = doneSpans(ledger, headers.pipeline.name).at(-1)?.to;
  if (seqno === undefined) return undefined;
  const entries = entriesIn(ledger, headers, [{ from: seqno, to: seqno }]);
  const select = `SELECT gen_utime FROM (${reader.select(headers.table, entries)}) WHERE seqno = $seqno AND workchain = -1`;
  const { rows } = await reader.query(select, { seqno });
  const utime = rows[0]?.[0] ?? null;
  return { seqno, time: utime === null ? undefined : new Date(Number(utime) * 1000).toISOString() };
}

/** `newest block 1199, 2026-05-01T12:00:00Z, 5 s ago`; nothing without headers. */
export function describeNewest({ newest }: WarehouseStatus, now = Date.now()): readonly string[] {
  if (newest === undefined) return [];
  if (newest.time === undefined) return [`newest block ${newest.seqno}`];
  const seconds = Math.max(0, Math.round((now - Date.parse(newest.time)) / 1000));
  return [`newest block ${newest.seqno}, ${newest.time.replace('.000', '')}, ${formatDuration(seconds)} ago`];
}

/** The status for people. */
export function formatStatus(status: WarehouseStatus): string {
  const lines = [`${status.network} in ${status.warehouse} (${status.store})`, ...describeNewest(status)];
  if (status.pipelines.length + status.marts.length === 0) lines.push('', 'nothing is committed yet');
  for (const pipeline of status.pipelines) {
    const rows = Object.entries(pipeline.rows).map(([table, count]) => `${formatCount(count)} ${table}`);
    lines.push('', pipeline.pipeline);
    const { proven, unproven, missing } = pipeline;
    if (proven.length + unproven.length + missing.length > 0) {
      lines.push(
        `  ${coverageLine(pipeline)}`,
        `  proven       ${shortSpans(proven)} (${counted(totalSize(proven), 'masterchain block')})`,
        `  unproven     ${unproven.length === 0 ? 'nothing' : describeParts(unproven)}`,
        `  missing      ${missing.length === 0 ? 'nothing' : describeParts(missing)}`,
      );
    }
    for (const gap of pipeline.leftOut) lines.push(`  left out     ${describeLeftOut(gap)}`);
    lines.push(`  rows         ${rows.join(', ')}`);
    if (status.store === 'parquet') {
      lines.push(`  files        ${formatCount(pipeline.files)} (${formatBytes(pipeline.bytes)})`);
    }
    if (pipeline.days.length > 1) {
      for (const day of pipeline.days) {
        const share = Math.floor((100 * day.blocks) / spanSize(day));
        const state = isFullDay(day) ? `${share} %` : `${counted(day.blocks, 'block')}, half a day`;
        lines.push(`  ${day.date}   ${day.from}:${day.to} ${state}`);
      }
    }
    lines.push(`  commits      ${formatCount(pipeline.commits)}, the last ${pipeline.lastCommit ?? 'never'}`);
  }
  if (status.marts.length > 0) lines.push('', 'marts');
  for (const { mart, rows, days, lacking, behind } of status.marts) {
    const parts = [counted(rows, 'row')];
    if (days > 0) parts.push(counted(days, 'day'));
    parts.push(behind === undefined ? 'current' : `stale, ${describeBehind(behind)}, since ${behind.since}`);
    if (lacking.length > 0) parts.push(`missing ${partOf(lacking)}`);
    lines.push(`  ${mart}: ${parts.join('; ')}`);
  }
  if (status.quarantined > 0) {
    const records = status.quarantined === 1 ? 'record' : 'records';
    lines.push(
      '',
      `${formatCount(status.quarantined)} ${records} in quarantine: ${suggest('sql', '"select * from quarantine"')}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

const MAP_CELLS = 60;

/** One line from the first to the last block: █ stored, ▒ partly stored, ! quarantined, · missing. */
function coverageLine({ proven, unproven, missing }: PipelineStatus): string {
  const stored = storedSpans({ proven, unproven });
  const { from, to } = hullOf([...stored, ...spansIn(missing)]) ?? { from: 0, to: 0 };
  const cells = Math.min(MAP_CELLS, to - from + 1);
  const width = (to - from + 1) / cells;
  const marks = Array.from({ length: cells }, (_, i) => {
    const cell = [{ from: from + Math.floor(i * width), to: from + Math.floor((i + 1) * width) - 1 }];
    if (intersectSpans(cell, spansIn(missing, 'quarantined')).length > 0) return '!';
    const size = totalSize(intersectSpans(cell, stored));
    return size === totalSize(cell) ? '█' : size > 0 ? '▒' : '·';
  });
  return `${from} ${marks.join('')} ${to}`;
}
