import { copyFile, link, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { haveCommon, intersectSpans, type Span, totalSize } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import type { TableDef } from '../declare/table.ts';
import { hashFile } from '../files/disk.ts';
import { isSameEvidence } from '../verify/entry-state.ts';
import {
  covering,
  doneSpans,
  type FileStage,
  givesWay,
  type LedgerEntry,
  openReader,
  type StagedSpan,
  type StagedTable,
  type Store,
  spansOf,
  type TableEntry,
} from '../warehouse/index.ts';

/**
 * Commits what a worker exported to a warehouse of its own. Nothing of it is believed: every file must have the checksum of its entry, its
 * rows are measured again, and entries of other blocks, other declarations, or blocks that are done meanwhile are left out.
 *
 * @returns the new entries
 * @throws {StoreError} `damaged` if rows are not those that the worker committed; what was taken over before stays
 */
export async function takeOver(
  store: Store,
  registry: Registry,
  part: string,
  asked: Span,
): Promise<readonly LedgerEntry[]> {
  const reader = await openReader(part, registry.tables);
  const taken: LedgerEntry[] = [];
  try {
    for (const entry of await reader.ledger()) {
      if (isWanted(store, registry, entry, asked)) taken.push(await commitCopy(store, registry, part, entry));
    }
    return taken;
  } finally {
    await reader.close();
  }
}

function isWanted(store: Store, registry: Registry, entry: LedgerEntry, asked: Span): boolean {
  const { pipeline, verdict, scope, mart, forgotten, declaration } = entry;
  if (verdict !== 'sealed' || scope !== undefined || mart !== undefined || forgotten !== undefined) return false;
  const own = registry.pipelines.find(({ name }) => name === pipeline);
  if (own === undefined || serializePipeline(own).id !== declaration) return false;
  const spans = spansOf(entry);
  if (totalSize(intersectSpans(spans, [asked])) !== totalSize(spans)) return false;
  return !haveCommon(spans, doneSpans(store.ledger(), pipeline));
}

async function commitCopy(store: Store, registry: Registry, part: string, entry: LedgerEntry): Promise<LedgerEntry> {
  const { pipeline, network, version, verdict, requests, retries, planned, asOf, proof, without } = entry;
  const stage = store.stage(pipeline, entry.span);
  try {
    const { tables } = registry.pipeline(pipeline);
    for (const table of tables) await adoptFiles(stage, table, entry.tables[table.name], part);
    const staged = requireSame(await stage.finish(), entry);
    const covered = covering(spansOf(entry));
    const replaced = store.ledger().filter((other) => other.pipeline === pipeline && givesWay(other, entry.span));
    return await store.commit(staged, {
      ...{ network, pipeline, version, verdict, requests, retries, planned, asOf, proof, without },
      ...covered,
      supersedes: replaced.map(({ id }) => id),
    });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

async function adoptFiles(
  stage: FileStage,
  table: TableDef,
  entry: TableEntry | undefined,
  part: string,
): Promise<void> {
  for (const { path, rows, sha256 } of entry?.files ?? []) {
    const source = join(part, path);
    // The path tells the day of the rows.
    const target = join(stage.folder, path);
    await mkdir(dirname(target), { recursive: true });
    await link(source, target).catch(() => copyFile(source, target));
    if (sha256 === undefined || (await hashFile(target)) !== sha256) throw damaged(`another checksum of ${source}`);
    await stage.adopt(table, target, { rows, isSorted: true, isFinal: true });
  }
}

/** The staged rows, if they are those of the entry; with its tables without rows. */
function requireSame(staged: StagedSpan, entry: LedgerEntry): StagedSpan {
  const tables: Record<string, StagedTable> = { ...staged.tables };
  for (const [name, { rows, keyHash, sums, schema, dateIn: place, files }] of Object.entries(entry.tables)) {
    const own = tables[name];
    if (own === undefined && rows === 0 && files.length === 0) {
      tables[name] = { rows, keyHash, sums, schema, ...(place && { dateIn: place }), isSorted: true, files: [] };
    } else if (!isSameEvidence(own, { rows, keyHash, sums })) {
      throw damaged(`other rows of ${name}`);
    }
  }
  return { ...staged, tables };
}

function damaged(got: string): StoreError {
  return new StoreError(`store: expected the rows that a worker committed, got ${got}`, { code: 'damaged' });
}
