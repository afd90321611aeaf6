import { expect, test } from 'vitest';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import { type Rewrite, draftOf as rewrittenDraft, stageRewrite } from '../../src/warehouse/rewrite-entries.ts';
import type { CommitDraft, CommitPart, LedgerEntry } from '../../src/warehouse/store.ts';
import { parts } from './tables.ts';
import { changedItems, commitItems, countItems, draftOf, freshPath, openTestStore, withStore } from './warehouses.ts';

/** Entry N of the blocks from 10 N to 10 N + 9, which took ten requests. */
const entryOf = (number: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  ...draftOf({ from: number * 10, to: number * 10 + 9 }, { requests: 10, retries: 4, planned: 8 }),
  ...{ format: 1, id: `e${number}`, number, tables: {}, committedAt: '2026-05-01T00:00:00.000Z', ...more },
});

const readOf = (seqno: number, more: Partial<CommitDraft> = {}): CommitPart => ({
  staged: { id: '', tables: {} },
  draft: draftOf({ from: seqno, to: seqno }, more),
});

const rewritten = (rewrite: Pick<Rewrite, 'old' | 'keep'> & Partial<Rewrite>): CommitDraft =>
  rewrittenDraft({ read: [], leftOut: undefined, ...rewrite });

const ALL = [{ from: 10, to: 29 }];

test.each([
  [[undefined, undefined], undefined],
  [['transactions', 'transactions'], 'transactions'],
  [['none', 'none'], 'none'],
  [['contradicted', 'contradicted'], 'contradicted'],
  [['transactions', 'none'], 'none'],
  [['none', 'transactions'], 'none'],
  [[undefined, 'contradicted'], 'contradicted'],
  [['contradicted', undefined], 'contradicted'],
] as const)('an entry in the place of %j is proven as %s', ([first, second], proof) => {
  const old = [entryOf(1, { proof: first }), entryOf(2, { proof: second })];
  expect(rewritten({ old, keep: ALL }).proof).toBe(proof);
  const read = [readOf(15, { proof: second })];
  expect(rewritten({ old: old.slice(0, 1), keep: [{ from: 10, to: 14 }], read }).proof).toBe(proof);
});

test('what the content shows is added up, and unknown if it is unknown of one, or if some blocks left', () => {
  const old = [entryOf(1, { content: { agrees: 5, corrected: 1 } }), entryOf(2, { content: { agrees: 7 } })];
  expect(rewritten({ old, keep: ALL }).content).toEqual({ agrees: 12, corrected: 1 });
  expect(rewritten({ old: [...old, entryOf(3)], keep: [{ from: 10, to: 39 }] }).content).toBeUndefined();
  expect(rewritten({ old, keep: [{ from: 10, to: 28 }] }).content).toBeUndefined();
  expect(rewritten({ old: old.slice(0, 1), keep: [{ from: 10, to: 18 }] }).content).toBeUndefined();
  const read = [readOf(10, { content: { agrees: 2 } })];
  expect(rewritten({ old: old.slice(0, 1), keep: [], read }).content).toEqual({ agrees: 2 });
});

test('made-up hashes stay made up in each part of an entry, and beside rows of which nothing is known', () => {
  const old = [entryOf(1, { content: { 'no-cells': 40 } }), entryOf(2)];
  expect(rewritten({ old: old.slice(0, 1), keep: [{ from: 10, to: 14 }] }).content).toEqual({ 'no-cells': 20 });
  expect(rewritten({ old, keep: ALL }).content).toEqual({ 'no-cells': 40 });
  const few = [entryOf(1, { content: { agrees: 9, 'no-cells': 1 } })];
  expect(rewritten({ old: few, keep: [{ from: 10, to: 11 }] }).content).toEqual({ 'no-cells': 1 });
  const read = [readOf(15, { content: { 'no-cells': 3 } })];
  expect(rewritten({ old: [entryOf(1)], keep: [{ from: 10, to: 14 }], read }).content).toEqual({ 'no-cells': 3 });
  expect(rewritten({ old: few, keep: [], read: [readOf(15)] }).content).toBeUndefined();
});

test('requests of kept blocks are their share of those before, and those of read blocks are added', () => {
  const old = [entryOf(1), entryOf(2)];
  expect(rewritten({ old, keep: ALL })).toMatchObject({ requests: 20, retries: 8, planned: 16 });
  expect(rewritten({ old, keep: [{ from: 10, to: 14 }] })).toMatchObject({ requests: 5, retries: 2, planned: 4 });
  const read = [readOf(15, { requests: 3, retries: 1, planned: 2 })];
  expect(rewritten({ old, keep: [{ from: 10, to: 14 }], read })).toMatchObject({ requests: 8, retries: 3, planned: 6 });
  expect(rewritten({ old, keep: [], read })).toMatchObject({ requests: 3, retries: 1, planned: 2 });
  expect(rewritten({ old, keep: ALL, read: [readOf(15)] }).planned).toBeUndefined();
});

test('keys without a row are counted if one of the sources counted them', () => {
  expect(rewritten({ old: [entryOf(1), entryOf(2, { unknownKeys: 3 })], keep: ALL }).unknownKeys).toBe(3);
  expect(rewritten({ old: [entryOf(1), entryOf(2)], keep: ALL }).unknownKeys).toBeUndefined();
});

test('only an entry of copied rows alone says of which commits they are', () => {
  const old = [entryOf(1, { copies: 7 }), entryOf(2)];
  expect(rewritten({ old, keep: ALL }).copies).toBe(7);
  expect(rewritten({ old: [entryOf(1), entryOf(2)], keep: ALL }).copies).toBe(2);
  expect(rewritten({ old, keep: [{ from: 10, to: 14 }], read: [readOf(15)] }).copies).toBeUndefined();
});

test('an entry covers the kept and the read blocks, as they were from the first to the last reading', () => {
  const old = [entryOf(1, { asOf: { from: 50, to: 51 } }), entryOf(2, { asOf: { from: 40, to: 45 } })];
  const read = [readOf(25, { asOf: { from: 60, to: 62 }, supersedes: ['e2', 'e9'] })];
  expect(rewritten({ old, keep: [{ from: 10, to: 19 }], read })).toMatchObject({
    ...{
      span: { from: 10, to: 25 },
      spans: [
        { from: 10, to: 19 },
        { from: 25, to: 25 },
      ],
    },
    ...{ asOf: { from: 40, to: 62 }, supersedes: ['e1', 'e2', 'e9'] },
  });
});

test('files of older columns are written again with those that the table has now, others keep their names', async () => {
  const path = freshPath('parquet');
  const entry = await withStore(path, (store) => commitItems(store, 1, 10));
  const newer = changedItems((columns) =>
    columns.flatMap((column) => (column.name === 'comment' ? [column, { ...column, name: 'added' }] : [column])),
  );
  const tables = [newer, parts];
  const store = await openTestStore(path, { tables });
  const pipeline = { name: 'items', tables, walk: { kind: 'snapshot' } } as unknown as PipelineDef;
  const rewritten = await stageRewrite({ store, tables }, { pipeline, old: [entry], keep: [entry.span], read: [] });
  const [{ tables: own } = entry] = await store.commitTogether(rewritten);
  expect(own['items']?.schema).toBe(schemaOf(newer).id);
  const pathsOf = (name: string) =>
    [entry.tables, own].map((tables) => tables[name]?.files.map(({ path }) => path).join());
  const [[itemsBefore, itemsAfter], [partsBefore, partsAfter]] = [pathsOf('items'), pathsOf('parts')];
  expect(itemsAfter).not.toBe(itemsBefore);
  expect(partsAfter).toBe(partsBefore);
  expect(await countItems(store)).toEqual({ rows: 10, distinct: 10, parts: 20 });
  const { rows } = await store.query('SELECT count(comment), count(added) FROM items');
  expect(rows).toEqual([[7n, 0n]]);
});
