import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { contentsOf } from '../../tools/golden-warehouse.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

/** Warehouses of each release, made by tools/golden-warehouse.ts. */
const GOLDEN = fileURLToPath(new URL('../golden/warehouses/', import.meta.url));

test.each(readdirSync(GOLDEN))(
  'warehouses of release %s have all their rows, verify, and can be merged',
  async (release) => {
    const contents = JSON.parse(readFileSync(join(GOLDEN, release, 'contents.json'), 'utf8'));
    const folder = freshFolder();
    const [parquet, duckdb] = [join(folder, 'w'), join(folder, 'w.duckdb')];
    cpSync(join(GOLDEN, release, 'w'), parquet, { recursive: true });
    writeFileSync(duckdb, brotliDecompressSync(readFileSync(join(GOLDEN, release, 'w.duckdb.br'))));
    const own = ['blocks', 'transactions', 'messages', 'account_states', 'transactions_daily'];
    const some = Object.fromEntries(own.map((name) => [name, contents[name]]));

    expect(Object.keys(contents)).toEqual(expect.arrayContaining([...own, 'jetton_transfers', 'account_info']));
    expect(await contentsOf(parquet, contents)).toEqual(contents);
    expect(await contentsOf(duckdb, contents)).toEqual(some);
    for (const warehouse of [parquet, duckdb]) {
      expect(await tonlake(['verify', '--warehouse', warehouse])).toMatchObject({ code: 0 });
    }
    expect(await tonlake(['compact', '--warehouse', parquet])).toMatchObject({ code: 0 });
    expect(await contentsOf(parquet, contents)).toEqual(contents);
  },
);
