import { int32, masterchain, pipeline, table, text } from 'tonlake/pipeline';
import { describe, expect, it } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { DecodeError } from '../../src/core/errors.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { explainRefusal } from '../../src/decode/explain-refusal.ts';
import type { BytesColumn, WordsColumn } from '../../src/decode/typed-columns.ts';
import { readAnswer } from '../fixtures.ts';
import { read, tablesOf } from './reading.ts';
import { things } from './things.ts';

const LONG = 'a_key_that_is_much_longer_than_any_vector_of_sixteen_bytes';

const longNames = pipeline({
  name: 'long_names',
  doc: 'Keys that differ far behind their beginning.',
  endpoint: 'GET /rows',
  walk: masterchain({ seqno: 'seqno', proof: 'links', windows: { path: '/rows', column: 'lt', order: 'ties' } }),
  tables: [
    table('long_names', {
      grain: 'a row',
      rows: { kind: 'records', path: '/rows' },
      key: ['one'],
      sort: ['one'],
      columns: {
        one: text(`/${LONG}_1`, 'first').nullable(),
        two: text(`/${LONG}_2`, 'second').nullable(),
        sixteen: int32('/thirteen_long', 'a key of 16 bytes with its quotes and colon').nullable(),
      },
    }),
  ],
});

it('keys are told apart by their last letter, however long they are', () => {
  const page = JSON.stringify({
    rows: [
      { [`${LONG}_1`]: 'a', [`${LONG}_2`]: 'b', thirteen_long: 1 },
      { [`${LONG}_2`]: 'c', thirteen_lonf: 2 },
    ],
  });
  const { tables, unknown } = read(longNames, page);
  expect(tables['long_names']).toMatchObject([
    { one: 'a', two: 'b', sixteen: 1n },
    { one: null, two: 'c', sixteen: null },
  ]);
  expect([...unknown]).toEqual([['long_names /thirteen_lonf', 1]]);
});

it('a page that is cut is no JSON, whatever a longer page before it left behind', () => {
  const whole = readAnswer('transactions', 'transactionsByMessage');
  const decoder = new Decoder(transactions);
  const end = whole.toString().trimEnd().length;
  const wrong: number[] = [];
  for (let length = end - 1; length >= 0; length--) {
    try {
      decoder.decode(whole.subarray(0, length));
      wrong.push(length);
    } catch (error) {
      if (!(error instanceof DecodeError) || error.code !== 'not-json') wrong.push(length);
    }
    if (length % 200 === 0) {
      decoder.decode(Buffer.concat([whole, Buffer.alloc(64, 32)]));
      decoder.clear();
    }
  }
  expect(wrong).toEqual([]);
});

it('a text of 10 MB is one value, and a page of 16 MB one page', () => {
  const long = 'é"\\'.repeat(2_500_000);
  const decoder = new Decoder(things);
  decoder.decode(
    Buffer.from(JSON.stringify({ things: [{ id: 1, text: 'before' }, { id: 2, text: long }, { id: 3 }] })),
  );
  const column = decoder.column('text') as BytesColumn;
  expect(column.bytes.toString('utf8', column.offsets[1], column.offsets[2])).toBe(long);
  expect(column.isSet(2)).toBe(false);
});

describe('values of any depth are stored as they came', () => {
  const DEPTH = 100_000;
  const kinds: readonly (readonly [string, (level: number) => string, (level: number) => string])[] = [
    ['arrays', () => '[', () => ']'],
    ['objects', () => '{"a":', () => '}'],
    ['both', (level) => (level % 3 === 0 ? '[0,{"a":[],"b":' : '[{},'), (level) => (level % 3 === 0 ? '},1]' : ',""]')],
  ];
  const nested = (depth: number, open: (level: number) => string, close: (level: number) => string): string => {
    const levels = Array.from({ length: depth }, (_, level) => level);
    return `${levels.map(open).join('')}1${levels.reverse().map(close).join('')}`;
  };

  it.each(kinds)('%s', (_, open, close) => {
    const values = [1, 62, 63, 64, 65, 126, 127, 128, 512, 513, 4_095, DEPTH].map((depth) =>
      nested(depth, open, close),
    );
    const page = `{"things":[${values.map((value, id) => `{"id":${id},"json":${value},"other":${value}}`).join(',')}]}`;
    expect(() => JSON.parse(page) as unknown).not.toThrow();
    const { tables, refused } = read(things, page);
    expect(refused).toEqual([]);
    expect(tables['things']?.map(({ json }) => json === values.shift())).toEqual(new Array(12).fill(true));
  });

  it('and a page that lacks a bracket, or has another, is no JSON', () => {
    const decoder = new Decoder(things);
    for (const [, open, close] of kinds) {
      const value = nested(DEPTH, open, close);
      const middle = value.length - 40_000;
      const other = value.slice(middle).replace(/[\]}]/, (bracket) => (bracket === ']' ? '}' : ']'));
      for (const wrong of [value.slice(0, -1), `${value.slice(0, middle)}${other}`]) {
        const page = Buffer.from(`{"things":[{"id":1,"json":${wrong}}]}`);
        expect(() => decoder.decode(page)).toThrow(expect.objectContaining({ code: 'not-json' }));
      }
    }
  });

  it('and take memory in proportion to the page', () => {
    const decoder = new Decoder(things, 16 * 2 ** 20);
    const page = Buffer.from(`{"things":[{"id":1,"json":${'['.repeat(2 ** 20)}${']'.repeat(2 ** 20)}}]}`);
    for (let round = 0; round < 10; round++) {
      decoder.clear();
      expect(decoder.decode(page).refused).toEqual([]);
    }
  });

  it('and a record that is refused beside one says where', () => {
    const { refused } = read(things, `{"things":[{"json":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)},"id":"x"}]}`);
    expect(refused.map((record) => explainRefusal(things, record))).toEqual([
      {
        pointer: '/things/0/id',
        reason: expect.stringMatching(/^expected .*, got a record that is nested too deep to be shown$/),
      },
    ]);
  });
});

it('a million rows of one span keep their values and their order', () => {
  const decoder = new Decoder(things);
  const pages = 20;
  const rows = 50_000;
  for (let page = 0; page < pages; page++) {
    const records = Array.from({ length: rows }, (_, i) => `{"id":${(i * 7919 + page) % 1_000_003}}`);
    decoder.decode(Buffer.from(`{"things":[${records.join(',')}]}`));
  }
  const all = Int32Array.from({ length: decoder.records }, (_, row) => row);
  expect(all.length).toBe(pages * rows);
  const sorted = decoder.sorted(all);
  const { words } = decoder.column('id') as WordsColumn;
  let inOrder = 0;
  for (let i = 1; i < sorted.length; i++) {
    const [before, row] = [sorted[i - 1] as number, sorted[i] as number];
    const order = (words[before] as number) - (words[row] as number);
    if (order < 0 || (order === 0 && before < row)) inOrder++;
  }
  expect(inOrder).toBe(all.length - 1);
});

it('rows that need more than the memory allowed are a clear error, until they are dropped', () => {
  const decoder = new Decoder(things, 2 ** 20);
  const small = Buffer.from('{"things":[{"id":1,"text":"small"}]}');
  const large = Buffer.from(JSON.stringify({ things: [{ id: 2, text: 'x'.repeat(2 ** 20) }] }));
  decoder.decode(small);
  const tooLarge = expect.objectContaining({
    code: 'too-large',
    message: 'decode things: expected rows and a page of at most 1 MiB together, got more',
  });
  expect(() => decoder.decode(large)).toThrow(tooLarge);
  expect(() => decoder.decode(small)).toThrow(tooLarge);
  expect(() => decoder.batches()).toThrow(tooLarge);
  decoder.clear();
  decoder.decode(small);
  expect(tablesOf(decoder)['things']).toMatchObject([{ id: 1n, text: 'small' }]);
});
