import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { type Span, shortSpans, totalSize, unionSpans } from '../core/span.ts';
import { narrowTable } from '../declare/left-out.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import {
  addEvidence,
  type CommitPart,
  covering,
  FORGOTTEN,
  type ForgottenRows,
  measureRows,
  type StagedSpan,
  type Store,
  spansOf,
} from '../warehouse/index.ts';
import { isSameEvidence } from './entry-state.ts';
import { type ForgottenEntry, inSpans } from './plan-forget.ts';

export interface Forgetting {
  readonly store: Store;
  readonly tables: readonly TableDef[];
  readonly effects: Effects;
  readonly by: ForgottenRows['by'];
  /** First and last day of the removed rows, by pipeline. */
  readonly days: ReadonlyMap<string, NonNullable<ForgottenRows['days']>>;
}

/**
 * Commits a plan in one step: entries without rows that record what was removed, and the remaining rows of entries that lose only a part.
 *
 * @throws {StoreError} `busy` if the ledger has changed since the plan; `damaged`, `not-the-same` if the rows are not those that were
 * committed
 */
export async function forgetEntries(context: Forgetting, entries: readonly ForgottenEntry[]): Promise<void> {
  const { store } = context;
  const inForce = new Set(store.ledger().map(({ id }) => id));
  const changed = entries.find(({ entry }) => !inForce.has(entry.id))?.entry;
  if (changed !== undefined) {
    throw new StoreError(
      `store: ${changed.pipeline} ${shortSpans(spansOf(changed))} was changed by another process in the meantime`,
      {
        code: 'busy',
        hint: 'run the same command again',
      },
    );
  }
  const parts: CommitPart[] = [];
  for (const each of entries.filter(({ kept }) => kept.length > 0)) {
    await store.rows.requireSound(each.entry);
    const own: StagedSpan[] = [];
    for (const spans of keptGroups(each)) {
      const staged = await stageKept(context, each, spans);
      own.push(staged);
      parts.push({ staged, draft: keptDraft(each, spans) });
    }
    await requireSame(context, each, own);
  }
  const stones = tombstones(entries, context);
  const last = stones.at(-1);
  if (last === undefined) return;
  const supersedes = [...entries.map(({ entry }) => entry.id), ...last.draft.supersedes];
  await store.commitTogether([...parts, ...stones.slice(0, -1), { ...last, draft: { ...last.draft, supersedes } }]);
}

/** The spans of each entry that stays: those of a merged one stay together. */
function keptGroups({ entry, kept }: ForgottenEntry): readonly (readonly Span[])[] {
  return entry.spans === undefined ? kept.map((span) => [span]) : [kept];
}

/**
 * Entries without rows for what goes of each pipeline: one for each span, or for all of them where entries were merged. They
 * supersede themselves, so they are never in force.
 */
function tombstones(entries: readonly ForgottenEntry[], { effects, by, days }: Forgetting): readonly CommitPart[] {
  const pipelines = new Map(entries.map((each) => [each.pipeline.name, each]));
  return [...pipelines].flatMap(([name, { entry }]) => {
    const own = entries.filter(({ pipeline }) => pipeline.name === name);
    const gone = unionSpans(own.flatMap((each) => each.gone));
    const isMerged = own.some((each) => each.entry.spans !== undefined);
    return (isMerged ? [gone] : gone.map((span) => [span])).map((spans): CommitPart => {
      const id = effects.freshId();
      const { network, version } = entry;
      return {
        staged: { id, tables: {} },
        draft: {
          ...{ network, pipeline: name, version, ...covering(spans), verdict: 'sealed', scope: FORGOTTEN },
          ...{ requests: 0, retries: 0, supersedes: [id], forgotten: { by, days: days.get(name) } },
        },
      };
    });
  });
}

/** A kept part has the read time and proof of its entry. */
function keptDraft({ entry }: ForgottenEntry, spans: readonly Span[]): CommitPart['draft'] {
  const { network, pipeline, version, verdict, asOf, scope, proof, without, requests, number, copies = number } = entry;
  const share = Math.round((requests * totalSize(spans)) / totalSize(spansOf(entry)));
  return {
    ...{ network, pipeline, version, ...covering(spans), verdict, asOf, scope, proof, without },
    ...{ requests: share, retries: 0, copies, supersedes: [] },
  };
}

/** Tables that an entry has rows of, with the columns that it has. */
export function tablesOf({ entry }: ForgottenEntry, tables: readonly TableDef[]): readonly TableDef[] {
  return tables
    .filter(({ name }) => entry.tables[name] !== undefined)
    .map((table) => narrowTable(table, entry.without));
}

async function stageKept(context: Forgetting, each: ForgottenEntry, spans: readonly Span[]): Promise<StagedSpan> {
  const { store, tables } = context;
  const { pipeline, entry } = each;
  const stage = store.stage(pipeline.name, covering(spans).span);
  await mkdir(stage.folder, { recursive: true });
  for (const table of tablesOf(each, tables)) {
    const path = join(stage.folder, `${table.name}-kept.parquet`);
    const columns = table.columns.map(({ name }) => quoteName(name));
    await store.query(`COPY (SELECT ${columns.join(', ')} FROM (${store.rows.select(table, [entry])})
      WHERE ${inSpans(pipeline, table, spans)}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
    await stage.adopt(table, path);
  }
  return stage.finish();
}

/** @throws {StoreError} `not-the-same` if kept and removed rows together are not those that were committed */
async function requireSame(context: Forgetting, each: ForgottenEntry, kept: readonly StagedSpan[]): Promise<void> {
  const { store, tables } = context;
  const { pipeline, entry, gone } = each;
  for (const table of tablesOf(each, tables)) {
    const recorded = entry.tables[table.name];
    if (recorded === undefined) continue;
    const relation = `(SELECT * FROM (${store.rows.select(table, [entry])}) WHERE ${inSpans(pipeline, table, gone)})`;
    const removed = await measureRows(store.query, table, relation);
    const found = addEvidence([...removed, ...kept.flatMap(({ tables: own }) => own[table.name] ?? [])], table);
    if (isSameEvidence(found, recorded)) continue;
    throw new StoreError(
      `store: ${table.name} ${shortSpans(spansOf(entry))}: expected the rows that were committed, got others`,
      { code: 'not-the-same', hint: `tonlake verify --repair --warehouse ${store.path}` },
    );
  }
}
