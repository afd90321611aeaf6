import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { declaredEndpoint } from '../../src/api/endpoints.ts';
import { fixedColumns, narrowPipeline, WHOLE } from '../../src/declare/left-out.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { LeftOut } from '../../src/declare/table.ts';
import type { Row } from '../../tools/object-decoder.ts';
import { recordedAnswer } from '../client/recorded.ts';
import { read } from './reading.ts';

const { pipelines } = await loadRegistry();

function bodyOf({ endpoint }: PipelineDef): unknown {
  return JSON.parse(recordedAnswer(declaredEndpoint(endpoint)));
}

/** The answer with a new field in every object below the records, as a newer server might send. */
function withNews(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((each) => withNews(each, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const inside = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNews(each, depth + 1)]));
  return depth < 2 ? inside : { ...inside, zz_new: { of: depth } };
}

function anyLeftOut(pipeline: PipelineDef): fc.Arbitrary<LeftOut> {
  const optional = pipeline.tables.filter(({ rows }) => rows.kind !== 'records').map(({ name }) => name);
  const columns = (without: readonly string[]) =>
    fc.record(
      Object.fromEntries(
        pipeline.tables.map((table) => {
          const whole = Object.fromEntries(without.map((name) => [name, [WHOLE]]));
          const fixed = fixedColumns(pipeline, table, whole);
          const free = table.columns.map(({ name }) => name).filter((name) => !fixed.has(name));
          return [table.name, without.includes(table.name) ? fc.constant([WHOLE]) : fc.subarray(free)];
        }),
      ),
    );
  return fc.subarray(optional).chain(columns);
}

function projection(rows: readonly Row[] | undefined, columns: readonly string[]): readonly Row[] {
  return (rows ?? []).map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
}

describe('a decoder without some columns', () => {
  test.each(pipelines.map((pipeline) => ({ name: pipeline.name, pipeline })))(
    '$name: gives the same values in the others, and unknown fields as before',
    ({ pipeline }) => {
      const plain = bodyOf(pipeline);
      const pages = [plain, withNews(plain)].map((page) => Buffer.from(JSON.stringify(page)));
      for (const page of pages) {
        const whole = read(pipeline, page);
        if (whole.refused.length > 0) continue;
        fc.assert(
          fc.property(anyLeftOut(pipeline), (leftOut) => {
            const narrow = narrowPipeline(pipeline, leftOut);
            const { tables, refused } = read(narrow, page);
            expect(refused).toEqual([]);
            expect(Object.keys(tables)).toEqual(narrow.tables.map(({ name }) => name));
            for (const { name, columns } of narrow.tables) {
              const names = columns.map((column) => column.name);
              expect(tables[name]).toEqual(projection(whole.tables[name], names));
            }
          }),
          { seed: 41, numRuns: 20 },
        );
      }
    },
  );

  test('does not look at the values of columns that are left out', () => {
    const page = bodyOf(transactions) as { transactions: Record<string, unknown>[] };
    for (const record of page.transactions) record['total_fees'] = 'no number';
    const text = JSON.stringify(page);
    expect(read(transactions, text).refused).toHaveLength(page.transactions.length);
    expect(read(narrowPipeline(transactions, { transactions: ['total_fees'] }), text).refused).toEqual([]);
  });
});
