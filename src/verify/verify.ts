import PQueue from 'p-queue';
import { type ContentHash, contentHash } from '../audit/content-hash.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { isOutOfMemory, rethrowAccessError, StoreError, shortMessage } from '../core/errors.ts';
import { greatest, haveCommon, type Span, subtractSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { isProving } from '../declare/cross-check.ts';
import { isEphemeral, isMasterchain } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { trimGrownProcess } from '../sql/freed-memory.ts';
import { type DamagedStore, doneSpans, type LedgerEntry, type ProvenLedger, spansOf } from '../warehouse/index.ts';
import { coverage, type UnprovenBlocks } from '../warehouse/query/coverage.ts';
import { sharedBlocks } from '../warehouse/query/double-entries.ts';
import { requireSameNetwork, warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { auditDeclarations, type BrokenDeclaration, findingOf } from './audit-declarations.ts';
import { auditRows, type Edges, type Unchecked } from './audit-rows.ts';
import { setView } from './audit-scope.ts';
import { boundColumn } from './bound-column.ts';
import { withDamagedStore } from './damaged-warehouse.ts';
import { type EntryState, readEntryStates } from './entry-state.ts';
import type { Finding } from './finding.ts';
import { isOfBlocks, limitTo } from './limit-range.ts';
import { findLost } from './lost-entries.ts';

export interface VerifyOptions {
  /** Folder of Parquet files, or a DuckDB file. */
  readonly warehouse: string;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** Masterchain blocks to verify, as for `run`; open ends and days are those of the warehouse. Default: all exported blocks. */
  readonly range?: string | undefined;
  /**
   * The state that an earlier verification has proven: only later commits are verified, with the other rows of the same blocks. Default:
   * everything is verified.
   */
  readonly since?: ProvenLedger | undefined;
  /** Also verify the chain of every account and both ends of every internal message. */
  readonly deep?: boolean | undefined;
  /** Also compute the content hash of every table over the range, to compare warehouses. */
  readonly content?: boolean | undefined;
  /** DuckDB's memory limit in megabytes; more data is spilled to the temporary folder. Default 256, and up to 2,000 for audits that need more. */
  readonly memoryMb?: number | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** When aborted, rejects with the reason of the signal after the present batch of entries. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each finding as soon as it is known, and for each repair. */
  readonly onEvent?: ((event: VerifyEvent) => void) | undefined;
}

export type VerifyEvent =
  | ({ readonly event: 'finding' } & Finding)
  | {
      readonly event: 'repaired';
      readonly pipeline: string;
      readonly span: Span;
      /** Masterchain blocks that were fetched again. */
      readonly refetched: readonly Span[];
      readonly requests: number;
    }
  | VerifyReport;

/** Result of a verification; also the last line of `--json`. */
export interface VerifyReport {
  readonly event: 'verified';
  readonly network: string;
  readonly warehouse: string;
  /** Number of the newest entry of the ledger; 0 if there is none. */
  readonly entry: number;
  /** Hash of the entries in force. */
  readonly ledger: string;
  /** True if there are no findings. */
  readonly proven: boolean;
  readonly findings: number;
  /** Verified spans, by pipeline; without those of rows whose keys the user gave, and of pending data, which is a prediction. */
  readonly spans: Readonly<Record<string, readonly Span[]>>;
  /** Unproven blocks, as in `status`, without lists that this verification has proven. */
  readonly unproven: UnprovenBlocks;
  readonly entries: number;
  readonly files: number;
  readonly edges: Edges;
  /** Audits that were not possible, because a selection left out columns that they read. */
  readonly unchecked: readonly Unchecked[];
  readonly content?: Readonly<Record<string, ContentHash>> | undefined;
  /** Requests that a repair made. */
  readonly requests?: number | undefined;
  readonly seconds: number;
}

/** Result of a verification, with the facts that a repair needs. */
export interface Inspection {
  readonly report: VerifyReport;
  readonly findings: readonly Finding[];
  readonly states: readonly EntryState[];
  readonly declarations: readonly BrokenDeclaration[];
  readonly warehouse: DamagedStore;
}

/**
 * Verifies a warehouse from its own files, without network access.
 *
 * @throws {UsageError} for an invalid range
 * @throws {StoreError} if there is no warehouse, or a DuckDB file is being written; `out-of-memory`
 */
export async function verifyWarehouse(options: VerifyOptions): Promise<VerifyReport> {
  const report = await inspectWarehouse(options, async (inspection) => inspection.report);
  options.onEvent?.(report);
  return report;
}

/** DuckDB's memory limit unless a user sets one, in megabytes. Audits that need more get up to 2 GB. */
const MEMORY_MB = 256;

/** Like `verifyWarehouse`, but calls `use` with the result while the warehouse is still open. */
export async function inspectWarehouse<T>(
  options: VerifyOptions,
  use: (inspection: Inspection) => Promise<T>,
): Promise<T> {
  const { effects = realEffects } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry, () => {});
  const startedAt = effects.monotonic();
  const { warehouse: path, memoryMb = MEMORY_MB, range } = options;
  const isWidened = options.memoryMb === undefined;
  const proven = range === undefined ? options.since : undefined;
  const inspect = async (warehouse: DamagedStore): Promise<T> => {
    requireSameNetwork(warehouse.path, warehouse.network, options.network);
    const findings: Finding[] = [];
    const report = (finding: Finding): void => {
      findings.push(finding);
      options.onEvent?.({ event: 'finding', ...finding });
    };
    const declarations = await auditDeclarations(warehouse, registry);
    const broken = declarations.map(findingOf);
    for (const finding of [...warehouse.faults, ...broken, ...(await findLost(warehouse, registry))]) report(finding);
    // Blocks are forgotten by the last entry of a commit, which is never in force, but puts the others in force.
    const newest = greatest(
      [...warehouse.entries, ...warehouse.forgotten].map(({ number }) => number),
      0,
    );
    // A ledger that is shorter than before belongs to another warehouse.
    const since = proven === undefined || proven.entry > newest ? 0 : proven.entry;
    const limits = await limitTo(warehouse, registry, { range, since }, report);
    const isChosen = (entry: LedgerEntry): boolean =>
      haveCommon(spansOf(entry), limits) || (range === undefined && !isOfBlocks(entry) && entry.number > since);
    const chosen = warehouse.entries.filter(isChosen);
    for (const finding of findOverlaps(registry, chosen)) report(finding);
    const states = await readStates(warehouse, registry, chosen, report, options.signal);
    const { edges, compared, unchecked } = await auditRows({
      warehouse,
      registry,
      states,
      limits,
      isDeep: options.deep === true,
      isWidened,
      report,
    });
    const files = chosen.flatMap(({ tables }) => Object.values(tables)).flatMap((table) => table.files);
    const content = options.content === true ? await hashContent(warehouse, registry, limits, range) : undefined;
    return use({
      warehouse,
      states,
      declarations,
      findings,
      report: {
        event: 'verified',
        network: warehouse.network,
        warehouse: warehouse.path,
        entry: newest,
        ledger: warehouse.digest,
        proven: findings.length === 0,
        findings: findings.length,
        spans: doneByPipeline(chosen, registry),
        unproven: unprovenByPipeline(chosen, registry, compared),
        entries: chosen.length,
        files: files.length,
        edges,
        unchecked,
        ...(content === undefined ? {} : { content }),
        seconds: Math.round(effects.monotonic() - startedAt) / 1000,
      },
    });
  };
  return withDamagedStore({ path, registry, effects, memoryMb, proven }, inspect).catch((error: unknown) => {
    throw isOutOfMemory(error) ? outOfMemory(path, error, isWidened ? 4096 : memoryMb * 4) : error;
  });
}

function outOfMemory(warehouse: string, error: unknown, enoughMb: number): StoreError {
  const more = suggest('verify', `--memory ${enoughMb}`, { warehouse });
  return new StoreError(`store ${warehouse}: expected enough memory to compare its rows, got ${shortMessage(error)}`, {
    ...{ code: 'out-of-memory', hint: `${more} allows more; --range verifies a part of it`, cause: error },
  });
}

/** Number of batches to read concurrently, because one query over small files does not use two cores. */
const READERS = 2;

/** Maximum size of a batch of entries that is read with one statement per table. */
const BATCH = { entries: 250, rows: 200_000 };

async function readStates(
  warehouse: DamagedStore,
  registry: Registry,
  entries: readonly LedgerEntry[],
  report: (finding: Finding) => void,
  signal: AbortSignal | undefined,
): Promise<readonly EntryState[]> {
  const idle = await Promise.all(Array.from({ length: READERS }, () => warehouse.database.connect()));
  const turns = new PQueue({ concurrency: READERS });
  try {
    const read = await turns.addAll(
      batchesOf(entries).map((batch) => async () => {
        signal?.throwIfAborted();
        await trimGrownProcess();
        const database = idle.pop() ?? warehouse.database;
        const findings: Finding[] = [];
        const states = await readEntryStates({ ...warehouse, database }, registry, batch, (each) =>
          findings.push(each),
        );
        idle.push(database);
        return { states, findings };
      }),
    );
    for (const { findings } of read) for (const finding of findings) report(finding);
    return read.flatMap(({ states }) => states);
  } finally {
    for (const database of idle) database.disconnect();
  }
}

function batchesOf(entries: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const batches: LedgerEntry[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const own = Object.values(entry.tables).reduce((sum, table) => sum + table.rows, 0);
    const last = batches.at(-1);
    if (last === undefined || last.length >= BATCH.entries || rows + own > BATCH.rows) {
      batches.push([entry]);
      rows = own;
    } else {
      last.push(entry);
      rows += own;
    }
  }
  return batches;
}

/** Rows of a watch cover no blocks. */
function doneByPipeline(
  entries: readonly LedgerEntry[],
  registry: Registry,
): Readonly<Record<string, readonly Span[]>> {
  const watched = new Set(registry.pipelines.filter(isEphemeral).map(({ name }) => name));
  const names = [...new Set(entries.map(({ pipeline }) => pipeline))].filter((name) => !watched.has(name));
  const done = names.map((name) => [name, doneSpans(entries, name)] as const);
  return Object.fromEntries(done.filter(([, spans]) => spans.length > 0));
}

/** Unproven blocks by pipeline, without those of lists that this verification has compared. */
function unprovenByPipeline(
  entries: readonly LedgerEntry[],
  registry: Registry,
  compared: ReadonlyMap<string, readonly Span[]>,
): UnprovenBlocks {
  const contents = { registry, ledger: entries, forgotten: [] };
  const lasting = registry.pipelines.filter((pipeline) => !isEphemeral(pipeline));
  const found = lasting.map((pipeline) => {
    const { name, crossCheck } = pipeline;
    const now = crossCheck === undefined || !isProving(crossCheck) ? [] : (compared.get(name) ?? []);
    const parts = coverage(contents, pipeline).unproven.map(({ why, spans }) => ({
      why,
      spans: why === 'compared with nothing' ? subtractSpans(spans, now) : spans,
    }));
    return [name, parts.filter(({ spans }) => spans.length > 0)] as const;
  });
  return Object.fromEntries(found.filter(([, parts]) => parts.length > 0));
}

/** Entries in force of a pipeline must not share blocks, because their rows would be duplicated. Lists may be fetched repeatedly. */
function findOverlaps(registry: Registry, entries: readonly LedgerEntry[]): readonly Finding[] {
  return registry.pipelines.filter(isMasterchain).flatMap(({ name }) =>
    sharedBlocks(entries.filter(({ pipeline }) => pipeline === name)).map(({ span, entries: [before, entry] }) => ({
      ...{ kind: 'overlap', pipeline: name, span, entry: entry.number },
      expected: 'each block in one entry in force',
      got: `entries ${before.number} and ${entry.number}`,
    })),
  );
}

async function hashContent(
  warehouse: DamagedStore,
  registry: Registry,
  limits: readonly Span[],
  range: string | undefined,
): Promise<Readonly<Record<string, ContentHash>>> {
  const hashes: Record<string, ContentHash> = {};
  for (const table of registry.tables) {
    if (table.name === 'quarantine') continue;
    const entries = warehouse.entries.filter(({ tables }) => tables[table.name] !== undefined);
    if (entries.length === 0) continue;
    const column = boundColumn(registry, table);
    // A list has no part that corresponds to a range.
    if (column === undefined && range !== undefined) continue;
    const parts = limits.map(({ from, to }) => `${column ?? ''} BETWEEN ${from} AND ${to}`);
    const where = column === undefined ? 'true' : parts.join(' OR ');
    try {
      await setView(warehouse, table, entries);
      hashes[table.name] = await contentHash(warehouse.database.query, table, where === '' ? 'false' : where);
    } catch (error) {
      rethrowAccessError(error);
      // Unreadable tables are findings already, and have no hash.
    }
  }
  return hashes;
}
