import type { BlockRow, ShownBlock } from '../chain/chain.ts';
import { must } from '../chain/mix.ts';
import type { LieKind } from './kinds.ts';

/** What a lie about headers needs to know of the truth. */
export interface HeaderTruth {
  readonly facts: (row: BlockRow) => {
    readonly seqno: number;
    readonly startLt: number;
    readonly endLt: number;
    readonly count: number;
    readonly masterchainSeqno: number;
  };
}

/** How far a seqno that never was is from the one that is. */
const FAR = 500_000;

/** The headers of a masterchain block as a lie shows them; the same list where the lie is about something else. */
export function lieAboutHeaders(kind: LieKind, rows: readonly BlockRow[], truth: HeaderTruth): readonly BlockRow[] {
  const masterchain = rows.find((row) => row.plan.name.workchain === -1);
  const shard = rows
    .filter((row) => row.plan.name.workchain === 0)
    .reduce<BlockRow | undefined>(
      (best, row) => (best === undefined || truth.facts(row).count > truth.facts(best).count ? row : best),
      undefined,
    );
  const about = kind.startsWith('mc-') ? masterchain : shard;
  if (about === undefined) return rows;
  const show = (shown: ShownBlock): readonly BlockRow[] =>
    rows.map((row) => (row === about ? { ...about, shown: { ...about.shown, ...shown } } : row));
  const { seqno, startLt, endLt, count, masterchainSeqno } = truth.facts(about);
  switch (kind) {
    case 'mc-count-up':
    case 'shard-count-up':
      return show({ count: count + 1 });
    case 'mc-count-down':
    case 'shard-count-down':
      return show({ count: count - 1 });
    case 'mc-count-zero':
    case 'shard-count-zero':
      return show({ count: 0 });
    case 'mc-header-missing':
    case 'shard-header-missing':
      return rows.filter((row) => row !== about);
    case 'mc-header-twice':
    case 'shard-header-twice':
      return rows.flatMap((row) => (row === about ? [row, row] : [row]));
    case 'header-other-masterchain':
      return show({ masterchainSeqno: masterchainSeqno + 1 });
    case 'header-other-shard':
      return show({ shard: otherShard(about.plan.name.shard) });
    case 'header-other-seqno':
      return show({ seqno: seqno + FAR });
    case 'stray-header': {
      const shown = { seqno: seqno - FAR, count: 0, copy: 1, prev: [{ ...named(about), seqno: seqno - FAR - 1 }] };
      return [...rows, { ...about, shown }];
    }
    case 'prev-unknown':
    case 'mc-prev-unknown':
      return show({ prev: [{ ...named(about), seqno: seqno + FAR }] });
    case 'prev-itself':
      return show({ prev: [{ ...named(about), seqno }] });
    case 'prev-empty':
      return show({ prev: [] });
    case 'start-lt-late':
      return show({ startLt: endLt - 1 });
    case 'end-lt-early':
      return show({ endLt: startLt + 1 });
    default:
      return rows;
  }
}

function named(row: BlockRow): { readonly workchain: number; readonly shard: string } {
  return { workchain: row.plan.name.workchain, shard: row.plan.name.shard };
}

/** The other half of the shard's parent. */
export function otherShard(shard: string): string {
  const id = BigInt(`0x${shard}`);
  const lowest = id & -id;
  return BigInt.asUintN(64, id ^ (lowest << 1n))
    .toString(16)
    .toUpperCase();
}

/** The shard state of a masterchain block as a lie shows it; undefined when it is not there. */
export function lieAboutState(
  kind: LieKind,
  rows: readonly BlockRow[],
  before: (row: BlockRow) => BlockRow | undefined,
): readonly BlockRow[] | undefined {
  switch (kind) {
    case 'state-never':
      return undefined;
    case 'state-shard-missing':
      return rows.slice(0, -1);
    case 'state-older': {
      const at = rows.findIndex((row) => row.plan.name.workchain === 0 && before(row) !== undefined);
      return rows.map((row, index) => (index === at ? must(before(row), 'block before') : row));
    }
    default:
      return rows;
  }
}
