import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { goldenCases, hasShared, sharedFixtures } from '../fixtures.ts';
import { asTexts, DuckReading } from './duckdb.ts';
import { read } from './reading.ts';

const blockEndpoints = ['blocks', 'masterchainBlockShards', 'masterchainBlockShardState'];
const transactionEndpoints = [
  'transactions',
  'transactionsByMasterchainBlock',
  'adjacentTransactions',
  'transactionsByMessage',
];
const pathOf = (folder: URL) => new URL('answer.json', folder).pathname;

const duckdb = await DuckReading.open();
afterAll(() => duckdb.close());

async function agree(pipeline: PipelineDef, path: string): Promise<number> {
  const { tables, refused } = read(pipeline, readFileSync(path));
  expect(refused).toEqual([]);
  for (const table of pipeline.tables) {
    const ours = tables[table.name] ?? [];
    const theirs = await duckdb.rows(pipeline, table, path);
    // `_extra` is for what DuckDB's select does not ask for.
    const without = ours.map((row) => ({ ...row, _extra: null }));
    expect(asTexts(table, without)).toEqual(asTexts(table, theirs));
  }
  const records = tables[pipeline.name]?.length ?? 0;
  expect(records).toBe(JSON.parse(readFileSync(path, 'utf8'))[pipeline.name].length);
  return records;
}

describe.each([blocks, transactions])('the answers of a genuine server, kept for $name', (pipeline) => {
  it.each(goldenCases(pipeline.name))(
    "$name: DuckDB's own JSON reading gives the same value for every column",
    async ({ folder }) => {
      expect(await agree(pipeline, pathOf(folder))).toBeGreaterThan(0);
    },
  );
});

describe.skipIf(!hasShared)('the recorded answers in ../shared/fixtures', () => {
  const cases = [
    ...sharedFixtures(blockEndpoints).map((fixture) => ({ ...fixture, pipeline: blocks })),
    ...sharedFixtures(transactionEndpoints).map((fixture) => ({ ...fixture, pipeline: transactions })),
  ];

  it.each(cases)(
    "$name: DuckDB's own JSON reading gives the same value for every column",
    async ({ path, pipeline }) => {
      await agree(pipeline, path);
    },
  );

  it('hold the credit above the signed range that servers of 2024 sent', () => {
    const [fixture] = sharedFixtures(['transactions']).filter(({ name }) => name.includes('cordialsys__crosschain__1'));
    const rows = read(transactions, readFileSync(fixture?.path ?? '')).tables['transactions'] ?? [];
    expect(rows.map((row) => row['credit'])).toContain(16298225961743024383n);
  });
});
