import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { haveCommon, hullOf, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import { kinds } from '../declare/kind.ts';
import { narrowTable } from '../declare/left-out.ts';
import { isMasterchain } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { StagedPart } from '../export/widen-entry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { spanCondition } from '../sql/span-condition.ts';
import {
  type CommitDraft,
  type CommitPart,
  covering,
  PARTIAL,
  type StagedSpan,
  type Store,
  selectStaged,
} from '../warehouse/index.ts';
import { projectionOf } from './audit-transactions.ts';
import { isSameEvidence } from './entry-state.ts';
import type { Damage } from './plan-repair.ts';

export interface ApplyRepairOptions {
  readonly store: Store;
  /** All tables that entries of the pipeline can have rows of. */
  readonly tables: readonly TableDef[];
  /** Fetches spans again and stages the rows; commits nothing. @throws if the source is unavailable */
  readonly fetch: (spans: readonly Span[]) => Promise<readonly StagedPart[]>;
  readonly freshId: () => string;
}

/** Result of repairing damaged entries. */
export interface RepairOutcome {
  readonly refetched: readonly Span[];
  readonly failed: readonly Span[];
  readonly isChanged: boolean;
}

/** Maximum number of failed blocks whose old rows get entries of their own; with more, nothing is changed. */
const MAX_FAILED_BLOCKS = 100;

/**
 * Replaces damaged entries: sound rows are copied from their files, the others fetched again. Old rows are removed only by the commit
 * that adds the new ones. Blocks that could not be fetched keep their old rows, in an entry that counts as not done; if that is not
 * possible, nothing changes.
 *
 * @returns what was fetched again, and what of it failed
 */
export async function applyRepair(options: ApplyRepairOptions, damage: Damage): Promise<RepairOutcome> {
  const fetched = await fetchAgain(options, damage.refetch);
  const failed = failedOf(damage, damage.refetch, fetched);
  const good = groupSpans(damage, subtractSpans(damage.spans, failed));
  const isDoubted = damage.doubted.size + damage.recompute.size > 0;
  const staged = await stageAll(options, damage, good, damage.refetch, fetched);
  if (isDoubted && (failed.length > 0 || !isBelieved(damage, staged[0]))) {
    const rest = subtractSpans(damage.spans, damage.refetch);
    const whole = { ...damage, refetch: damage.spans, recompute: new Set<string>(), doubted: new Set<string>() };
    const more = [...fetched, ...(await fetchAgain(options, rest))];
    const missing = failedOf(damage, damage.spans, more);
    const found = groupSpans(damage, subtractSpans(damage.spans, missing));
    const again = await stageAll(options, whole, found, damage.spans, more);
    const isChanged = await commitAll(options, whole, { good: found, failed: missing, staged: again, fetched: more });
    return { refetched: damage.spans, failed: missing, isChanged };
  }
  return {
    refetched: damage.refetch,
    failed,
    isChanged: await commitAll(options, damage, { good, failed, staged, fetched }),
  };
}

/** The spans of each new entry: those of a merged entry stay together. */
function groupSpans({ entries }: Damage, spans: readonly Span[]): readonly (readonly Span[])[] {
  const isMerged = entries.some((entry) => entry.spans !== undefined);
  return isMerged && spans.length > 0 ? [spans] : spans.map((span) => [span]);
}

async function fetchAgain({ fetch }: ApplyRepairOptions, spans: readonly Span[]): Promise<readonly StagedPart[]> {
  return spans.length === 0 ? [] : fetch(spans);
}

/** True if a part is complete for the scope of the damaged entry. */
function isWhole({ entries }: Damage, { draft }: StagedPart): boolean {
  const scope = entries[0]?.scope === PARTIAL ? undefined : entries[0]?.scope;
  return draft.verdict === 'sealed' && draft.scope === scope;
}

function failedOf(damage: Damage, asked: readonly Span[], fetched: readonly StagedPart[]): readonly Span[] {
  const had = fetched.filter((part) => isWhole(damage, part)).map(({ draft }) => draft.span);
  const failed = subtractSpans(asked, unionSpans(had));
  // Rows that belong to no block are replaced all together or not at all.
  return failed.length > 0 && damage.pipeline.tables.some((table) => blockColumn(damage.pipeline, table) === undefined)
    ? damage.spans
    : failed;
}

/** Stages the rows of each group of spans: copies of sound rows, and fetched ones. */
async function stageAll(
  options: ApplyRepairOptions,
  damage: Damage,
  groups: readonly (readonly Span[])[],
  refetched: readonly Span[],
  fetched: readonly StagedPart[],
): Promise<readonly StagedSpan[]> {
  const { store, freshId } = options;
  const staged: StagedSpan[] = [];
  for (const spans of groups) {
    const stage = store.stage(damage.pipeline.name, covering(spans).span);
    const folder = join(store.staging.stagingPath, `applyRepair-${freshId()}`);
    await mkdir(folder, { recursive: true });
    const kept = subtractSpans(spans, refetched);
    const parts = fetched.filter((part) => isWhole(damage, part) && haveCommon([part.draft.span], spans));
    const named = new Set([...damage.pipeline.tables.map(({ name }) => name), ...parts.flatMap(tablesOf)]);
    const adopt = async (table: TableDef, select: string, name: string): Promise<void> => {
      const path = join(folder, `${name}.parquet`);
      await store.query(`COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
      await stage.adopt(table, path);
    };
    for (const declared of options.tables.filter(({ name }) => named.has(name))) {
      const table = narrowTable(declared, damage.pipeline.leftOut);
      if (totalSize(kept) > 0 && damage.pipeline.tables.some(({ name }) => name === table.name)) {
        await adopt(table, soundRows(options, damage, table, kept), table.name);
      }
      for (const { staged: part } of parts) {
        if ((part.tables[table.name]?.rows ?? 0) === 0) continue;
        await adopt(table, selectStaged(table, part), `${table.name}-${part.id}`);
      }
    }
    staged.push(await stage.finish());
  }
  return staged;
}

function tablesOf({ staged }: StagedPart): readonly string[] {
  return Object.keys(staged.tables);
}

function columnsOf(table: TableDef): string {
  return table.columns.map(({ name }) => quoteName(name)).join(', ');
}

function soundRows({ store }: ApplyRepairOptions, damage: Damage, table: TableDef, kept: readonly Span[]): string {
  const column = blockColumn(damage.pipeline, table);
  const within = column === undefined ? 'true' : spanCondition(quoteName(column), kept);
  const projection = damage.recompute.has(table.name) ? projectionOf(damage.pipeline, table) : undefined;
  if (projection === undefined)
    return `SELECT ${columnsOf(table)} FROM (${store.rows.select(table, damage.entries)}) WHERE ${within}`;
  const from = new Map(projection.columns.map((column) => [column.to, column.from]));
  const columns = table.columns.map(({ name, kind }) => {
    const source = from.get(name);
    return source === undefined
      ? `NULL::${kinds[kind].sql} AS ${quoteName(name)}`
      : `${quoteName(source)} AS ${quoteName(name)}`;
  });
  return `SELECT ${columns.join(', ')} FROM (${store.rows.select(projection.parent, damage.entries)}) WHERE ${projection.condition} AND (${within})`;
}

/** True if the doubted and recomputed tables now match what the ledger recorded. */
function isBelieved({ entries, recompute, doubted }: Damage, staged: StagedSpan | undefined): boolean {
  const [entry] = entries;
  if (entry === undefined || staged === undefined) return false;
  return [...recompute, ...doubted].every((name) => isSameEvidence(entry.tables[name], staged.tables[name]));
}

interface Outcome {
  /** Spans of each staged entry. */
  readonly good: readonly (readonly Span[])[];
  readonly failed: readonly Span[];
  readonly staged: readonly StagedSpan[];
  readonly fetched: readonly StagedPart[];
}

/** Puts the new entries in the place of the damaged ones, in one commit. @returns false if nothing may or can be put */
async function commitAll(options: ApplyRepairOptions, damage: Damage, outcome: Outcome): Promise<boolean> {
  const { good, failed, staged, fetched } = outcome;
  const [before] = damage.entries;
  const isQuarantined = damage.entries.every(({ verdict }) => verdict === 'quarantined');
  if (before === undefined || (failed.length > 0 && !isQuarantined && !canKeep(damage, failed))) return false;
  const kept = isQuarantined ? [] : await stageFailed(options, damage, failed);
  const { network, pipeline, version } = before;
  const common = {
    ...{ network, pipeline, version, requests: 0, supersedes: [] },
    ...{ retries: fetched.reduce((sum, { draft }) => sum + draft.retries, 0) },
    ...{ without: damage.pipeline.leftOut, verdict: 'sealed' as const },
  };
  const parts: readonly CommitPart[] = [
    ...good.flatMap((spans, at) => {
      const part = staged[at];
      const draft = { ...common, ...covering(spans), ...readAt(damage, outcome, spans) };
      return part === undefined ? [] : [{ staged: part, draft }];
    }),
    ...kept.map(({ span, part }) => ({ staged: part, draft: { ...common, span, scope: PARTIAL, asOf: before.asOf } })),
    ...fetched
      .filter(({ draft }) => draft.verdict === 'quarantined')
      .filter(({ draft }) => isQuarantined || kept.some(({ span }) => haveCommon([span], [draft.span]))),
  ];
  const last = parts.at(-1);
  if (last === undefined) return false;
  const requests = fetched.reduce((sum, { draft }) => sum + draft.requests, 0);
  const supersedes = [...damage.entries.map(({ id }) => id), ...supersededByParts(fetched, damage)];
  // Only the last entry of a commit may supersede others.
  await options.store.commitTogether([
    ...parts.slice(0, -1).map(({ staged: part, draft }) => ({ staged: part, draft: { ...draft, supersedes: [] } })),
    { ...last, draft: { ...last.draft, requests, supersedes } },
  ]);
  return true;
}

/** Quarantined entries that the new rows supersede, besides the damaged ones. */
function supersededByParts(fetched: readonly StagedPart[], { entries }: Damage): readonly string[] {
  const own = new Set(entries.map(({ id }) => id));
  return [...new Set(fetched.flatMap(({ draft }) => draft.supersedes))].filter((id) => !own.has(id));
}

/** The read times and scope of the rows of some spans. */
function readAt(
  { entries }: Damage,
  { fetched }: Outcome,
  spans: readonly Span[],
): Pick<CommitDraft, 'asOf' | 'scope'> {
  const [before] = entries;
  const asOf = [
    ...entries.map((entry) => entry.asOf),
    ...fetched.filter(({ draft }) => haveCommon([draft.span], spans)).map(({ draft }) => draft.asOf),
  ].flatMap((each) => each ?? []);
  return {
    scope: before?.scope === PARTIAL ? undefined : before?.scope,
    asOf: hullOf(asOf),
  };
}

/**
 * True if failed blocks can get entries of their own and still be recognised as damaged. Rows that only a checksum shows to be
 * damaged would look sound in a new file.
 */
function canKeep({ isSuspect, entries, pipeline }: Damage, failed: readonly Span[]): boolean {
  if (isSuspect || entries.length > 1) return false;
  return pipeline.walk.kind === 'lt' || pipeline.walk.kind === 'block' || totalSize(failed) <= MAX_FAILED_BLOCKS;
}

/** Stages the old rows of failed spans: one entry per block for pipelines proven by headers, one per span for lists. */
async function stageFailed(options: ApplyRepairOptions, damage: Damage, failed: readonly Span[]) {
  const readable = {
    ...damage.pipeline,
    tables: damage.pipeline.tables.filter(({ name }) => !damage.unreadable.has(name)),
  };
  const spans = isMasterchain(damage.pipeline)
    ? failed.flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, i) => ({ from: from + i, to: from + i })),
      )
    : failed;
  const kept: { readonly span: Span; readonly part: StagedSpan }[] = [];
  for (const span of spans) {
    const plain = { ...damage, pipeline: readable, recompute: new Set<string>() };
    const [part] = await stageAll(options, plain, [[span]], [], []);
    if (part !== undefined) kept.push({ span, part });
  }
  return kept;
}
