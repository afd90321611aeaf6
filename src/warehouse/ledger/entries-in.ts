import { groupBy } from '../../core/group-by.ts';
import { oncePer } from '../../core/once-per.ts';
import { haveCommon, type Span } from '../../core/span.ts';
import { blockColumn } from '../../declare/block-column.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { dateIn } from '../file-layout.ts';
import type { LedgerEntry, TableEntry, TableFile } from '../store.ts';
import { spansOf } from './done-spans.ts';

/**
 * The entries of a pipeline that cover some of these blocks, with only those files of a table that can have rows of them: a query reads the
 * footer of every other file for nothing, one request each in a bucket.
 */
export function entriesIn(
  ledger: readonly LedgerEntry[],
  { pipeline, table }: { readonly pipeline: PipelineDef; readonly table: TableDef },
  spans: readonly Span[],
): readonly LedgerEntry[] {
  const column = blockColumn(pipeline, table);
  return ledger
    .filter((entry) => entry.pipeline === pipeline.name && haveCommon(spansOf(entry), spans))
    .map((entry) =>
      withFiles(entry, table, (file) => {
        const blocks = blocksOf(file, column);
        return blocks === undefined || haveCommon([blocks], spans);
      }),
    );
}

interface WithFiles<File> {
  readonly tables: Readonly<Record<string, { readonly files: readonly File[] }>>;
}

/** The data files of entries, or of what is staged. */
export function filesIn<File>(entries: readonly WithFiles<File>[]): readonly File[] {
  return entries.flatMap(({ tables }) => Object.values(tables).flatMap(({ files }) => files));
}

/** The files of a table of an entry by the UTC day of their rows; undefined for rows without a day. Cached, because each check needs each day. */
export const filesByDay = oncePer(
  ({ files }: Pick<TableEntry, 'files'>): ReadonlyMap<string | undefined, readonly TableFile[]> =>
    groupBy(files, ({ path }) => dateIn(path)),
);

/** The blocks from the first to the last row of a file, by its bounds; undefined if unknown. */
export function blocksOf({ bounds }: Pick<TableFile, 'bounds'>, column: string | undefined): Span | undefined {
  const [from, to, nulls] = bounds[column ?? ''] ?? [];
  return typeof from === 'string' && typeof to === 'string' && nulls === 0
    ? { from: Number(from), to: Number(to) }
    : undefined;
}

/** An entry with some of the files of a table. */
export function withFiles(
  entry: LedgerEntry,
  { name }: Pick<TableDef, 'name'>,
  isWanted: (file: TableFile) => boolean,
): LedgerEntry {
  const own = entry.tables[name];
  if (own === undefined) return entry;
  return { ...entry, tables: { ...entry.tables, [name]: { ...own, files: own.files.filter(isWanted) } } };
}
