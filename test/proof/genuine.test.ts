import { describe, expect, it } from 'vitest';
import { verdicts } from '../../src/proof/verdicts.ts';
import { hasShared } from '../fixtures.ts';
import { genuineTransactions, type Json } from './genuine.ts';
import { fieldsBy, pathsOf, proofOf, statesOf, unnoticed } from './sweep.ts';

describe.skipIf(!hasShared)('the transactions of genuine servers in ../shared/fixtures', () => {
  const all = genuineTransactions();

  it('all have the hash of their content, some after an error of their server is undone', () => {
    const { verdicts: found, wrongOpcodes, unknownMessages } = proofOf(all);
    const counts: Record<string, number> = {};
    for (const verdict of found) counts[verdicts[verdict] ?? ''] = (counts[verdicts[verdict] ?? ''] ?? 0) + 1;
    expect(counts).toEqual({
      agrees: 530,
      'gas-swapped': 4,
      'no-credit-phase': 2,
      'skipped-no_gas': 1,
      'skipped-no_state': 1,
    });
    // Outgoing messages to addresses outside of TON; and one sent and received in an emulated trace, which omits its StateInit.
    expect(unknownMessages.length).toBe(31);
    expect(wrongOpcodes.map(({ opcode }) => opcode)).toEqual([0x24, 0x24]);
  });

  it('no field of one can be changed in silence, except those that no hash covers', () => {
    const sound = all.filter(
      (transaction) => isOnChain(transaction) && /^agrees \d+ 0$/.test(statesOf([transaction])[0] ?? ''),
    );
    const missed = new Set<string>();
    let changes = 0;
    for (const transaction of sound) {
      const found = unnoticed(transaction);
      for (const path of found.paths) missed.add(path);
      changes += found.changes;
    }
    expect(sound.length).toBe(492);
    expect(changes).toBeGreaterThan(35_000);
    // Nothing else is on the list: each of its fields that has a value in a recorded transaction was changed in silence.
    const changeable = new Set(sound.flatMap(pathsOf));
    expect([...missed].sort()).toEqual([...new Set(UNCOVERED)].filter((path) => changeable.has(path)).sort());
  });

  it('a change in an emulated one is noticed, too, except in messages whose StateInit the source omits', () => {
    const emulated = all.filter((transaction) => !isOnChain(transaction));
    const silent = emulated.map((each) => unnoticed(each).paths.filter((path) => !UNCOVERED.includes(path)));
    expect(emulated.length).toBe(36);
    expect(silent.flat().filter((path) => !/^\/(in_msg|out_msgs)\//.test(path))).toEqual([]);
    expect(silent.filter((paths) => paths.length > 0).length).toBe(4);
  });
});

function isOnChain(transaction: Json): boolean {
  return transaction['emulated'] !== true;
}

const UNCOVERED = fieldsBy(false);
