import { compareBytes } from '../decode/bytes.ts';
import type { Decoder } from '../decode/decoder.ts';
import { BytesColumn } from '../decode/typed-columns.ts';
import type { BadBlock } from './reconcile.ts';

/** The hash of a state, and a field that is null if the source sent nothing but the hash. */
interface Side {
  readonly hash: BytesColumn;
  readonly status: BytesColumn;
}

/**
 * Transactions with only the hash of a state that another transaction has in full: the source has that state, and left it out.
 *
 * @param rows that are valid
 * @param seqnoOf the masterchain block of a row
 * @param knownStates hashes of states that rows of other blocks have in full
 */
export function droppedStates(
  decoder: Decoder,
  rows: Iterable<number>,
  seqnoOf: (row: number) => number,
  knownStates: ReadonlySet<string>,
): readonly BadBlock[] {
  const sides = ['before', 'after'].flatMap((when) => sideOf(decoder, when) ?? []);
  const known = new Map<number, readonly [Side, number]>();
  const bare: (readonly [Side, number])[] = [];
  for (const row of rows) {
    for (const side of sides) {
      if (side.status.isSet(row)) known.set(keyOf(side, row), [side, row]);
      else if (side.hash.isSet(row)) bare.push([side, row]);
    }
  }
  const bad = new Map<number, string[]>();
  for (const [side, row] of bare) {
    const other = known.get(keyOf(side, row));
    const isKnown = other !== undefined && isSame(side, row, ...other);
    if (!isKnown && (knownStates.size === 0 || !knownStates.has(textOf(side, row)))) continue;
    const seqno = seqnoOf(row);
    bad.set(seqno, [...(bad.get(seqno) ?? []), textOf(side, row)]);
  }
  return [...bad].map(([seqno, states]) => {
    const reason = `expected the account state ${states[0]}, which another transaction has, got its hash alone`;
    return { seqno, reason, states };
  });
}

function sideOf(decoder: Decoder, when: string): Side | undefined {
  if (!decoder.has(`account_state_hash_${when}`) || !decoder.has(`account_state_status_${when}`)) return undefined;
  const hash = decoder.column(`account_state_hash_${when}`);
  const status = decoder.column(`account_state_status_${when}`);
  return hash instanceof BytesColumn && status instanceof BytesColumn ? { hash, status } : undefined;
}

/** Most bits of the first 8 characters, as a number: equal ones are compared. */
function keyOf({ hash: { view, offsets } }: Side, row: number): number {
  const at = offsets[row] as number;
  if ((offsets[row + 1] as number) < at + 8) return 0;
  return view.getUint32(at, true) * 2 ** 21 + (view.getUint32(at + 4, true) & 0x1fffff);
}

function isSame({ hash: a }: Side, row: number, { hash: b }: Side, other: number): boolean {
  const [from, to] = [a.offsets[row] as number, a.offsets[row + 1] as number];
  return compareBytes(a.bytes, from, to, b.bytes, b.offsets[other] as number, b.offsets[other + 1] as number) === 0;
}

function textOf({ hash: { bytes, offsets } }: Side, row: number): string {
  return bytes.toString('latin1', offsets[row], offsets[row + 1]);
}
