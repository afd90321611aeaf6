import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Slice } from '../../src/bodies/cell-slice.ts';
import { byOpcode, decodeBody } from '../../src/bodies/decode-body.ts';
import { namedLayouts } from '../../src/bodies/layouts.ts';
import { readFields } from '../../src/bodies/read-fields.ts';
import { readBag } from '../../src/proof/bag-of-cells.ts';
import { hasShared, sharedFixtures } from '../fixtures.ts';

interface Decoded {
  readonly [name: string]: unknown;
}

function isObject(value: unknown): value is Decoded {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Bodies in an answer, and what the source decoded them to. */
function bodiesIn(value: unknown): readonly { readonly body: Buffer; readonly decoded: Decoded }[] {
  if (Array.isArray(value)) return value.flatMap(bodiesIn);
  if (!isObject(value)) return [];
  const { body, decoded } = value;
  const own = typeof body === 'string' && isObject(decoded) ? [{ body: Buffer.from(body, 'base64'), decoded }] : [];
  return [...own, ...Object.values(value).flatMap(bodiesIn)];
}

/** The values of what the source decoded, by name, in the form of ours: numbers, addresses and texts without their wrapping. */
function leavesOf(value: unknown, name = '', found = new Map<string, string[]>()): Map<string, string[]> {
  if (Array.isArray(value)) for (const each of value) leavesOf(each, name, found);
  else if (isObject(value)) {
    const type = value['@type'] ?? value['type'];
    const address = `${String(value['workchain_id'])}:${String(value['address'])}`;
    if (type === 'addr_std') found.set(name, [...(found.get(name) ?? []), address]);
    else if (type === 'var_uint') leavesOf(value['value'], name, found);
    else if (type === 'nanocoins') leavesOf(value['amount'], name, found);
    else
      for (const [key, each] of Object.entries(value))
        if (!/type$|payload$/.test(key)) leavesOf(each, key === 'internal_address' ? name : key, found);
  } else if (value !== null && value !== 'nothing_from_maybe')
    found.set(name, [...(found.get(name) ?? []), String(value)]);
  return found;
}

function nameOf(decoded: Decoded): string {
  return String(decoded['@type'] ?? decoded['type']);
}

describe.skipIf(!hasShared)('the decoded bodies in ../shared/fixtures', () => {
  const layouts = namedLayouts();
  const opcodes = byOpcode(layouts.values());
  const bodies = sharedFixtures([
    ...[
      'traces',
      'emulateTrace',
      'transactions',
      'transactionsByMasterchainBlock',
      'jetton-transfers',
      'nft-transfers',
    ],
  ]).flatMap(({ path }) => bodiesIn(JSON.parse(readFileSync(path, 'utf8'))));
  const named = bodies.filter(({ decoded }) => layouts.has(nameOf(decoded)));

  test('are found', () => {
    expect(named.length).toBeGreaterThan(300);
    expect(new Set(named.map(({ decoded }) => nameOf(decoded))).size).toBeGreaterThan(15);
  });

  test.each([...layouts.values()].map(({ name, opcode, fields }) => [name, opcode, fields] as const))(
    '%s: each field has the value that the source decoded',
    (name, opcode, fields) => {
      for (const { body, decoded } of named.filter((each) => nameOf(each.decoded) === name)) {
        const bag = readBag(body);
        if (typeof bag === 'string') throw new Error(bag);
        const plain = opcode === undefined ? readFields(new Slice(bag), fields) : decodeBody(body, opcodes);
        expect(nameOf({ '@type': name, ...plain })).toBe(name);
        const [own, theirs] = [leavesOf(plain), leavesOf(decoded)];
        const compared = fields.filter((field) => field.name !== 'op' && theirs.has(field.name) && own.has(field.name));
        for (const field of compared)
          expect(own.get(field.name), `${name}.${field.name}`).toEqual(theirs.get(field.name));
        if (!['text_comment', 'bounce', 'dedust_payout'].includes(name))
          expect(compared.length, name).toBeGreaterThan(0);
        const comment = theirs.get('comment')?.[0] ?? theirs.get('text')?.[0];
        if (name === 'text_comment') expect(own.get('comment')?.[0]).toBe(comment);
      }
    },
  );
});
