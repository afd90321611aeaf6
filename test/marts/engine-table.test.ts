import { expect, test } from 'vitest';
import { readEngineTable } from './engine-table.ts';
import { marts } from './support.ts';

test('docs/lake.md tells of each mart whether its select gives the same rows in other engines', () => {
  const told = readEngineTable();
  expect([...told.keys()]).toEqual(marts.map(({ name }) => name).sort());
  for (const { spark, ...clickhouse } of told.values()) {
    // test/spark compares all of them.
    expect(spark).toBe('same rows');
    for (const outcome of Object.values(clickhouse)) expect(['same rows', 'other rows', 'refused']).toContain(outcome);
  }
});
