import * as core from '@ton/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyCallsIn } from '../../src/bodies/body-calls.ts';
import { Mismatch, Slice } from '../../src/bodies/cell-slice.ts';
import { byOpcode, decodeBody } from '../../src/bodies/decode-body.ts';
import { parseLayout } from '../../src/bodies/layout.ts';
import { namedLayouts } from '../../src/bodies/layouts.ts';
import { readFields, type Values } from '../../src/bodies/read-fields.ts';
import { bagOfRest, writeBag } from '../../src/bodies/write-bag.ts';
import { type Bag, readBag } from '../../src/proof/bag-of-cells.ts';
import { Database } from '../../src/sql/database.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox } from '../marts/support.ts';

/** 100,000 and more: `npm run test:mutations`. */
const MUTATIONS = Number(process.env['MUTATIONS'] ?? 2_000);

const shipped = [...namedLayouts().values()];
const opcodes = byOpcode(shipped);

/** A cell of these bits, as hex digits, and children. */
function cellOf(hex: string, refs: readonly number[] = [], bits = hex.length * 4) {
  const data = Buffer.from(hex.length % 2 === 0 ? hex : `${hex}0`, 'hex');
  return { bits, data, refs, flags: 0, hash: new Uint8Array(32), depth: 0 };
}

const ADDRESS = '1122334455667788112233445566778811223344556677881122334455667788';
/** `addr_std` of workchain 0 and its bits as text. */
const addressBits = `100${'0'.repeat(8)}${[...Buffer.from(ADDRESS, 'hex')].map((byte) => byte.toString(2).padStart(8, '0')).join('')}`;

/** A bag of one cell with these bits and children. */
function bagOf(bits: string, children: readonly string[] = []): Buffer {
  const toCell = (text: string, refs: readonly number[]) => {
    const hex = [...text.padEnd(Math.ceil(text.length / 8) * 8, '0').matchAll(/.{8}/g)].map(([byte]) =>
      Number.parseInt(byte, 2).toString(16).padStart(2, '0'),
    );
    return cellOf(hex.join(''), refs, text.length);
  };
  const cells = [
    toCell(
      bits,
      children.map((_each, at) => at + 1),
    ),
    ...children.map((child) => toCell(child, [])),
  ];
  return writeBag(cells, cells[0] ?? cellOf(''));
}

function read(layout: string, body: Uint8Array): Values {
  const bag = readBag(body);
  if (typeof bag === 'string') throw new Mismatch(bag);
  return readFields(new Slice(bag), parseLayout(layout));
}

const bits = (value: bigint | number, count: number): string => BigInt(value).toString(2).padStart(count, '0');

describe('a layout reads', () => {
  test.each<[string, string, unknown]>([
    ['x uint3, y int5', `${bits(5, 3)}${bits(31, 5)}`, { x: 5n, y: -1n }],
    ['x uint64', bits(2n ** 64n - 1n, 64), { x: 2n ** 64n - 1n }],
    ['a coins, b coins', `${bits(2, 4)}${bits(1000, 16)}${bits(0, 4)}`, { a: 1000n, b: 0n }],
    ['f bool, to address, none address', `1${addressBits}00`, { f: true, to: `0:${ADDRESS}`, none: null }],
    ['a address, b address', `01${bits(4, 9)}000101${bits(8, 9)}00000001`, { a: ':1', b: ':01' }],
    ['a address, b address', `01${bits(0, 9)}01${bits(6, 9)}101101`, { a: ':', b: ':B6_' }],
    ['x maybe(uint8), y maybe(uint8)', `0${1}${bits(7, 8)}`, { x: null, y: 7n }],
    ['k bits12', '111100001010', { k: 'F0A' }],
    ['t text', bits(0x4869, 16), { t: 'Hi' }],
    ['op uint8 = 0x0f', bits(15, 8), { op: 15n }],
    ['a uint3, b bits256', `101${bits(BigInt(`0x${ADDRESS}`), 256)}`, { a: 5n, b: ADDRESS }],
  ])('%s', (layout, text, expected) => {
    expect(read(layout, bagOf(text))).toEqual(expected);
  });

  test('cells that the body refers to, as bags or by a layout of their own', () => {
    const body = bagOf('1', [bits(258, 16)]);
    expect(read('x maybe_ref(a uint8, b uint8)', body)).toEqual({ x: { a: 1n, b: 2n } });
    const { x } = read('x maybe_ref', body);
    expect(read('n uint16', bagOfRest(x as Slice))).toEqual({ n: 258n });
    expect(read('x either(a uint8)', bagOf(`0${bits(9, 8)}`))).toEqual({ x: { a: 9n } });
    expect(read('a uint3, x rest', bagOf(`101${bits(77, 11)}`))).toMatchObject({ a: 5n });
    expect(read('n uint11', bagOfRest(read('a uint3, x rest', bagOf(`101${bits(77, 11)}`))['x'] as Slice))).toEqual({
      n: 77n,
    });
  });

  test('special cells, which keep their hash', () => {
    const library = core.beginCell().storeUint(2, 8).storeUint(123_456n, 256).endCell({ exotic: true });
    const tree = core.Dictionary.empty(core.Dictionary.Keys.Uint(32), core.Dictionary.Values.Uint(64));
    for (let key = 0; key < 10; key++) tree.set(key, key);
    const proof = tree.generateMerkleProof([3]);
    const body = core
      .beginCell()
      .storeUint(7, 32)
      .storeRef(library)
      .storeRef(core.beginCell().storeRef(proof))
      .endCell();
    const { code, rest } = read('op uint32, code ref, rest rest', body.toBoc());
    const hashOf = (value: unknown): string =>
      core.Cell.fromBoc(bagOfRest(value as Slice))[0]
        ?.hash()
        .toString('hex') ?? '';
    expect(hashOf(code)).toBe(library.hash().toString('hex'));
    expect(hashOf(rest)).toBe(
      core.beginCell().storeRef(core.beginCell().storeRef(proof)).endCell().hash().toString('hex'),
    );
    // What is left of a special cell after its type is an ordinary one.
    const { tail } = read('type uint8, tail rest', library.toBoc());
    expect(hashOf(tail)).toBe(core.beginCell().storeUint(123_456n, 256).endCell().hash().toString('hex'));
    const inner = read('type uint8, hash bits256, depth uint16, tree rest', proof.toBoc());
    expect(inner['hash']).toBe(proof.refs[0]?.hash(0).toString('hex').toUpperCase());
    expect(hashOf(inner['tree'])).toBe(
      core
        .beginCell()
        .storeRef(proof.refs[0] as core.Cell)
        .endCell()
        .hash()
        .toString('hex'),
    );
    expect(decodeBody(library.toBoc(), opcodes)).toBeUndefined();
    expect(() => read('t snake', library.toBoc())).toThrow('expected text, got a special cell');
  });

  test('the claim of a jetton, with a Merkle proof as its payload', () => {
    const tree = core.Dictionary.empty(core.Dictionary.Keys.Uint(32), core.Dictionary.Values.Uint(64));
    for (let key = 0; key < 10; key++) tree.set(key, key);
    const claim = core
      .beginCell()
      .storeUint(0x0df602d6, 32)
      .storeRef(tree.generateMerkleProof([3]))
      .endCell();
    const start = core.beginCell().storeUint(0x0f8a7ea5, 32).storeUint(1, 64).storeCoins(5).storeAddress(null);
    const body = start.storeAddress(null).storeMaybeRef(claim).storeCoins(0).storeBit(0).endCell();
    const decoded = decodeBody(body.toBoc(), opcodes) as Readonly<Record<string, string>>;
    expect(decoded).toMatchObject({ '@type': 'jetton_transfer', amount: '5' });
    expect(core.Cell.fromBase64(decoded['custom_payload'] ?? '').equals(claim)).toBe(true);
  });

  test('text over a chain of cells', () => {
    expect(read('op uint32, t snake', bagOf(`${bits(0, 32)}${bits(0x48, 8)}`, [bits(0x69, 8)]))).toEqual({
      op: 0n,
      t: 'Hi',
    });
  });

  test('any number and length that was written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 256 }),
        fc.integer({ min: 0, max: 40 }),
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        (size, before, raw) => {
          const value = raw & (2n ** BigInt(size) - 1n);
          const body = bagOf(`${'1'.repeat(before)}${bits(value, size)}`);
          const layout = before === 0 ? `v uint${size}` : `p bits${before}, v uint${size}`;
          expect(read(layout, body)['v']).toBe(value);
        },
      ),
    );
  });

  test.each([
    ['x uint8', '101', 'expected 8 bits, got 3'],
    ['x ref', '1', 'expected a reference, got none'],
    ['op uint8 = 7', bits(6, 8), 'expected op 7, got 6'],
    ['t text', '101', 'expected whole bytes of text, got 3 bits'],
    ['t text', bits(0xff, 8), 'expected text in UTF-8'],
    ['a address', `101${'0'.repeat(300)}`, 'expected an address, got one with anycast'],
  ])('%s, and says why %s does not match', (layout, text, reason) => {
    expect(() => read(layout, bagOf(text))).toThrow(reason);
  });
});

describe('a layout with a mistake is refused with its place', () => {
  test.each([
    ['op uint33x', 'expected uintN, intN, bitsN', 'line 1, column 4'],
    ['op uint32, op uint8', 'expected a name that is not used yet', 'line 1, column 15'],
    ['op uint32,\n  x', 'expected a type, got the end', 'line 2, column 4'],
    ['op uint0', 'expected 1 to 257 bits', 'line 1, column 4'],
    ['t text, x uint8', 'expected the end after text', 'line 1, column 7'],
    ['x ref(a uint8', 'expected ), got the end', 'line 1, column 14'],
    ['op uint32 = x', 'expected a number, got x', 'line 1, column 13'],
  ])('%s', (layout, expected, place) => {
    expect(() => parseLayout(layout)).toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(expected) }),
    );
    expect(() => parseLayout(layout)).toThrow(place);
  });
});

describe('functions of SQL', () => {
  async function answer(sql: string): Promise<readonly unknown[]> {
    const database = await Database.open(':memory:');
    try {
      const calls = bodyCallsIn(sql);
      await database.define(calls.functions);
      const { rows } = await database.query(calls.sql);
      return rows.flat().map((value) => (value === null ? null : String(value)));
    } finally {
      database.close();
    }
  }

  const hex = (body: Buffer): string => `from_hex('${body.toString('hex')}')`;
  const transfer = bagOf(
    `${bits(0x0f8a7ea5, 32)}${bits(7, 64)}${bits(1, 4)}${bits(200, 8)}${addressBits}000${bits(0, 4)}0`,
  );

  test('give a struct with types that the layout has', async () => {
    const layout = "'op uint32, query_id uint64, amount coins, to address'";
    expect(
      await answer(
        `SELECT parse_boc(b, ${layout}).amount, typeof(parse_boc(b, ${layout})) FROM (SELECT ${hex(transfer)} AS b)`,
      ),
    ).toEqual([...['200', 'STRUCT(op BIGINT, query_id DECIMAL(20,0), amount DECIMAL(38,0), "to" VARCHAR)']]);
    expect(await answer(`SELECT parse_boc(${hex(transfer)}, 'jetton_transfer').destination`)).toEqual([`0:${ADDRESS}`]);
  });

  test('give null or the reason for what does not match', async () => {
    expect(await answer(`SELECT parse_boc('no bag'::BLOB, 'op uint32'), parse_boc(NULL, 'op uint32')`)).toEqual([
      null,
      null,
    ]);
    expect(
      await answer(
        `SELECT parse_boc_or_error('no bag'::BLOB, 'op uint32').error, parse_boc_or_error(${hex(transfer)}, 'op uint32 = 1').error`,
      ),
    ).toEqual([...['no bag of cells: header', 'expected op 1, got 260734629']]);
  });

  test.each<[string, readonly string[]]>([
    ["parse_boc(b, 'op uint32').op FROM t", ["parse_boc(b, 'op uint32').op"]],
    ['decode_body(b), op FROM t', ['decode_body(b)', 'op']],
    ["DISTINCT decode_body(b)->>'$.x' -- why\nFROM t", ["decode_body(b)->>'$.x'"]],
    ['op, upper(decode_body( b ))   FROM t ORDER BY op', ['op', 'upper(decode_body( b ))']],
    ['op IS DISTINCT FROM decode_body(b)::VARCHAR FROM t', ['op IS DISTINCT FROM decode_body(b)::VARCHAR']],
    [
      'CASE WHEN op IS NULL THEN decode_body(b) END FROM t UNION ALL SELECT NULL',
      ['CASE WHEN op IS NULL THEN decode_body(b) END'],
    ],
    ["decode_body(b) AS a, decode_body(b) b2, c: decode_body(b), decode_body(b) AS 'd' FROM t", ['a', 'b2', 'c', 'd']],
    ["{'a': decode_body(b), 'b': 1} FROM t", ["{'a': decode_body(b), 'b': 1}"]],
    ['decode_body(b) größe, decode_body(b) AS ёж, decode_body(b) 🐢 FROM t', ['größe', 'ёж', '🐢']],
    ['decode_body(b) = op, decode_body(b) LIKE op FROM t', ['decode_body(b) = op', 'decode_body(b) LIKE op']],
    ["unnest(parse_boc(b, 'op uint32, x uint8')) FROM t", ['op', 'x']],
    ['* REPLACE (decode_body(b) AS op) FROM t', ['op', 'b']],
    ['(SELECT decode_body(b)) FROM t GROUP BY ALL', ['(SELECT decode_body(b))']],
    ['opcode_of(b), FROM t', ['opcode_of(b)']],
  ])('have the names that they are called by: SELECT %s', async (list, names) => {
    const { sql, functions } = bodyCallsIn(`WITH t AS (SELECT NULL::VARCHAR AS op, NULL::BLOB AS b) SELECT ${list}`);
    const database = await Database.open();
    try {
      await database.define(functions);
      expect((await database.query(sql)).columns.map(({ name }) => name)).toEqual(names);
    } finally {
      database.close();
    }
  });

  test('decode a body by its opcode, and what it carries', async () => {
    const [json] = await answer(`SELECT decode_body(${hex(transfer)})`);
    expect(JSON.parse(String(json))).toEqual({
      ...{
        '@type': 'jetton_transfer',
        query_id: '7',
        amount: '200',
        destination: `0:${ADDRESS}`,
        response_destination: null,
      },
      ...{ custom_payload: null, forward_ton_amount: '0', forward_payload: { '@type': 'empty_cell' } },
    });
    expect(
      await answer(
        `SELECT opcode_of(${hex(transfer)}), boc_depth(${hex(transfer)}), length(boc_hash(${hex(transfer)}))`,
      ),
    ).toEqual(['260734629', '0', '44']);
    expect(
      await answer(
        `SELECT boc_to_text(${hex(bagOf(`${bits(0, 32)}${bits(0x4869, 16)}`))}), opcode_of(${hex(bagOf('1'))})`,
      ),
    ).toEqual(['Hi', null]);
  });

  test('run on one thread of DuckDB, so that others get their turns; those after them on all', async () => {
    const database = await Database.open(':memory:', { threads: '3' });
    const threads = async () => (await database.query("SELECT current_setting('threads')")).rows[0]?.[0];
    const { functions } = bodyCallsIn('SELECT decode_body(b) FROM t');
    for (const defined of [functions, [], [], functions, functions]) {
      await database.define(defined);
      expect(await threads()).toBe(defined.length > 0 ? 1n : 3n);
    }
    database.close();
  });

  test('take a layout as text alone', async () => {
    await expect(answer('SELECT parse_boc(b, l) FROM t')).rejects.toThrow(
      'usage: expected a layout as text, got none in parse_boc',
    );
    await expect(answer("SELECT parse_boc(b, 'jeton_transfer') FROM t")).rejects.toThrow(
      'expected the name of a layout or its fields, got jeton_transfer',
    );
    expect(await answer("SELECT 'parse_boc(b, 1)'")).toEqual(['parse_boc(b, 1)']);
  });

  test('end for any change of a body, in time', () => {
    const comment = bagOf(`${bits(0, 32)}${bits(0x48, 8)}`, [bits(0x69, 8)]);
    const payload = bagOf(`${bits(0x0f8a7ea5, 32)}${'1'.repeat(400)}`, [bits(0x595f07bc, 32), '101']);
    const change = fc.tuple(fc.nat(transfer.length - 1), fc.integer({ min: 1, max: 255 }));
    const changes = fc.array(change, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(transfer, comment, payload), changes, fc.nat(200), (body, changed, length) => {
        const mutated = Buffer.from(body.subarray(0, Math.max(length, body.length >> 1)));
        for (const [at, byte] of changed) mutated[at % mutated.length] = (mutated[at % mutated.length] ?? 0) ^ byte;
        JSON.stringify(decodeBody(mutated, opcodes));
        const bag = readBag(mutated);
        for (const { fields } of typeof bag === 'string' ? [] : shipped) {
          try {
            readFields(new Slice(bag as Bag), fields);
          } catch (error) {
            expect(error).toBeInstanceOf(Mismatch);
          }
        }
      }),
      { seed: 20261126, numRuns: MUTATIONS },
    );
  });

  test('read a body of 10 MB, and none that is too deep', () => {
    const tree = Array.from({ length: 80_000 }, (_, at) =>
      cellOf(
        '00'.repeat(at === 0 ? 4 : 127),
        [1, 2, 3, 4].map((k) => 4 * at + k).filter((to) => to < 80_000),
      ),
    );
    const body = writeBag(tree, tree[0] ?? cellOf(''));
    expect(body.length).toBeGreaterThan(10 * 2 ** 20);
    const { first } = read('op uint32, first ref, second ref, third ref, fourth ref', body);
    expect(bagOfRest(first as Slice).length).toBeGreaterThan(body.length / 5);
    expect(decodeBody(body, opcodes)).toMatchObject({ '@type': 'text_comment' });
    const cells = Array.from({ length: 10_000 }, (_, at) => cellOf('00', at < 9_999 ? [at + 1] : []));
    expect(readBag(writeBag(cells, cells[0] ?? cellOf('')))).toBe('too-deep');
    expect(decodeBody(Buffer.alloc(17 * 2 ** 20), opcodes)).toBeUndefined();
  });

  test('answer over a warehouse as the source decodes its bodies', async () => {
    const warehouse = await exportSandbox('1000:1030', ['transactions']);
    const sql = `select count(*) filter (json_extract_string(decode_body(body_boc), '$.query_id') = json_extract_string(decoded, '$.query_id')) as same,
      count(*) filter (json_extract_string(decoded, '$.query_id') is not null and decoded_opcode in ('jetton_transfer', 'excess', 'nft_transfer')) as told,
      count(*) filter (boc_hash(body_boc) = body_hash) = count(body_boc) as hashes from messages where decoded_opcode in ('jetton_transfer', 'excess', 'nft_transfer')`;
    const { stdout, stderr } = await tonlake(['sql', sql, '-w', warehouse, '--format', 'json']);
    const [row] = JSON.parse(stdout) as { same: number; told: number; hashes: boolean }[];
    expect([row?.same, row?.hashes, stderr]).toEqual([row?.told, true, '']);
    expect(row?.told).toBeGreaterThan(10);
  });
});
