import { must } from '../chain/mix.ts';
import type { BlockRow, ShownBlock } from '../chain/model.ts';
import type { BlockFacts } from '../page/blocks.ts';
import type { LieKind } from './kinds.ts';

/** How far a made-up seqno is from the real one. */
const FAR = 500_000;

/** A header, the list that it is in, and its facts. */
interface About {
  readonly rows: readonly BlockRow[];
  readonly row: BlockRow;
  readonly facts: BlockFacts;
}

type HeaderLie = (about: About) => readonly BlockRow[];

/** A lie that changes properties of a header. */
function showing(change: (facts: BlockFacts, row: BlockRow) => ShownBlock): HeaderLie {
  return ({ rows, row, facts }) => {
    const shown = { ...row.shown, ...change(facts, row) };
    return rows.map((each) => (each === row ? { ...row, shown } : each));
  };
}

const countUp = showing(({ count }) => ({ count: count + 1 }));
const countDown = showing(({ count }) => ({ count: count - 1 }));
const countZero = showing(() => ({ count: 0 }));
const missing: HeaderLie = ({ rows, row }) => rows.filter((each) => each !== row);
const twice: HeaderLie = ({ rows, row }) => rows.flatMap((each) => (each === row ? [row, row] : [each]));
const prevUnknown = showing(({ seqno }, row) => ({ prev: [{ ...named(row), seqno: seqno + FAR }] }));

const LIES: Partial<Record<LieKind, HeaderLie>> = {
  'mc-count-up': countUp,
  'shard-count-up': countUp,
  'mc-count-down': countDown,
  'shard-count-down': countDown,
  'mc-count-zero': countZero,
  'shard-count-zero': countZero,
  'mc-header-missing': missing,
  'shard-header-missing': missing,
  'mc-header-twice': twice,
  'shard-header-twice': twice,
  'header-other-masterchain': showing(({ masterchainSeqno }) => ({ masterchainSeqno: masterchainSeqno + 1 })),
  'header-other-shard': showing((_, row) => ({ shard: otherShard(row.plan.name.shard) })),
  'header-other-seqno': showing(({ seqno }) => ({ seqno: seqno + FAR })),
  'stray-header': ({ rows, row, facts: { seqno } }) => {
    const prev = [{ ...named(row), seqno: seqno - FAR - 1 }];
    return [...rows, { ...row, shown: { seqno: seqno - FAR, count: 0, copy: 1, prev } }];
  },
  'prev-unknown': prevUnknown,
  'mc-prev-unknown': prevUnknown,
  'prev-itself': showing(({ seqno }, row) => ({ prev: [{ ...named(row), seqno }] })),
  'prev-empty': showing(() => ({ prev: [] })),
  'start-lt-late': showing(({ endLt }) => ({ startLt: endLt - 1 })),
  'mc-time-wrong': showing(({ utime }) => ({ utime: utime + 1 })),
  'end-lt-early': showing(({ startLt }) => ({ endLt: startLt + 1 })),
};

/** The headers of a masterchain block as a lie shows them; the same list if the lie is about something else. */
export function lieAboutHeaders(
  kind: LieKind,
  rows: readonly BlockRow[],
  factsOf: (row: BlockRow) => BlockFacts,
): readonly BlockRow[] {
  const workchain = kind.startsWith('mc-') ? -1 : 0;
  const [row] = rows
    .filter(({ plan }) => plan.name.workchain === workchain)
    .sort((a, b) => (workchain === 0 ? factsOf(b).count - factsOf(a).count : 0));
  return (row && LIES[kind]?.({ rows, row, facts: factsOf(row) })) ?? rows;
}

function named({ plan }: BlockRow): { readonly workchain: number; readonly shard: string } {
  return { workchain: plan.name.workchain, shard: plan.name.shard };
}

/** The other half of the shard's parent. */
export function otherShard(shard: string): string {
  const id = BigInt(`0x${shard}`);
  const lowest = id & -id;
  return BigInt.asUintN(64, id ^ (lowest << 1n))
    .toString(16)
    .toUpperCase();
}

/** The shard state of a masterchain block as a lie shows it; undefined if it is missing. */
export function lieAboutState(
  kind: LieKind,
  rows: readonly BlockRow[],
  before: (row: BlockRow) => BlockRow | undefined,
): readonly BlockRow[] | undefined {
  if (kind === 'state-never') return undefined;
  if (kind === 'state-shard-missing') return rows.slice(0, -1);
  if (kind !== 'state-older') return rows;
  const at = rows.findIndex((row) => row.plan.name.workchain === 0 && before(row) !== undefined);
  return rows.map((row, index) => (index === at ? must(before(row), 'block before') : row));
}
