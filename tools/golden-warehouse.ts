// Creates the golden warehouses of this release, which later releases must read:
//   npm run -s build && node dist/tools/golden-warehouse.js
// writes test/golden/warehouses/<version>/: a folder of Parquet files, a DuckDB file compressed by Brotli, and contents.json. Run it once
// for each release, with its version in package.json; those of older releases stay as they are.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type ContentHash, contentHash, hashedColumns } from '../src/audit/content-hash.ts';
import { packageFile, readVersion } from '../src/core/own-package.ts';
import type { TableDef } from '../src/declare/table.ts';
import { run } from '../src/export/run.ts';
import { buildMarts } from '../src/marts/build-marts.ts';
import { openReader, type Reader } from '../src/warehouse/index.ts';
import { warehouseRegistry } from '../src/warehouse/query/warehouse-registry.ts';

const FOLDER = packageFile('test/golden/warehouses');
const PIPELINES = ['transactions', 'jetton_transfers', 'account_info'];

/** Content of a table in the columns of the release that wrote it. */
export interface GoldenTable extends ContentHash {
  readonly columns: readonly string[];
}

/** Content hashes of a warehouse, by table and mart. @param of columns to include. Default: all columns of tables with rows */
export async function contentsOf(
  warehouse: string,
  of?: Readonly<Record<string, Pick<GoldenTable, 'columns'>>>,
): Promise<Readonly<Record<string, GoldenTable>>> {
  const { tables } = await warehouseRegistry(warehouse);
  const reader = await openReader(warehouse, tables);
  try {
    const contents: Record<string, GoldenTable> = {};
    for (const table of [...tables, ...(await reader.marts())]) {
      const own = await contentOf(reader, table, of?.[table.name]?.columns);
      if (own.rows > 0) contents[table.name] = own;
    }
    return contents;
  } finally {
    await reader.close();
  }
}

async function contentOf({ query }: Reader, table: TableDef, only?: readonly string[]): Promise<GoldenTable> {
  const hashed = hashedColumns(table).filter(({ name }) => only?.includes(name) !== false);
  const columns = hashed.map(({ name }) => name);
  return { ...(await contentHash(query, { ...table, columns: hashed })), columns };
}

async function makeGolden(): Promise<void> {
  const made = mkdtempSync(join(tmpdir(), 'golden-'));
  const to = join(FOLDER, readVersion());
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const [name, pipelines] of [
    ['w', PIPELINES],
    ['w.duckdb', ['transactions']],
  ] as const) {
    const warehouse = join(made, name);
    // Two commits, the first without a column.
    await run({ pipelines, network: 'sandbox', range: '1', warehouse, withoutColumns: ['messages.body_boc'] });
    await run({ pipelines, network: 'sandbox', range: '2', warehouse });
    await buildMarts(warehouse, { names: ['transactions_daily'] });
  }
  const contents = await contentsOf(join(made, 'w'));
  for (const name of ['tonlake.json', '_ledger', '_declarations', 'tables']) {
    cpSync(join(made, 'w', name), join(to, 'w', name), { recursive: true });
  }
  writeFileSync(join(to, 'w.duckdb.br'), brotliCompressSync(readFileSync(join(made, 'w.duckdb'))));
  writeFileSync(join(to, 'contents.json'), `${JSON.stringify(contents, null, 2)}\n`);
  rmSync(made, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeGolden();
