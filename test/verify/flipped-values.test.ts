import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { hashedColumns } from '../../src/audit/content-hash.ts';
import { kinds } from '../../src/declare/kind.ts';
import { run } from '../../src/export/run.ts';
import { columnProofs } from '../../src/proof/column-proofs.ts';
import { quoteName } from '../../src/sql/canonical-text.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { verifyWarehouse } from '../../src/verify/verify.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { chanceOf } from '../row-lies.ts';
import { freshFolder } from '../scratch.ts';

/** Bits flipped in the bytes of the file, each in a copy: TONLAKE_BIT_FLIPS=200 for more. */
const FLIPS = Number(process.env['TONLAKE_BIT_FLIPS'] ?? 2);

const tables = ['transactions', 'messages'].map((name) => {
  const table = transactions.tables.find((each) => each.name === name);
  if (table === undefined) throw new Error(`expected the table ${name}`);
  const proofs = columnProofs(table);
  return { table, covered: table.columns.filter(({ name }) => proofs?.get(name)?.by.includes('hash')) };
});

const { url: network } = await startTestSandbox();
const bring = async (range: string): Promise<string> => {
  const warehouse = join(freshFolder(), 'w.duckdb');
  await run({ pipelines: ['transactions'], network, range, warehouse });
  return warehouse;
};
/** Enough blocks for a value in every column. */
const sound = await bring('1000:1199');
/** Few blocks, for what is about files and lists of findings. */
const small = await bring('1000:1019');

type Rows = readonly (readonly unknown[])[];

/** Runs statements in a DuckDB file, which takes most of the time to open. @returns the rows of each */
async function edit(path: string, ...statements: readonly string[]): Promise<readonly Rows[]> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  const rows: Rows[] = [];
  for (const sql of statements) rows.push((await connection.runAndReadAll(sql)).getRows());
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** SQL for a value with one bit flipped. */
function flipped(name: string, kind: keyof typeof kinds): string {
  switch (kinds[kind].physical) {
    case 'bool':
      return `NOT ${name}`;
    case 'utf8': {
      const at = `(strlen(${name}) // 2)::INTEGER`;
      return `concat(left(${name}, ${at}), chr(xor(ascii(substring(${name}, ${at} + 1, 1)), 1)), substring(${name}, ${at} + 2))`;
    }
    case 'binary': {
      const last = `octet_length(${name}) - 1`;
      return `from_hex(concat(left(hex(${name}), 2 * (${last})::INTEGER), CASE WHEN right(hex(${name}), 2) = 'FF' THEN 'FE' ELSE 'FF' END))`;
    }
    default:
      // DuckDB has no xor for decimals.
      return `CASE WHEN ${name} % 2 = 0 THEN ${name} + 1 ELSE ${name} - 1 END`;
  }
}

interface Damage {
  readonly findings: readonly string[];
  readonly error: unknown;
}

async function verifyDeep(warehouse: string): Promise<Damage> {
  const findings: string[] = [];
  try {
    await verifyWarehouse({
      ...{ warehouse, deep: true },
      onEvent: (event) => event.event === 'finding' && findings.push(`${event.kind} ${event.expected}`),
    });
    return { findings, error: undefined };
  } catch (error) {
    return { findings, error };
  }
}

/** What a hash covers of the stored rows. */
async function coveredRows(warehouse: string): Promise<string> {
  const sums: string[] = [];
  for (const { table, covered } of tables) {
    const own = hashedColumns(table).filter((column) => covered.includes(column));
    const hash = `hash(${own.map(({ name }) => quoteName(name)).join(', ')})`;
    sums.push(String(await query(warehouse, `SELECT count(*), sum(${hash}) FROM ${quoteName(table.name)}`)));
  }
  return sums.join();
}

describe('a DuckDB file, which has no checksums of rows', () => {
  test('whose values are flipped, one for each covered column, has each found with the hash of its transaction', async () => {
    const warehouse = join(freshFolder(), 'w.duckdb');
    copyFileSync(sound, warehouse);
    const used = new Set<unknown>();
    const expected: { readonly column: string; readonly hash: string }[] = [];
    const never: string[] = [];
    const changes: string[] = [];
    for (const { table, covered } of tables) {
      const key = table.name === 'messages' ? 'tx_hash' : 'hash';
      const select = `SELECT ${key}, rowid::BIGINT FROM _rows.${table.name}`;
      const found = await edit(
        warehouse,
        ...covered.map(({ name }) => `${select} WHERE ${quoteName(name)} IS NOT NULL ORDER BY rowid`),
      );
      const candidates = covered.map((def, at) => ({ def, rows: found[at] ?? [] }));
      // Each transaction has one flip; columns with few values choose first.
      for (const { def, rows } of candidates.sort((a, b) => a.rows.length - b.rows.length)) {
        const row = rows.find(([hash]) => !used.has(hash));
        if (row === undefined) {
          never.push(def.name);
          continue;
        }
        const [hash, id] = row;
        used.add(hash);
        const name = quoteName(def.name);
        changes.push(`UPDATE _rows.${table.name} SET ${name} = ${flipped(name, def.kind)} WHERE rowid = ${id}`);
        if (def.name !== 'hash') expected.push({ column: def.name, hash: String(hash) });
      }
    }
    await edit(warehouse, ...changes);
    const { findings } = await verifyDeep(warehouse);
    const content = findings.filter((text) => text.startsWith('content '));
    expect(expected.filter(({ hash }) => !content.some((text) => text.includes(hash)))).toEqual([]);
    expect(content.length).toBe(changes.length);
    // Those of shards that split and merge: test/proof/rare-kinds.test.ts.
    expect(never.filter((name) => !/^(split_info_.*|installed)$/.test(name))).toEqual([]);
  });

  test('whose transactions are all altered, has the first told one by one, and the others together', async () => {
    const warehouse = join(freshFolder(), 'w.duckdb');
    copyFileSync(small, warehouse);
    const [, [[rows] = []] = []] = await edit(
      warehouse,
      'UPDATE _rows.transactions SET total_fees = total_fees + 1',
      'SELECT count(*)::INTEGER FROM _rows.transactions',
    );
    const found: Finding[] = [];
    await verifyWarehouse({
      ...{ warehouse, deep: true },
      onEvent: (event) => void (event.event === 'finding' && event.kind === 'content' && found.push(event)),
    });
    expect(new Set(found.map(({ expected }) => expected)).size).toBe(100);
    expect(found.slice(0, 99).map(({ got }) => got)).toEqual(Array.from({ length: 99 }, () => 'other content'));
    expect(found.slice(99)).toMatchObject([
      { span: { to: 1019 }, got: `other content, and ${Number(rows) - 100} more` },
    ]);
  });

  test('with a flipped bit anywhere is refused, has a finding, or has its rows', async () => {
    const truth = await coveredRows(small);
    const { size } = statSync(small);
    for (let flip = 0; flip < FLIPS; flip++) {
      const warehouse = join(freshFolder(), 'w.duckdb');
      const bytes = readFileSync(small);
      const at = Math.floor(chanceOf(`byte ${flip}`) * size);
      bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(chanceOf(`bit ${flip}`) * 8));
      writeFileSync(warehouse, bytes);
      const { findings, error } = await verifyDeep(warehouse);
      if (error === undefined && findings.length === 0) expect([at, await coveredRows(warehouse)]).toEqual([at, truth]);
    }
  });
});
