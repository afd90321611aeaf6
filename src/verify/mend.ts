import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import type { Span } from '../span.ts';
import { intersectSpans, subtractSpans, totalSize, unionSpans } from '../span.ts';
import { quoteName, quoteText } from '../store/canonical.ts';
import { schemaOf } from '../store/schema.ts';
import type { StagedSpan, Store } from '../store/store.ts';
import { storeSink } from '../walk/blocks.ts';
import { collectParts, type StagedPart } from '../walk/collect.ts';
import type { WalkContext } from '../walk/context.ts';
import { walk } from '../walk/walk.ts';
import type { Damage } from './damage.ts';
import { type Held, seqnoColumn } from './held.ts';
import { projectionOf } from './rows.ts';
import { describeEvidence } from './state.ts';

export interface MendOptions {
  readonly store: Store;
  readonly held: Held;
  /** A walk of the damaged pipeline; its sink is replaced. */
  readonly context: WalkContext;
  readonly freshId: () => string;
}

/** What became of damaged entries. */
export interface Mended {
  readonly refetched: readonly Span[];
  readonly failed: readonly Span[];
  readonly isChanged: boolean;
}

/**
 * Puts a new entry in the place of damaged ones: sound rows are copied from their files, the others asked for again.
 *
 * @returns what was asked for again, and what of it could not be had; where nothing could be committed, nothing is changed
 */
export async function mend(options: MendOptions, damage: Damage): Promise<Mended> {
  const fetched = await fetchAgain(options, damage.refetch);
  const failed = failedOf(damage.refetch, fetched);
  const good = subtractSpans([damage.span], failed);
  const staged = await stageAll(options, damage, good, damage.refetch, fetched);
  const isDoubted = damage.doubted.size + damage.recompute.size > 0;
  if (isDoubted && (failed.length > 0 || !isBelieved(damage, staged[0]))) {
    const rest = subtractSpans([damage.span], damage.refetch);
    const whole = { ...damage, refetch: [damage.span], recompute: new Set<string>(), doubted: new Set<string>() };
    const more = [...fetched, ...(await fetchAgain(options, rest))];
    const missing = failedOf([damage.span], more);
    const found = subtractSpans([damage.span], missing);
    const isChanged = await commitAll(
      options,
      damage,
      found,
      await stageAll(options, whole, found, [damage.span], more),
      more,
    );
    return { refetched: [damage.span], failed: missing, isChanged };
  }
  return { refetched: damage.refetch, failed, isChanged: await commitAll(options, damage, good, staged, fetched) };
}

async function fetchAgain({ store, context }: MendOptions, spans: readonly Span[]): Promise<readonly StagedPart[]> {
  if (spans.length === 0) return [];
  const { sink, parts } = collectParts({ ...storeSink(store), ledger: () => [] });
  for (const { span, error } of await walk({ ...context, sink }, spans)) {
    const { code, message } = error;
    context.report({ event: 'problem', pipeline: context.pipeline.name, ...span, code, message });
  }
  return parts;
}

function failedOf(asked: readonly Span[], fetched: readonly StagedPart[]): readonly Span[] {
  const had = fetched.filter(({ draft }) => draft.verdict === 'sealed').map(({ draft }) => draft.span);
  return subtractSpans(asked, unionSpans(had));
}

/** Stages the rows of each given span: copies of what is sound, and what was fetched. */
async function stageAll(
  options: MendOptions,
  damage: Damage,
  spans: readonly Span[],
  refetched: readonly Span[],
  fetched: readonly StagedPart[],
): Promise<readonly StagedSpan[]> {
  const { store, freshId } = options;
  const staged: StagedSpan[] = [];
  for (const span of spans) {
    const stage = store.stage(damage.pipeline.name, span);
    const folder = join(store.staging.stagingPath, `mend-${freshId()}`);
    await mkdir(folder, { recursive: true });
    const kept = subtractSpans([span], refetched);
    for (const table of damage.pipeline.tables) {
      if (totalSize(kept) > 0) {
        const path = join(folder, `${table.name}.parquet`);
        await store.query(`COPY (${soundRows(options, damage, table, kept)}) TO ${quoteText(path)}
          (FORMAT parquet, COMPRESSION uncompressed)`);
        await stage.adopt(table, path);
      }
      for (const { staged: part, draft } of fetched) {
        if (draft.verdict !== 'sealed' || intersectSpans([draft.span], [span]).length === 0) continue;
        for (const [at, { stagedPath }] of (part.tables[table.name]?.files ?? []).entries()) {
          const path = join(folder, `${table.name}-${part.id}-${at}.parquet`);
          await store.query(`COPY (SELECT ${columnsOf(table)} FROM read_parquet(${quoteText(stagedPath)}, hive_partitioning = false))
            TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
          await stage.adopt(table, path);
        }
      }
    }
    staged.push(await stage.finish());
  }
  return staged;
}

function columnsOf(table: TableDef): string {
  return schemaOf(table)
    .columns.map(({ name }) => quoteName(name))
    .join(', ');
}

function soundRows({ store, held }: MendOptions, damage: Damage, table: TableDef, kept: readonly Span[]): string {
  const within = kept.map(({ from, to }) => `${quoteName(seqnoColumn(table))} BETWEEN ${from} AND ${to}`).join(' OR ');
  const rowsOf = (of: TableDef): string => {
    const select = held.select(of, damage.entries);
    // The audits see a one-file warehouse as an attached database, the store as its own.
    return store.kind === 'duckdb' ? select.replace(' FROM w._rows.', ' FROM _rows.') : select;
  };
  const projection = damage.recompute.has(table.name) ? projectionOf(damage.pipeline, table) : undefined;
  if (projection === undefined) return `SELECT ${columnsOf(table)} FROM (${rowsOf(table)}) WHERE ${within}`;
  const from = new Map(projection.columns.map((column) => [column.to, column.from]));
  const columns = schemaOf(table).columns.map(({ name, type }) => {
    const source = from.get(name);
    return source === undefined ? `NULL::${type} AS ${quoteName(name)}` : `${quoteName(source)} AS ${quoteName(name)}`;
  });
  return `SELECT ${columns.join(', ')} FROM (${rowsOf(projection.parent)}) WHERE ${projection.condition} AND (${within})`;
}

/** Whether the tables that were doubted, or made again, have come out as they were recorded. */
function isBelieved({ entries, recompute, doubted }: Damage, staged: StagedSpan | undefined): boolean {
  const [entry] = entries;
  if (entry === undefined || staged === undefined) return false;
  return [...recompute, ...doubted].every((name) => {
    const before = entry.tables[name];
    const now = staged.tables[name];
    if (before === undefined || now === undefined) return false;
    return JSON.stringify(describeEvidence(before)) === JSON.stringify(describeEvidence(now));
  });
}

/** The first commit takes the place of the damaged entries; where a part could not be had, a hole is left that says so. */
async function commitAll(
  { store }: MendOptions,
  damage: Damage,
  spans: readonly Span[],
  staged: readonly StagedSpan[],
  fetched: readonly StagedPart[],
): Promise<boolean> {
  const [before] = damage.entries;
  let requests = fetched.reduce((sum, { draft }) => sum + draft.requests, 0);
  let supersedes = damage.entries.map(({ id }) => id);
  for (const [at, span] of spans.entries()) {
    const part = staged[at];
    if (part === undefined || before === undefined) continue;
    const { network, pipeline, version } = before;
    const retries = fetched.reduce((sum, { draft }) => sum + draft.retries, 0);
    await store.commit(part, { network, pipeline, version, span, verdict: 'sealed', requests, retries, supersedes });
    supersedes = [];
    requests = 0;
  }
  // Where nothing could be had, the damaged entries stay, and show.
  for (const { staged: part, draft } of fetched.filter((each) => each.draft.verdict === 'quarantined')) {
    await store.commit(part, { ...draft, supersedes });
    supersedes = [];
  }
  return supersedes.length === 0;
}
