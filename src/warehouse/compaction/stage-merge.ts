import { join } from 'node:path';
import type { Span } from '../../core/span.ts';
import type { TableDef } from '../../declare/table.ts';
import { hashFile, statIfAny } from '../../files/disk.ts';
import { dropEncodingMemory } from '../../parquet/encoder.ts';
import { Database } from '../../sql/database.ts';
import { addSources, sourcesOf } from '../ledger/copied-rows.ts';
import { schemaOf } from '../relations/table-schema.ts';
import { addEvidence } from '../staging/row-evidence.ts';
import type { CopiedRows, LedgerEntry, StagedFile, StagedSpan, StagedTable, TableFile } from '../store.ts';
import { mergeFiles } from './merge-files.ts';
import { splitFiles } from './merge-group.ts';
import { differs, type MergedFile, proveMerge } from './prove-merge.ts';

/** A merge, as data that can be sent to another process. */
export interface MergeWork {
  /** Id of the staged span, and its folder, which exists. */
  readonly id: string;
  readonly folder: string;
  readonly span: Span;
  readonly entries: readonly LedgerEntry[];
  /** Tables of which the entries have rows, without the columns that they lack. */
  readonly tables: readonly TableDef[];
}

/** Creates merged files in the folder of the work, and compares their rows with those of the entries. The caller removes it after a failure. */
export type StageMerge = (work: MergeWork, localFolder: LocalFolder) => Promise<StagedSpan['tables']>;

/** Returns a local folder with these data files at their paths. */
type LocalFolder = (files: readonly TableFile[]) => Promise<string>;

interface Merging extends MergeWork {
  readonly database: Database;
  readonly localFolder: LocalFolder;
}

/** {@link StageMerge} in this process. @throws {StoreError} `damaged`, `not-the-same` */
export async function stageMerge(work: MergeWork, localFolder: LocalFolder): Promise<StagedSpan['tables']> {
  const database = await Database.open(':memory:', {
    threads: '1',
    enable_external_file_cache: 'false',
    memory_limit: '256MB',
    temp_directory: join(work.folder, 'spill'),
  });
  const merging = { ...work, database, localFolder };
  const proofs: Promise<readonly [string, StagedTable]>[] = [];
  try {
    for (const table of work.tables) {
      const files = await mergeTable(merging, table);
      // DuckDB reads the rows of this table while those of the next one are merged.
      const proof = Promise.allSettled(proofs).then(async () => {
        return [table.name, await describeTable(merging, table, files)] as const;
      });
      // `Promise.all` below reports a failure, which can come earlier.
      proof.catch(() => undefined);
      proofs.push(proof);
    }
    return Object.fromEntries(await Promise.all(proofs));
  } finally {
    await Promise.allSettled(proofs);
    database.close();
    // Later commits of this process need a hundredth of the memory of a merge.
    dropEncodingMemory();
  }
}

/** The files of a merged table; `reused` are those that were alone in their folder. */
interface MergedTable {
  readonly merged: readonly MergedFile[];
  readonly reused: readonly TableFile[];
}

async function mergeTable({ database, folder, entries, localFolder }: Merging, table: TableDef): Promise<MergedTable> {
  const own = entries.map((entry) => ({ ...entry, tables: pick(entry, table.name) }));
  const { joined, alone: reused } = splitFiles(own);
  const merged: MergedFile[] = [];
  for (const [place, sources] of joined) {
    const stagedPath = join(folder, `${place.replaceAll('/', '-')}.parquet`);
    const warehouse = await localFolder(sources);
    await mergeFiles({ database, warehouse, table, files: sources, folder, path: stagedPath });
    merged.push({ place, stagedPath, sources });
  }
  return { merged, reused };
}

async function describeTable(
  { database, id, span, entries, localFolder }: Merging,
  table: TableDef,
  { merged, reused }: MergedTable,
): Promise<StagedTable> {
  const { query } = await database.connect();
  const parts = entries.flatMap((entry) => entry.tables[table.name] ?? []);
  const owners = new Map(
    entries.flatMap((entry) => (entry.tables[table.name]?.files ?? []).map((file) => [file, entry] as const)),
  );
  const copiedFrom = (sources: readonly TableFile[]): CopiedRows =>
    addSources(
      sources.flatMap((file) => {
        const owner = owners.get(file);
        return owner === undefined ? [] : [sourcesOf(owner, file)];
      }),
    );
  const files: StagedFile[] = [];
  for (const file of merged) {
    const warehouse = await localFolder(file.sources);
    const { rows, bounds } = await proveMerge({ query, warehouse, table, span, merged: file });
    const { place, stagedPath, sources } = file;
    const bytes = (await statIfAny(stagedPath))?.size ?? 0;
    const path = `${place}/${span.from}-${span.to}-${id}.parquet`;
    const sha256 = await hashFile(stagedPath);
    files.push({ stagedPath, path, rows, bytes, sha256, bounds, copied: copiedFrom(sources) });
  }
  const evidence = addEvidence(parts, table);
  const found = [...files, ...reused].reduce((total, { rows }) => total + rows, 0);
  if (found !== evidence.rows) throw differs({ warehouse: await localFolder([]), table, span });
  return {
    ...{ schema: schemaOf(table).id, isSorted: true, ...evidence, files },
    reused: reused.map((file) => ({ ...file, copied: copiedFrom([file]) })),
  };
}

function pick({ tables }: LedgerEntry, name: string): LedgerEntry['tables'] {
  const own = tables[name];
  return own === undefined ? {} : { [name]: own };
}
