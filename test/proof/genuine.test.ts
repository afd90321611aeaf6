import { describe, expect, it } from 'vitest';
import { verdicts } from '../../src/proof/content-proof.ts';
import { hasShared } from '../fixtures.ts';
import { genuineTransactions, type Json } from './genuine.ts';
import { proofOf, statesOf, unnoticed } from './sweep.ts';

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
    expect([...missed].sort()).toEqual(UNCOVERED);
  });

  it('a change in an emulated one is noticed, too, except in messages whose StateInit the source omits', () => {
    const emulated = all.filter((transaction) => !isOnChain(transaction));
    const known = [...UNCOVERED, '/trace_external_hash'];
    const silent = emulated.map((each) => unnoticed(each).paths.filter((path) => !known.includes(path)));
    expect(emulated.length).toBe(36);
    expect(silent.flat().filter((path) => !/^\/(in_msg|out_msgs)\//.test(path))).toEqual([]);
    expect(silent.filter((paths) => paths.length > 0).length).toBe(4);
  });
});

function isOnChain(transaction: Json): boolean {
  return transaction['emulated'] !== true;
}

/** What no hash covers: balances only where the index has just one of both. */
const UNCOVERED: readonly string[] = [
  '/account_state_after/balance',
  '/account_state_after/code_hash',
  '/account_state_after/data_hash',
  '/account_state_before/balance',
  '/account_state_before/code_hash',
  '/account_state_before/data_hash',
  '/block_ref/seqno',
  '/block_ref/shard',
  '/block_ref/workchain',
  '/emulated',
  '/finality',
  '/in_msg/decoded_opcode',
  '/mc_block_seqno',
  '/out_msgs/decoded_opcode',
  '/trace_id',
];
