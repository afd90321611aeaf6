import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { addCounts } from '../core/counts.ts';
import { omitUndefined } from '../core/omit-undefined.ts';
import {
  haveCommon,
  hullOf,
  intersectSpans,
  type Span,
  shortSpans,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import { narrowTable, storedTables } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { damagedData } from '../files/damaged-data.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { inSpans } from '../sql/span-condition.ts';
import { dateIn } from './file-layout.ts';
import { sourcesOf } from './ledger/copied-rows.ts';
import { covering, hasMadeUpHashes, spansOf } from './ledger/done-spans.ts';
import { blocksOf, withFiles } from './ledger/entries-in.ts';
import { selectStaged } from './relations/table-relation.ts';
import { schemaOf } from './relations/table-schema.ts';
import { addEvidence, boundedColumns, measureRows } from './staging/row-evidence.ts';
import type {
  CommitDraft,
  CommitPart,
  FileStage,
  LedgerEntry,
  StagedSpan,
  StagedTable,
  Store,
  TableEvidence,
  TableFile,
} from './store.ts';

/**
 * New entries in place of others of a pipeline. Forgetting, repairs and reads of more columns differ only in the blocks: those of `keep` are
 * copied, those of `read` are new, and all others are removed.
 */
export interface Rewrite {
  /** With the columns of the new rows. */
  readonly pipeline: PipelineDef;
  /** Entries that leave force. */
  readonly old: readonly LedgerEntry[];
  /** Blocks whose rows are copied. */
  readonly keep: readonly Span[];
  /** The old entries without their damaged files, from which no rows are copied. Default: the old entries. */
  readonly sound?: readonly LedgerEntry[] | undefined;
  /** Rows of other blocks that were fetched again, not committed yet. */
  readonly read: readonly CommitPart[];
  /** Blocks to remove on purpose. If present, copied and removed rows together must equal the committed rows. Default: not compared. */
  readonly drop?: readonly Span[] | undefined;
}

/** The store of a rewrite, and all tables that its entries can have rows of. */
interface RewriteContext {
  readonly store: Store;
  readonly tables: readonly TableDef[];
}

/**
 * Stages new entries, which supersede the old ones: one per span, or a single one if an old entry was merged.
 *
 * @throws {StoreError} `damaged` if a file with rows to copy is not the one that was committed, or, with `drop`, if the old rows differ from the
 * committed rows
 */
export async function stageRewrite(context: RewriteContext, rewrite: Rewrite): Promise<readonly CommitPart[]> {
  const { old, sound = old, drop } = rewrite;
  if (rewrite.keep.length > 0 || drop !== undefined) {
    for (const entry of sound) await context.store.rows.requireSound(entry);
  }
  const all = unionSpans([...rewrite.keep, ...rewrite.read.map(({ draft }) => draft.span)]);
  const isMerged = old.some(({ spans }) => spans !== undefined);
  const parts: CommitPart[] = [];
  for (const spans of isMerged && all.length > 0 ? [all] : all.map((span) => [span])) {
    const read = rewrite.read.filter(({ draft }) => haveCommon([draft.span], spans));
    const keep = intersectSpans(rewrite.keep, spans);
    const own = { ...rewrite, read, keep };
    parts.push(
      keep.length === 0
        ? joinRead(own)
        : { staged: await copyRows(context, own), draft: draftOf({ ...own, leftOut: own.pipeline.leftOut }) },
    );
  }
  if (drop !== undefined) await requireSame(context, rewrite, drop, parts);
  return parts;
}

/** @throws {StoreError} `damaged` if new and dropped rows together differ from those of the old entries */
async function requireSame(
  { store, tables }: RewriteContext,
  { pipeline, old }: Rewrite,
  drop: readonly Span[],
  parts: readonly CommitPart[],
): Promise<void> {
  for (const table of storedTables(old, tables)) {
    const relation = `(SELECT * FROM (${store.rows.select(table, old)}) WHERE ${inSpans(pipeline, table, drop)})`;
    const dropped = await measureRows(store.query, table, relation);
    const found = addEvidence([...dropped, ...parts.flatMap(({ staged }) => staged.tables[table.name] ?? [])], table);
    const recorded = addEvidence(
      old.flatMap((entry) => entry.tables[table.name] ?? []),
      table,
    );
    if (JSON.stringify(found) === JSON.stringify(recorded)) continue;
    const spans = shortSpans(old.flatMap(spansOf));
    throw damagedData(store.path, `${table.name} ${spans}: expected the rows that were committed, got others`);
  }
}

/** One entry in place of others, if no rows are copied. */
function joinRead(rewrite: Omit<Rewrite, 'keep'>): CommitPart {
  const { pipeline, read } = rewrite;
  const draft = draftOf({ ...rewrite, keep: [], leftOut: pipeline.leftOut });
  return { staged: joinStaged(pipeline, read), draft };
}

/** Rows of several staged spans as those of one. */
function joinStaged(pipeline: PipelineDef, parts: readonly CommitPart[]): StagedSpan {
  const [first] = parts as readonly [CommitPart, ...CommitPart[]];
  if (parts.length === 1) return first.staged;
  const tables: Record<string, StagedTable> = {};
  for (const table of pipeline.tables.map((each) => narrowTable(each, pipeline.leftOut))) {
    const own = parts.flatMap(({ staged }) => staged.tables[table.name] ?? []);
    const [one] = own;
    if (one === undefined) continue;
    const files = own.flatMap((part) => part.files);
    tables[table.name] = { ...one, isSorted: false, ...addEvidence(own, table), files };
  }
  return { id: first.staged.id, tables };
}

/** The draft of an entry of copied and new rows. Its proof is the weakest of theirs. */
export function draftOf({
  old,
  keep,
  read,
  leftOut,
}: Omit<Rewrite, 'pipeline'> & Pick<PipelineDef, 'leftOut'>): CommitDraft {
  const kept = keep.length === 0 ? [] : old;
  const drafts = read.map(({ draft }) => draft);
  const sources: readonly Omit<CommitDraft, 'supersedes'>[] = [...kept, ...drafts];
  const [first] = sources as readonly [CommitDraft, ...CommitDraft[]];
  const share = keep.length === 0 ? 0 : totalSize(keep) / totalSize(unionSpans(old.flatMap(spansOf)));
  const sum = (of: (source: Omit<CommitDraft, 'supersedes'>) => number): number =>
    Math.round(kept.reduce((total, each) => total + of(each), 0) * share) +
    drafts.reduce((total, each) => total + of(each), 0);
  const isPlanned = sources.every(({ planned }) => planned !== undefined);
  const unknownKeys = sources.some((each) => each.unknownKeys !== undefined)
    ? sum((each) => each.unknownKeys ?? 0)
    : undefined;
  // Hashes of some rows stay made up even if their number is not known.
  const noCells = sum(({ content }) => content?.['no-cells'] ?? 0);
  const madeUp = sources.some(hasMadeUpHashes) ? { 'no-cells': Math.max(1, noCells) } : undefined;
  const spans = unionSpans([...keep, ...drafts.flatMap(spansOf)]);
  return {
    ...{ network: first.network, pipeline: first.pipeline, version: first.version, ...covering(spans) },
    ...{ verdict: first.verdict, scope: first.scope, without: leftOut },
    ...{ requests: sum(({ requests }) => requests), retries: sum(({ retries }) => retries) },
    ...omitUndefined({
      planned: isPlanned ? sum(({ planned }) => planned ?? 0) : undefined,
      asOf: hullOf(sources.flatMap(({ asOf }) => asOf ?? [])),
      proof: proofOf(sources),
      content: (kept.length > 0 && share < 1 ? undefined : contentOf(sources)) ?? madeUp,
      unknownKeys,
      seen: drafts[0]?.seen,
      copies: drafts.length > 0 ? undefined : Math.max(...old.map(({ copies, number }) => copies ?? number)),
    }),
    supersedes: [...new Set([...old.map(({ id }) => id), ...drafts.flatMap(({ supersedes }) => supersedes)])],
  };
}

function proofOf(sources: readonly Pick<CommitDraft, 'proof'>[]): CommitDraft['proof'] {
  const [first, ...others] = new Set(sources.map(({ proof }) => proof));
  if (others.length === 0) return first;
  return [first, ...others].includes('contradicted') ? 'contradicted' : 'none';
}

/** Sum of the content counts; undefined if one is unknown. */
function contentOf(sources: readonly Pick<CommitDraft, 'content'>[]): CommitDraft['content'] {
  if (sources.some(({ content }) => content === undefined)) return undefined;
  return sources.map(({ content = {} }) => content).reduce(addCounts);
}

/** Stages copied rows together with new ones. */
async function copyRows(context: RewriteContext, rewrite: Rewrite): Promise<StagedSpan> {
  const { store, tables } = context;
  const { pipeline, old, keep, sound = old, read } = rewrite;
  const stage = store.stage(covering(unionSpans([...keep, ...read.flatMap(({ draft }) => draft.span)])).span);
  await mkdir(stage.folder, { recursive: true });
  const intact: [TableDef, StagedTable][] = [];
  for (const table of storedTables(old, tables)) {
    const { named, rest } = await nameIntact(context, rewrite, table, sound);
    if (named !== undefined) intact.push([table, named]);
    if (named !== undefined && rest.every(({ tables: own }) => own[table.name]?.files.length === 0)) continue;
    const names = table.columns.map(({ name }) => quoteName(name)).join(', ');
    const rows = `SELECT ${names} FROM (${store.rows.select(table, rest)}) WHERE ${inSpans(pipeline, table, keep)}`;
    await adopt(store, stage, table, rows, `${table.name}-kept`);
  }
  for (const { staged } of read) {
    for (const table of tables.map((each) => narrowTable(each, pipeline.leftOut))) {
      const own = staged.tables[table.name];
      if (own === undefined || own.rows === 0) continue;
      await adopt(store, stage, table, selectStaged(table, staged), `${table.name}-${staged.id}`);
    }
  }
  const { id, tables: written } = await stage.finish();
  const joined = intact.map(([table, named]): [string, StagedTable] => {
    const { [table.name]: others } = written;
    if (others === undefined) return [table.name, named];
    return [table.name, { ...named, ...addEvidence([named, others], table), files: others.files }];
  });
  return { id, tables: { ...written, ...Object.fromEntries(joined) } };
}

/**
 * Finds files whose rows all stay: the new entry names them without a copy, with rows and bounds measured again. `rest` are the entries
 * with their other files.
 */
async function nameIntact(
  { store }: RewriteContext,
  { pipeline, keep }: Rewrite,
  table: TableDef,
  sound: readonly LedgerEntry[],
): Promise<{ readonly named: StagedTable | undefined; readonly rest: readonly LedgerEntry[] }> {
  const reused: TableFile[] = [];
  const evidence: TableEvidence[] = [];
  const intact = new Set<TableFile>();
  for (const entry of sound) {
    const leaving = subtractSpans(spansOf(entry), keep);
    const stays = ({ bounds }: Pick<TableFile, 'bounds'>): boolean => {
      const blocks = blocksOf({ bounds }, blockColumn(pipeline, table));
      return leaving.length === 0 || (blocks !== undefined && !haveCommon([blocks], leaving));
    };
    const { [table.name]: own } = entry.tables;
    // Files with older columns are rewritten with those of the new entry.
    if (own === undefined || own.schema !== schemaOf(table).id) continue;
    for (const file of own.files.filter(stays)) {
      const alone = { ...entry, tables: { [table.name]: { ...own, files: [file] } } };
      const relation = `(${store.rows.select(table, [alone])})`;
      const [part, ...others] = await measureRows(store.query, table, relation, boundedColumns(table));
      if (part === undefined || others.length > 0 || part.date !== dateIn(file.path) || !stays(part)) continue;
      const { date: _, bounds, ...measured } = part;
      evidence.push(measured);
      reused.push({ ...file, rows: part.rows, bounds, copied: sourcesOf(entry, file) });
      intact.add(file);
    }
  }
  const rest = sound.map((entry) => withFiles(entry, table, (file) => !intact.has(file)));
  if (reused.length === 0) return { named: undefined, rest };
  return {
    named: { schema: schemaOf(table).id, isSorted: true, ...addEvidence(evidence, table), files: [], reused },
    rest,
  };
}

async function adopt(store: Store, stage: FileStage, table: TableDef, select: string, name: string): Promise<void> {
  const path = join(stage.folder, `${name}.parquet`);
  await store.query(`COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
  await stage.adopt(table, path);
}
