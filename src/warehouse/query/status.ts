import type { DaySpan } from '../../chain/day-spans.ts';
import { StoreError } from '../../core/errors.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../core/format.ts';
import {
  greatest,
  haveCommon,
  hullOf,
  intersectSpans,
  type Span,
  shortSpans,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../../core/span.ts';
import { isEphemeral, isFinal, proofOf } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { resolveNetwork } from '../../http/network.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import { dateIn } from '../file-layout.ts';
import { doneSpans, quarantinedSpans, spansOf, unprovenSpans } from '../ledger/done-spans.ts';
import { type ForgottenSpans, stillForgotten } from '../ledger/forgotten-spans.ts';
import { openReader } from '../open-store.ts';
import type { Reader } from '../reader.ts';
import type { LedgerEntry } from '../store.ts';
import { lastingRange } from './coverage-gaps.ts';
import { readHeaderDays } from './header-days.ts';
import { allLeftOut, describeLeftOut, type LeftOutGap } from './left-out-gaps.ts';
import { warehouseRegistry } from './warehouse-registry.ts';

/** Status of one pipeline in a warehouse. */
export interface PipelineStatus {
  readonly pipeline: string;
  readonly done: readonly Span[];
  /** Missing blocks between the first and the last one that the warehouse holds anything of, without those removed on purpose. */
  readonly holes: readonly Span[];
  /** Blocks removed on purpose and not exported again. */
  readonly forgotten: readonly Span[];
  readonly quarantined: readonly Span[];
  /** Part of `done` that was not compared with anything: it is what the source returned. */
  readonly unproven: readonly Span[];
  /** Part of `done` whose rows may still change: they were read near the head, and are read again by `run` and `follow`. */
  readonly notFinal: readonly Span[];
  /** Masterchain blocks that are done. */
  readonly blocks: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  readonly commits: number;
  /** Tables and columns that were left out, and where. */
  readonly leftOut: readonly LeftOutGap[];
  /** Sealed share of each UTC day, by the headers in the warehouse. */
  readonly days: readonly DayCoverage[];
  /** ISO 8601, UTC. */
  readonly lastCommit: string | undefined;
}

/** Masterchain blocks of one UTC day. */
export interface DayCoverage {
  readonly date: string;
  readonly from: number;
  readonly to: number;
  readonly sealed: number;
  /** True if the headers in the warehouse show where the day begins and ends. */
  readonly isWhole: boolean;
}

/** Status of one mart in a warehouse. */
export interface MartStatus {
  readonly mart: string;
  readonly rows: number;
  /** Number of days built, if the mart is built day by day. */
  readonly days: number;
  /** Days, or `all`, whose rows are not sealed or incomplete. */
  readonly marked: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601, UTC. */
  readonly lastCommit: string;
  /** Commits of what it reads that are not in it; undefined if it was built by an older tonlake. */
  readonly behind: MartBehind | undefined;
}

/** Commits that a mart lacks. */
export interface MartBehind {
  readonly commits: number;
  /** When the first of them was committed; undefined if there is none. */
  readonly since: string | undefined;
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
  /** Newest masterchain block with sealed headers; undefined without headers. */
  readonly newest: NewestBlock | undefined;
  /** Records in quarantine. */
  readonly quarantined: number;
  readonly pipelines: readonly PipelineStatus[];
  readonly marts: readonly MartStatus[];
}

/**
 * Reads what a warehouse holds.
 *
 * @param network when given, the warehouse must hold it
 * @throws {StoreError}
 */
export async function readStatus(warehouse: string, network?: string): Promise<WarehouseStatus> {
  const registry = await warehouseRegistry(warehouse);
  const reader = await openReader(warehouse, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, network);
    return await statusIn(reader, registry);
  } finally {
    await reader.close();
  }
}

/** As {@link readStatus}, of a warehouse that is open. */
export async function statusIn(reader: Reader, registry: Registry): Promise<WarehouseStatus> {
  const ledger = await reader.ledger();
  const days = [...(await readHeaderDays(reader.query, ledger, registry))].map(([date, span]) => ({ date, ...span }));
  const forgotten = stillForgotten(await reader.forgotten(), ledger);
  const walked = ledger.filter(({ mart }) => mart === undefined);
  const names = expectedPipelines(walked, registry);
  const range = lastingRange(ledger, registry);
  return {
    network: reader.network,
    warehouse: reader.path,
    store: reader.kind,
    newest: await readNewest(reader, ledger, registry, days),
    quarantined: ledger.reduce((sum, entry) => sum + (entry.tables['quarantine']?.rows ?? 0), 0),
    pipelines: names.map((name) => {
      const isWatched = registry.pipelines.some((pipeline) => pipeline.name === name && isEphemeral(pipeline));
      // Rows of a watch cover no blocks.
      const tables = registry.pipelines.find((pipeline) => pipeline.name === name)?.tables.map((table) => table.name);
      const leftOut = allLeftOut(ledger, registry, tables ?? []);
      if (isWatched) return { ...statusOf(ledger, name, { days: [], forgotten: [], range: [] }), leftOut };
      const isCounted = registry.pipelines.some((each) => each.name === name && proofOf(each) !== undefined);
      return {
        ...statusOf(ledger, name, { days, forgotten, range }),
        leftOut,
        unproven: unprovenSpans(ledger, name, isCounted),
        notFinal: notFinalSpans(ledger, registry, name),
      };
    }),
    marts: martsOf(ledger),
  };
}

/** Pipelines with commits. Headers alone are what a run leaves that ended before the first transactions: those are expected, too. */
function expectedPipelines(walked: readonly LedgerEntry[], registry: Registry): readonly string[] {
  const names = new Set(walked.map((entry) => entry.pipeline));
  const lasting = registry.lasting.filter((name) => names.has(name));
  const headers = registry.playing('headers').pipeline.name;
  if (lasting.length === 1 && lasting[0] === headers) names.add(registry.playing('counted').pipeline.name);
  return [...names].sort();
}

function martsOf(ledger: readonly LedgerEntry[]): readonly MartStatus[] {
  const built = ledger.filter(({ mart }) => mart !== undefined);
  const names = [...new Set(built.flatMap(({ tables }) => Object.keys(tables)))].sort();
  return names.map((name) => {
    const entries = built.filter(({ tables }) => tables[name] !== undefined);
    const parts = entries.flatMap(({ tables }) => tables[name] ?? []);
    const files = parts.flatMap((part) => part.files);
    const open = entries.filter(({ mart }) => mart?.sealed === false);
    return {
      mart: name,
      rows: parts.reduce((sum, { rows }) => sum + rows, 0),
      days: entries.filter(({ mart }) => mart?.day !== undefined).length,
      marked: open.map(({ mart }) => mart?.day ?? 'all').sort(),
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      lastCommit: entries.at(-1)?.committedAt ?? '',
      behind: behindOf(ledger, entries),
    };
  });
}

/** Compares each entry of what a mart reads with the build of its day. */
function behindOf(ledger: readonly LedgerEntry[], built: readonly LedgerEntry[]): MartBehind | undefined {
  const through = new Map<string | undefined, number>();
  for (const { mart } of built) {
    if (mart?.through === undefined) return undefined;
    through.set(mart.day, mart.through);
  }
  const newest = greatest(through.values());
  const isDaily = built.some(({ mart }) => mart?.day !== undefined);
  const reads = new Set(built.flatMap(({ mart }) => mart?.reads ?? []));
  const later = ledger.filter(({ number, tables }) => {
    const files = Object.entries(tables).flatMap(([name, table]) =>
      reads.has(name) && table.rows > 0 ? [table.files] : [],
    );
    // Files without a day, and rows without files, may be of any.
    const days = files.flatMap((each) => (each.length === 0 ? [undefined] : each.map(({ path }) => dateIn(path))));
    return days.some((day) => number > (through.get(day) ?? (isDaily && day !== undefined ? 0 : newest)));
  });
  return { commits: later.length, since: later[0]?.committedAt };
}

/** @throws {StoreError} `other-network` */
export function requireSameNetwork(path: string, held: string, asked: string | undefined): void {
  if (asked === undefined || resolveNetwork(asked).name === held) return;
  throw new StoreError(`store: warehouse ${path} holds ${held}, not ${resolveNetwork(asked).name}`, {
    code: 'other-network',
    hint: 'choose another --warehouse',
  });
}

/** Blocks of a list that were read so near to the head that its rows may have changed since. Snapshots are of their moment. */
function notFinalSpans(ledger: readonly LedgerEntry[], registry: Registry, name: string): readonly Span[] {
  const walk = registry.pipelines.find((each) => each.name === name)?.walk;
  if (walk === undefined || !('lookBack' in walk)) return [];
  return unionSpans(ledger.filter((entry) => entry.pipeline === name && !isFinal(walk, entry)).flatMap(spansOf));
}

interface StatusScope {
  readonly days: readonly (DaySpan & { readonly date: string })[];
  readonly forgotten: readonly ForgottenSpans[];
  /** Blocks that the pipeline is expected to have. */
  readonly range: readonly Span[];
}

function statusOf(
  ledger: readonly LedgerEntry[],
  pipeline: string,
  { days, forgotten: all, range }: StatusScope,
): Omit<PipelineStatus, 'leftOut'> {
  const entries = ledger.filter((entry) => entry.pipeline === pipeline);
  const done = doneSpans(ledger, pipeline);
  const quarantined = quarantinedSpans(ledger, pipeline);
  const forgotten = unionSpans(all.filter((each) => each.pipeline === pipeline).flatMap(({ spans }) => spans));
  const rows: Record<string, number> = {};
  const tables = entries.flatMap((entry) => Object.entries(entry.tables));
  for (const [table, entry] of tables) {
    if (table !== 'quarantine') rows[table] = (rows[table] ?? 0) + entry.rows;
  }
  const files = tables.flatMap(([, entry]) => entry.files);
  return {
    pipeline,
    done,
    holes: subtractSpans(range, [...done, ...quarantined, ...forgotten]),
    forgotten,
    quarantined,
    unproven: [],
    notFinal: [],
    blocks: totalSize(done),
    rows,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    commits: entries.length,
    days: days.map((day) => ({ ...day, sealed: totalSize(intersectSpans([day], done)) })),
    lastCommit: entries.at(-1)?.committedAt,
  };
}

async function readNewest(
  reader: Reader,
  ledger: readonly LedgerEntry[],
  registry: Registry,
  days: readonly (DaySpan & { readonly date: string })[],
): Promise<NewestBlock | undefined> {
  const { pipeline, table } = registry.playing('headers');
  const seqno = doneSpans(ledger, pipeline.name).at(-1)?.to;
  if (seqno === undefined) return undefined;
  // With the entry and the day, only files of both are opened.
  const entries = ledger.filter(
    (entry) => entry.pipeline === pipeline.name && haveCommon(spansOf(entry), [{ from: seqno, to: seqno }]),
  );
  const select = `SELECT gen_utime FROM (${reader.select(table, entries)}) WHERE seqno = $seqno AND workchain = -1`;
  const day = days.findLast(({ from, to }) => from <= seqno && seqno <= to)?.date;
  const ofDay =
    day === undefined ? [] : (await reader.query(`${select} AND block_date = DATE ${quoteText(day)}`, { seqno })).rows;
  const rows = ofDay.length > 0 ? ofDay : (await reader.query(select, { seqno })).rows;
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
    if (pipeline.done.length + pipeline.holes.length + pipeline.quarantined.length > 0) {
      lines.push(
        `  ${coverageLine(pipeline)}`,
        `  done         ${shortSpans(pipeline.done)} (${formatCount(pipeline.blocks)} masterchain blocks)`,
        `  holes        ${shortSpans(pipeline.holes)}`,
        ...(pipeline.forgotten.length === 0 ? [] : [`  forgotten    ${shortSpans(pipeline.forgotten)}`]),
        `  quarantined  ${shortSpans(pipeline.quarantined)}`,
        ...(pipeline.unproven.length === 0 ? [] : [`  only read    ${shortSpans(pipeline.unproven)}, not proven`]),
      );
    }
    if (pipeline.notFinal.length > 0) lines.push(`  not final    ${shortSpans(pipeline.notFinal)}, read again later`);
    for (const gap of pipeline.leftOut) lines.push(`  left out     ${describeLeftOut(gap)}`);
    lines.push(`  rows         ${rows.join(', ')}`);
    if (status.store === 'parquet') {
      lines.push(`  files        ${formatCount(pipeline.files)} (${formatBytes(pipeline.bytes)})`);
    }
    if (pipeline.days.length > 1) {
      for (const { date, from: first, to: last, sealed, isWhole } of pipeline.days) {
        const share = Math.floor((100 * sealed) / (last - first + 1));
        const state = isWhole ? `${share} % sealed` : `${counted(sealed, 'block')} sealed, not the full day`;
        lines.push(`  ${date}   ${first}:${last} ${state}`);
      }
    }
    lines.push(`  commits      ${formatCount(pipeline.commits)}, the last ${pipeline.lastCommit ?? 'never'}`);
  }
  if (status.marts.length > 0) lines.push('', 'marts');
  for (const { mart, rows, days, marked, behind } of status.marts) {
    const parts = [counted(rows, 'row')];
    if (days > 0) parts.push(counted(days, 'day'));
    if (marked.length > 0) parts.push(`not whole: ${marked.join(', ')}`);
    if (behind?.since !== undefined) {
      const commits = counted(behind.commits, 'commit');
      parts.push(`${commits} behind, since ${behind.since}`);
    }
    lines.push(`  ${mart}: ${parts.join('; ')}`);
  }
  if (status.quarantined > 0) {
    const records = status.quarantined === 1 ? 'record' : 'records';
    lines.push(
      '',
      `${formatCount(status.quarantined)} ${records} in quarantine: tonlake sql "select * from quarantine"`,
    );
  }
  return `${lines.join('\n')}\n`;
}

const MAP_CELLS = 60;

/** One line from the first to the last block: █ sealed, ▒ partly, ! quarantined, · missing. */
function coverageLine({ done, holes, quarantined }: PipelineStatus): string {
  const { from, to } = hullOf([...done, ...holes, ...quarantined]) ?? { from: 0, to: 0 };
  const cells = Math.min(MAP_CELLS, to - from + 1);
  const width = (to - from + 1) / cells;
  const marks = Array.from({ length: cells }, (_, i) => {
    const cell = [{ from: from + Math.floor(i * width), to: from + Math.floor((i + 1) * width) - 1 }];
    if (intersectSpans(cell, quarantined).length > 0) return '!';
    const sealed = totalSize(intersectSpans(cell, done));
    return sealed === totalSize(cell) ? '█' : sealed > 0 ? '▒' : '·';
  });
  return `${from} ${marks.join('')} ${to}`;
}
