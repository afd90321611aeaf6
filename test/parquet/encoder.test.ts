import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ColumnDef } from '../../src/declare/column.ts';
import { makeVector, type Vector } from '../../src/decode/batch.ts';
import { decodeIndices } from '../../src/parquet/decode-column.ts';
import { ChunkEncoder, Encoder } from '../../src/parquet/encoder.ts';
import { encodings } from '../../src/parquet/page-header.ts';
import { everything } from '../warehouse/tables.ts';

const MB = 2 ** 20;
const FINAL = { isFinal: true, hasFilter: false };

function columnOf(kind: string): ColumnDef {
  const column = everything.columns.find((each) => each.kind === kind);
  if (column === undefined) throw new Error(`expected a column of kind ${kind}`);
  return column;
}

/** Numbers of 32 bits without nulls. */
function numbers(values: Int32Array): Vector {
  const validity = new Uint8Array((values.length + 7) >> 3).fill(255);
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return makeVector({ column: columnOf('int32'), nullCount: 0, validity }, undefined, bytes);
}

function texts(values: readonly string[]): Vector {
  const parts = values.map((value) => Buffer.from(value));
  const offsets = new Int32Array(values.length + 1);
  for (const [at, { length }] of parts.entries()) offsets[at + 1] = (offsets[at] as number) + length;
  const validity = new Uint8Array((values.length + 7) >> 3).fill(255);
  const column = columnOf('text');
  return makeVector({ column, nullCount: 0, validity }, offsets, Buffer.concat([...parts, Buffer.alloc(8)]));
}

test('positions of every width read back, in runs and apart', () => {
  const anyRuns = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.integer({ min: 1, max: 9 }), fc.nat(300))), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 17 }), anyRuns, (bits, runs) => {
      const entries = Int32Array.from({ length: 2 ** bits }, (_, at) => at * 7);
      const chunk = new ChunkEncoder('int32', FINAL);
      const merged = chunk.merge(new Uint8Array(entries.buffer), entries.length);
      expect(merged).toHaveLength(entries.length);
      // To compare so many elements with `toEqual` takes seconds.
      expect(merged?.every((position, at) => position === at)).toBe(true);
      const positions = Int32Array.from(runs.flatMap(([at, count]) => Array(count).fill(at % entries.length)));
      const values = chunk.packPositions(positions);
      expect(values[0]).toBe(Math.max(1, bits));
      const present = positions.length;
      expect(decodeIndices({ values, present }).subarray(0, present)).toEqual(positions);
      chunk.drop();
    }),
  );
});

test('values that are chosen to collide cost a dictionary, not the time', () => {
  // Texts that differ where the hash does not look.
  const distinct = Array.from(
    { length: 15_000 },
    (_, at) => `${'a'.repeat(8)}${String(at).padStart(8, '0')}${'b'.repeat(40)}`,
  );
  const chunk = new ChunkEncoder('utf8', FINAL);
  const { pages } = chunk.encode(texts([...distinct, ...distinct, ...distinct]), 45_000);
  expect(new Set(pages.map(({ encoding }) => encoding))).toEqual(new Set([encodings.plain]));
  chunk.drop();
});

describe('memory', () => {
  const entries = new Uint8Array(Int32Array.from({ length: 200_000 }, (_, at) => at).buffer);

  test('of finished column chunks serves the next ones', () => {
    const encoder = new Encoder(64 * MB);
    let size = 0;
    for (let turn = 0; turn < 100; turn++) {
      const chunks = Array.from({ length: 10 }, () => new ChunkEncoder('int32', { ...FINAL, encoder }));
      for (const [at, chunk] of chunks.entries()) {
        const given = at === turn % 10 ? entries : entries.subarray(0, 40);
        expect(chunk.merge(given, given.length / 4)?.[9]).toBe(9);
      }
      for (const chunk of chunks) {
        chunk.drop();
        // An abandoned file drops what it has finished, too.
        chunk.drop();
      }
      if (turn === 10) size = encoder.bytes.length;
    }
    expect(encoder.bytes.length).toBe(size);
  });

  test('that is not enough is a clear error, also for the chunks beside, and the next instance works', () => {
    const encoder = new Encoder(4 * MB);
    const beside = new ChunkEncoder('int32', { ...FINAL, encoder });
    const large = new ChunkEncoder('utf8', { ...FINAL, encoder });
    const tooLarge = {
      name: 'StoreError',
      code: 'too-large',
      message: 'store: expected columns of at most 4 MiB together, got more',
    };
    expect(() => large.encode(texts(['x'.repeat(5 * MB)]), 1)).toThrow(expect.objectContaining(tooLarge));
    expect(() => beside.encode(numbers(Int32Array.of(1)), 1)).toThrow(expect.objectContaining(tooLarge));
    large.drop();
    beside.drop();
    const next = new ChunkEncoder('int32', FINAL);
    expect(next.encode(numbers(Int32Array.of(1)), 1).pages).toHaveLength(1);
    next.drop();
  });

  test('is enough for texts of ten megabytes', () => {
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(10 * MB));
    const chunk = new ChunkEncoder('utf8', FINAL);
    const { pages, plainBytes } = chunk.encode(texts(long), 3);
    expect(pages.map(({ raw, rows }) => [rows, raw.length])).toEqual([[3, plainBytes]]);
    const [page] = pages;
    expect(Buffer.from(page?.bounds?.max ?? []).equals(Buffer.from(long[2] ?? ''))).toBe(true);
    chunk.drop();
  });
});
