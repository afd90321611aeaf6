import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beginCell, Cell as CoreCell, Dictionary } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bag, type Cell, readBag, SPECIAL } from '../../src/proof/bag-of-cells.ts';
import { hasShared, sharedFixtures } from '../fixtures.ts';
import { bagOf, cellOf, type Levels, levelsOf, merkleOf, prunedOf, type Tree } from './merkle-cells.ts';
import { bagHead, type RawCell, rawBag } from './raw-bag.ts';

function rootOf(bag: Bag | string): Cell {
  if (typeof bag === 'string') throw new Error(`refused: ${bag}`);
  return bag.cells[bag.root] as Cell;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The cell of @ton/core with the same content. */
function coreOf({ cells, root }: Bag): CoreCell {
  const made = new Map<number, CoreCell>();
  for (let index = cells.length - 1; index >= root; index--) {
    const { bits, data, refs, flags } = cells[index] as Cell;
    const builder = beginCell();
    for (let bit = 0; bit < bits; bit++) builder.storeBit(((data[bit >> 3] as number) >> (7 - (bit & 7))) & 1);
    for (const ref of refs) builder.storeRef(made.get(ref) as CoreCell);
    made.set(index, builder.endCell({ exotic: (flags & SPECIAL) !== 0 }));
  }
  return made.get(root) as CoreCell;
}

/** The hash of the root, by node:crypto, from what was read. */
function hashOf({ cells, root }: Bag): string {
  const found: Levels[] = [];
  for (let index = cells.length - 1; index >= root; index--) {
    const cell = cells[index] as Cell;
    found[index] = levelsOf(
      cell,
      cell.refs.map((ref) => found[ref] as Levels),
    );
  }
  return hex(found[root]?.hashes[3] ?? Buffer.alloc(0));
}

interface Draft {
  readonly bytes: Uint8Array;
  /** Bits after the bytes. */
  readonly rest: number;
  readonly refs: readonly Draft[];
}
const content = { bytes: fc.uint8Array({ maxLength: 127, size: 'max' }), rest: fc.nat({ max: 7 }) };
const drafts: fc.Arbitrary<Draft> = fc.letrec<{ leaf: Draft; node: Draft; cell: Draft }>((tie) => ({
  leaf: fc.record({ ...content, refs: fc.constant([]) }),
  node: fc.record({ ...content, refs: fc.array(tie('cell'), { minLength: 1, maxLength: 4 }) }),
  cell: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('node')),
})).cell;

function builtOf({ bytes, rest, refs }: Draft): CoreCell {
  const builder = beginCell().storeBuffer(Buffer.from(bytes)).storeUint(0, rest);
  for (const ref of refs) builder.storeRef(builtOf(ref));
  return builder.endCell();
}

describe('a bag of cells', () => {
  it('is read as @ton/core wrote it, with and without index and checksum', () => {
    fc.assert(
      fc.property(drafts, fc.boolean(), fc.boolean(), (draft, idx, crc32) => {
        const core = builtOf(draft);
        const bag = readBag(core.toBoc({ idx, crc32 }));
        expect(hex(rootOf(bag).hash)).toBe(core.hash().toString('hex'));
        expect(rootOf(bag).depth).toBe(core.depth());
        expect(coreOf(bag as Bag).equals(core)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['nothing', new Uint8Array(), 'header'],
    ['another magic number', Buffer.from('b5ee9c7301010100020000', 'hex'), 'header'],
    ['two roots', rawBag([{ data: '00' }, { data: '01' }], { roots: 2 }), 'roots'],
    ['a cell that refers to itself', rawBag([{ data: '00', refs: [0] }]), 'order'],
    ['a reference to no cell', rawBag([{ data: '00', refs: [1] }]), 'order'],
    ['five references', rawBag([{ data: '00', refs: [1, 1, 1, 1, 1] }, { data: '' }]), 'cell'],
    ['a special cell of no type', rawBag([{ data: '05', type: 8 }]), 'exotic-cell'],
    ['a special cell without data', rawBag([{ data: '', type: 8 }]), 'exotic-cell'],
    ['a pruned branch of no level', rawBag([{ data: `0100${'00'.repeat(34)}`, type: 0x08 }]), 'exotic-cell'],
    ['a pruned branch that lacks a depth', rawBag([{ data: `0101${'00'.repeat(33)}`, type: 0x28 }]), 'exotic-cell'],
    ['a pruned branch as deep as none', rawBag([{ data: `0101${'00'.repeat(32)}0401`, type: 0x28 }]), 'too-deep'],
    ['another level than that of its cells', rawBag([{ data: '00', type: 0x20 }]), 'exotic-cell'],
    ['stored hashes', rawBag([{ data: '00', type: 0x10 }]), 'exotic-cell'],
    ['bytes after the last cell', Buffer.concat([rawBag([{ data: '00' }]), Buffer.alloc(1)]), 'header'],
  ])('with %s is refused', (_, bytes, fault) => {
    expect(readBag(bytes)).toBe(fault);
  });

  it('with a reference to a library has the hash of an ordinary cell', () => {
    const library = `02${'ab'.repeat(32)}`;
    const bag = readBag(rawBag([{ data: library, type: 8 }]));
    const expected = createHash('sha256')
      .update(Buffer.from(`0042${library}`, 'hex'))
      .digest('hex');
    // The descriptor of a special cell is part of its hash.
    expect(hex(rootOf(bag).hash)).not.toBe(expected);
    expect(hex(rootOf(bag).hash)).toBe(
      createHash('sha256')
        .update(Buffer.from(`0842${library}`, 'hex'))
        .digest('hex'),
    );
  });
});

/** A number below a limit. */
type Below = (limit: number) => number;

function randomBelow(seed: number): Below {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function randomTree(below: Below, height: number): Tree {
  const refs = Array.from({ length: height === 0 ? 0 : below(4) }, () => randomTree(below, height - 1));
  return cellOf(Buffer.from(Array.from({ length: below(20) }, () => below(256))), refs);
}

/** A copy with some subtrees pruned at a level, inside of Merkle cells at the next. */
function prunedCopy(below: Below, cell: Tree, level: number): Tree {
  if (level > 3 || cell.mask >> (level - 1) > 0) return cell;
  if (below(3) === 0) return prunedOf(cell, level);
  const isMerkle = (cell.flags & SPECIAL) !== 0 && cell.refs.length > 0;
  const refs = cell.refs.map((ref) => prunedCopy(below, ref, level + (isMerkle ? 1 : 0)));
  return cellOf(cell.data, refs, cell.flags);
}

describe('a bag with pruned branches', () => {
  const tree = (entries: number) => {
    const dictionary = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Uint(64));
    for (let key = 0; key < entries; key++) dictionary.set(Math.imul(key, 2_654_435_761) >>> 0, key);
    return dictionary;
  };
  const keyOf = (key: number) => Math.imul(key, 2_654_435_761) >>> 0;

  it.each([1, 2, 10, 200])('has the hash of @ton/core: proofs and updates of a dictionary of %i', (entries) => {
    const dictionary = tree(entries);
    const proof = dictionary.generateMerkleProof([0, entries >> 1].map(keyOf));
    const update = dictionary.generateMerkleUpdate(keyOf(entries - 1), 7);
    const body = beginCell().storeUint(7, 32).storeRef(proof).storeRef(beginCell().storeRef(update)).endCell();
    for (const core of [proof, update, body, ...proof.refs, ...update.refs]) {
      for (const options of [{ idx: false }, { idx: true, crc32: true }]) {
        const bag = readBag(core.toBoc(options));
        expect(hex(rootOf(bag).hash)).toBe(core.hash().toString('hex'));
        expect(rootOf(bag).depth).toBe(core.depth());
        expect(coreOf(bag as Bag).equals(core)).toBe(true);
      }
    }
  });

  it('has the hashes of its levels: proofs in proofs, whose branches are pruned at each level', () => {
    const masks = new Set<number>();
    let readByCore = 0;
    for (let seed = 0; seed < 400; seed++) {
      const below = randomBelow(seed);
      let whole = randomTree(below, 4);
      for (let nested = 1 + below(3); nested > 0; nested--) {
        const pruned = prunedCopy(below, whole, 1);
        // A pruned copy has the hash of the whole at the lowest level, which its Merkle cell has.
        expect(hex(pruned.hashes[0] as Buffer)).toBe(hex(whole.hashes[0] as Buffer));
        const merkle = below(3) === 0 ? merkleOf(pruned, prunedCopy(below, whole, 1)) : merkleOf(pruned);
        whole = below(2) === 0 ? merkle : cellOf(Buffer.from([below(256)]), [merkle, randomTree(below, 2)]);
      }
      const bytes = bagOf(whole);
      const bag = readBag(bytes);
      expect(hex(rootOf(bag).hash)).toBe(hex(whole.hashes[3] as Buffer));
      expect(rootOf(bag).depth).toBe(whole.depths[3]);
      expect(hashOf(bag as Bag)).toBe(hex(whole.hashes[3] as Buffer));
      for (const { flags } of (bag as Bag).cells) masks.add(flags >> 5);
      const [core] = coreReading(bytes);
      if (core === undefined) continue;
      readByCore++;
      expect(hex(rootOf(bag).hash)).toBe(core);
    }
    expect([...masks].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(readByCore).toBeGreaterThan(50);
  });

  it('is refused if a Merkle cell has another hash or depth than its child', () => {
    const proof = merkleOf(prunedOf(cellOf(Buffer.from([1]), []), 1));
    expect(typeof readBag(bagOf(proof))).toBe('object');
    for (const at of [1, 32, 33, 34]) {
      const data = Buffer.from(proof.data);
      data[at] = (data[at] as number) ^ 1;
      expect(readBag(bagOf(cellOf(data, proof.refs, SPECIAL)))).toBe('exotic-cell');
    }
  });

  it('may have 100,000 of them, and leaves the next bag as it is', () => {
    const count = 100_000;
    const pruned: RawCell = { data: `0107${'ab'.repeat(96)}000100020003`, type: 0xe8 };
    const chain = Array.from({ length: count }, (_, index): RawCell => {
      const refs = [1, 2, 3, 4].map((k) => Math.min(4 * index + k, count));
      return { data: '', refs, type: 0xe0 };
    });
    const bag = readBag(rawBag([...chain, pruned]));
    expect(hex(rootOf(bag).hash)).toBe(hashOf(bag as Bag));
    expect(hex(rootOf(readBag(beginCell().endCell().toBoc())).hash)).toBe(beginCell().endCell().hash().toString('hex'));
  });
});

describe('a bag that was made to cost time or memory', () => {
  const chain = (length: number): RawCell[] =>
    Array.from({ length }, (_, index) => ({ data: '', refs: index + 1 < length ? [index + 1] : [] }));

  it('may be 1,024 deep, and not deeper', () => {
    expect(rootOf(readBag(rawBag(chain(1025)))).depth).toBe(1024);
    expect(readBag(rawBag(chain(1026)))).toBe('too-deep');
    expect(readBag(rawBag(chain(10_000)))).toBe('too-deep');
  });

  it('may refer 65,536 times to one cell, which is hashed once', () => {
    const count = 16_384;
    // A heap of cells: each refers to its four children, and those of the last row to the last cell.
    const cells = Array.from({ length: count }, (_, index): RawCell => {
      const refs = [1, 2, 3, 4].map((k) => Math.min(4 * index + k, count));
      return { data: '', refs };
    });
    const bag = readBag(rawBag([...cells, { data: '2a' }]));
    expect(hex(rootOf(bag).hash)).toBe(hashOf(bag as Bag));
  });

  it('may have a chain of 1,024 cells that each refer four times to the next: 4^1024 paths', () => {
    const cells = chain(1025).map(
      ({ data, refs = [] }): RawCell => ({ data, refs: refs.flatMap((ref) => [ref, ref, ref, ref]) }),
    );
    const bag = readBag(rawBag(cells));
    expect(hex(rootOf(bag).hash)).toBe(hashOf(bag as Bag));
  });

  it('may have 10 MB, and not more than 16 MB or 1,048,576 cells', () => {
    const last = 79_999;
    const cell = (index: number): RawCell => ({ data: '11'.repeat(125), refs: index < last ? [last] : [] });
    const large = rawBag(Array.from({ length: last + 1 }, (_, index) => cell(index)));
    expect(large.length).toBeGreaterThan(10_000_000);
    const bag = readBag(large);
    expect(hex(rootOf(bag).hash)).toBe(hashOf(bag as Bag));
    expect(readBag(new Uint8Array(17 * 2 ** 20))).toBe('too-large');
    const empty = (count: number): Buffer => Buffer.concat([bagHead(count, 2 * count), Buffer.alloc(2 * count)]);
    expect(readBag(empty(1_048_577))).toBe('too-large');
    expect(rootOf(readBag(rawBag([{ data: '00' }]))).bits).toBe(8);
  });
});

describe('100,000 damaged bags', () => {
  it('are refused, or read to the cells whose hash they have', () => {
    const models = fc
      .sample(drafts, { numRuns: 60, seed: 7 })
      .map((draft, index) => builtOf(draft).toBoc({ idx: index % 2 === 0, crc32: index % 3 === 0 }))
      .filter((bytes) => bytes.length < 1_000);
    for (let seed = 0; seed < 20; seed++) {
      const random = randomBelow(seed);
      models.push(bagOf(merkleOf(prunedCopy(random, randomTree(random, 2), 1))));
    }
    const below = randomBelow(12_345);
    const counts = { refused: 0, read: 0, bothRead: 0 };
    for (let round = 0; round < 100_000; round++) {
      const bytes = Buffer.from(models[below(models.length)] as Buffer);
      for (let change = below(3); change >= 0; change--) {
        // Most damage is done where counts and descriptors are.
        const at = below(below(2) === 0 ? Math.min(24, bytes.length) : bytes.length);
        bytes[at] = below(2) === 0 ? below(256) : (bytes[at] as number) ^ (1 << below(8));
      }
      const bag = readBag(below(8) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes);
      if (typeof bag === 'string') {
        counts.refused++;
        continue;
      }
      counts.read++;
      if (hex(rootOf(bag).hash) !== hashOf(bag)) throw new Error(`wrong hash of ${bytes.toString('hex')}`);
      if (round % 10 > 0) continue;
      const [core] = coreReading(bytes);
      if (core === undefined) continue;
      counts.bothRead++;
      if (core !== hex(rootOf(bag).hash)) throw new Error(`@ton/core reads ${bytes.toString('hex')} as ${core}`);
    }
    expect(counts.refused).toBeGreaterThan(10_000);
    expect(counts.read).toBeGreaterThan(10_000);
    expect(counts.bothRead).toBeGreaterThan(500);
  });
});

function coreReading(bytes: Buffer): readonly string[] {
  try {
    return CoreCell.fromBoc(bytes).map((cell) => cell.hash().toString('hex'));
  } catch {
    return [];
  }
}

interface Content {
  readonly hash: string;
  readonly boc: string;
}

/** Every object of an answer with a hash and a bag. */
function contentsOf(value: unknown): readonly Content[] {
  if (Array.isArray(value)) return value.flatMap(contentsOf);
  if (value === null || typeof value !== 'object') return [];
  const { hash, body } = value as { readonly hash?: unknown; readonly body?: unknown };
  const own = typeof hash === 'string' && typeof body === 'string' ? [{ hash, boc: body }] : [];
  return [...own, ...Object.values(value).flatMap(contentsOf)];
}

describe.skipIf(!hasShared)('the recorded answers in ../shared/fixtures', () => {
  it('have bodies and StateInits with the hashes that the API gives', () => {
    const files = sharedFixtures([
      'traces',
      'transactions',
      'transactionsByMasterchainBlock',
      'messages',
      'emulateTrace',
    ]);
    const contents = files.flatMap(({ path }) => contentsOf(JSON.parse(readFileSync(path, 'utf8'))));
    const wrong = contents.filter(({ hash, boc }) => {
      const bag = readBag(Buffer.from(boc, 'base64'));
      return Buffer.from(rootOf(bag).hash).toString('base64') !== hash;
    });
    expect(wrong).toEqual([]);
    expect(contents.length).toBeGreaterThan(500);
  });
});
