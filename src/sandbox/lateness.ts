import { mixOf } from './chain/mix.ts';
import type { SandboxFaults } from './faults.ts';

const SALTS = { lateBlocks: 0x1a7e, lateRows: 0x1a7f, lateShards: 0x1a80 } as const;

/** What comes later than the head says. */
export type LateKind = keyof typeof SALTS;

/** Whether something of a masterchain block is still to come. */
export type IsLate = (seqno: number, kind: LateKind) => boolean;

/** Chooses the late blocks by the seed. @param ageMsOf time since a masterchain block was made */
export function latenessOf(seed: number, faults: () => SandboxFaults, ageMsOf: (seqno: number) => number): IsLate {
  return (seqno, kind) => {
    const { [kind]: rate, lateMs } = faults();
    return rate > 0 && mixOf(seed, seqno, SALTS[kind]) < rate * 4294967296 && ageMsOf(seqno) < lateMs;
  };
}
