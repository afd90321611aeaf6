import type { LieKind } from './lie-kinds.ts';

/** How far a made-up seqno is from the real one. */
const FAR = 500_000;

interface BlockName {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

/** What lies change in a header. */
export interface Header extends BlockName {
  readonly root_hash: string;
  readonly gen_utime: string;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly tx_count: number;
  readonly masterchain_block_ref: BlockName;
  readonly prev_blocks: readonly BlockName[];
}

/** A header as it is shown. */
export interface ShownHeader {
  /** Hash of the header that it is instead of; undefined for one that is not in the chain. */
  readonly original: string | undefined;
  readonly header: Header;
}

type HeaderLie = (about: ShownHeader, all: readonly ShownHeader[]) => readonly ShownHeader[];

/** A lie that changes properties of a header. */
function showing(change: (header: Header) => Partial<Header>): HeaderLie {
  return (about, all) =>
    all.map((each) => (each === about ? { ...about, header: { ...about.header, ...change(about.header) } } : each));
}

/** Says that a later masterchain block includes it, or an earlier one. */
const includedBy = (later: number): HeaderLie =>
  showing(({ masterchain_block_ref: ref }) => ({ masterchain_block_ref: { ...ref, seqno: ref.seqno + later } }));

const countUp = showing(({ tx_count: count }) => ({ tx_count: count + 1 }));
const countDown = showing(({ tx_count: count }) => ({ tx_count: count - 1 }));
const countZero = showing(() => ({ tx_count: 0 }));
const missing: HeaderLie = (about, all) => all.filter((each) => each !== about);
const twice: HeaderLie = (about, all) => all.flatMap((each) => (each === about ? [about, about] : [each]));
const prevUnknown = showing(({ workchain, shard, seqno }) => ({
  prev_blocks: [{ workchain, shard, seqno: seqno + FAR }],
}));

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
  'header-other-masterchain': includedBy(1),
  'mc-header-other-masterchain': includedBy(1),
  'header-late-masterchain': includedBy(4),
  'header-early-masterchain': includedBy(-4),
  'header-other-shard': showing(({ shard }) => ({ shard: otherShard(shard) })),
  'header-other-seqno': showing(({ seqno }) => ({ seqno: seqno + FAR })),
  'stray-header': ({ header }, all) => {
    const { workchain, shard, seqno, root_hash: hash } = header;
    const made = { seqno: seqno - FAR, tx_count: 0, root_hash: `${hash[0] === 'A' ? 'B' : 'A'}${hash.slice(1)}` };
    const prev = [{ workchain, shard, seqno: seqno - FAR - 1 }];
    return [...all, { original: undefined, header: { ...header, ...made, prev_blocks: prev } }];
  },
  'prev-unknown': prevUnknown,
  'mc-prev-unknown': prevUnknown,
  'prev-itself': showing(({ workchain, shard, seqno }) => ({ prev_blocks: [{ workchain, shard, seqno }] })),
  'prev-empty': showing(() => ({ prev_blocks: [] })),
  'start-lt-late': showing(({ end_lt: end }) => ({ start_lt: String(Number(end) - 1) })),
  'start-lt-early': showing(({ start_lt: start }) => ({ start_lt: String(Number(start) - 5_000_000) })),
  'header-time-early': showing(({ gen_utime: time }) => ({ gen_utime: String(Number(time) - 3) })),
  'mc-time-wrong': showing(({ gen_utime: time }) => ({ gen_utime: String(Number(time) + 1) })),
  'end-lt-early': showing(({ start_lt: start }) => ({ end_lt: String(Number(start) + 1) })),
};

/** The headers of a masterchain block as a lie shows them; the same list if the lie is about something else. */
export function lieAboutHeaders(kind: LieKind, headers: readonly ShownHeader[]): readonly ShownHeader[] {
  const workchain = kind.startsWith('mc-') ? -1 : 0;
  const [about] = headers
    .filter(({ header }) => header.workchain === workchain)
    .sort((a, b) => b.header.tx_count - a.header.tx_count);
  return (about && LIES[kind]?.(about, headers)) ?? headers;
}

/** The other half of the shard's parent. */
export function otherShard(shard: string): string {
  const id = BigInt(`0x${shard}`);
  const lowest = id & -id;
  return BigInt.asUintN(64, id ^ (lowest << 1n))
    .toString(16)
    .toUpperCase();
}
