import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TableDef } from '../../src/declare/table.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { readFooter } from '../../src/parquet/read-footer.ts';
import { loadZstd } from '../../src/parquet/zstd.ts';

const { compress: zstd, decompress: unzstd } = await loadZstd();
let copies = 0;

/** A file with the row groups of others. */
export function copied(table: TableDef, paths: readonly string[], isSorted = false): string {
  const path = join(dirname(paths[0] ?? ''), `copied-${copies++}.parquet`);
  const writer = new FileWriter(path, table, zstd);
  for (const source of paths) {
    const file = readFileSync(source);
    for (const group of readFooter(file, table.columns) ?? []) writer.copy({ file, group }, isSorted, unzstd);
  }
  writer.finish();
  return path;
}
