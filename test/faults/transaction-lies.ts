import { otherShard } from './header-lies.ts';
import type { LieKind } from './lie-kinds.ts';
import { lieAboutMessages } from './message-lies.ts';

interface BlockRef {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

/** A transaction as it is listed. */
export interface ShownTransaction {
  /** Hash of the transaction that it is instead of. */
  readonly original: string;
  /** Masterchain block that lists it. */
  readonly seqno: number;
  readonly account: string;
  readonly lt: number;
  readonly now: number;
  readonly block: BlockRef;
  readonly text: () => string;
}

export function shownTransaction(text: string): ShownTransaction {
  const record = JSON.parse(text);
  return {
    original: record.hash,
    seqno: record.mc_block_seqno,
    account: record.account,
    lt: Number(record.lt),
    now: record.now,
    block: record.block_ref,
    text: () => text,
  };
}

/** What a lie about transactions needs to know of the truth. */
interface Truth {
  readonly seqno: number;
  /** Transactions of N and N + 1 as shown so far. */
  readonly rows: readonly ShownTransaction[];
  readonly next: readonly ShownTransaction[];
  /** First and last logical time of the block of a transaction. */
  readonly ltsOf: (row: ShownTransaction) => readonly [from: number, to: number];
  /** Whether a message has been received. */
  readonly isReceived: (hash: string) => boolean;
}

/** The transactions of N, and of N + 1 if they change too. */
interface Told {
  readonly rows: readonly ShownTransaction[];
  readonly next?: readonly ShownTransaction[];
}

type TransactionLie = (truth: Truth) => Told;
type Change = (about: ShownTransaction, truth: Truth) => ShownTransaction;

const LIES: Partial<Record<LieKind, TransactionLie>> = {
  'transaction-missing-first': without((rows) => rows[0]),
  'transaction-missing-middle': without((rows) => rows[Math.floor(rows.length / 2)]),
  'transaction-missing-last': without((rows) => rows.at(-1)),
  'tick-tock-missing': without((rows) => rows.find((row) => row.text().includes('"type":"tick_tock"'))),
  'transaction-twice': adding((about) => about),
  'transaction-twice-other-lt': adding((about) => atLt(about, about.lt + 1000)),
  'transaction-twice-other-hash': adding((about) => edited(about, (text) => editHash(text, 1))),
  'transaction-other-seqno': replacing((about) => inBlock(about, { ...about.block, seqno: about.block.seqno + 1 })),
  'transaction-other-shard': replacing((about) =>
    inBlock(about, { ...about.block, shard: otherShard(about.block.shard) }),
  ),
  'transaction-other-workchain': replacing((about) => inBlock(about, { ...about.block, workchain: -1 })),
  'transactions-swapped': swapped,
  'transaction-other-masterchain': replacing((about, { seqno }) => edited(about, editMasterchain(seqno + 1))),
  'transaction-of-next': moved,
  'transactions-of-next': ({ next, seqno }) => ({ rows: next.map((row) => ({ ...row, seqno })) }),
  'transaction-lt-outside': replacing((about, { ltsOf }) => atLt(about, ltsOf(about)[1] + 7)),
  'transaction-time-wrong': replacing((about) =>
    edited(about, (text) => text.replace(/"now":(\d+)/, (_, now) => `"now":${Number(now) + 86_400}`)),
  ),
  'hash-changes': (truth) => {
    let reads = 0;
    return replacing((about) => edited(about, (text) => editHash(text, (reads++ % 255) + 1)))(truth);
  },
  'hole-forever': () => ({ rows: [] }),
  'prev-lt-wrong': replacing((about) =>
    edited(about, (text) => text.replace(/"prev_trans_lt":"\d+"/, '"prev_trans_lt":"65999999999999"')),
  ),
  'prev-hash-wrong': replacing((about) => edited(about, (text) => editHash(text, 1, 'prev_trans_hash'))),
  'state-hash-wrong': replacing((about) => edited(about, (text) => editHash(text, 1, 'account_state_before":{"hash'))),
};

/** The transactions of a masterchain block as a lie shows them. */
export function lieAboutTransactions(kind: LieKind, truth: Truth): Told {
  const { rows, isReceived } = truth;
  const texts = rows.map((row) => row.text());
  const lie = lieAboutMessages(kind, texts, isReceived);
  if (lie !== undefined) return { rows: rows.map((row, at) => (at === lie.at ? edited(row, lie.edit) : row)) };
  return LIES[kind]?.(truth) ?? { rows };
}

export function byLtAndAccount(a: ShownTransaction, b: ShownTransaction): number {
  return a.lt - b.lt || (a.account < b.account ? -1 : a.account > b.account ? 1 : 0);
}

/** The transaction in the middle of those that are not in the masterchain. */
function middleOf(rows: readonly ShownTransaction[]): ShownTransaction | undefined {
  const inShard = rows.filter(isInShard);
  return inShard[Math.floor(inShard.length / 2)];
}

function isInShard({ block }: ShownTransaction): boolean {
  return block.workchain === 0;
}

function without(find: (rows: readonly ShownTransaction[]) => ShownTransaction | undefined): TransactionLie {
  return ({ rows }) => {
    const about = find(rows);
    return { rows: rows.filter((row) => row !== about) };
  };
}

/** Adds a transaction made from the one in the middle. */
function adding(make: (about: ShownTransaction) => ShownTransaction): TransactionLie {
  return ({ rows }) => {
    const about = middleOf(rows);
    return { rows: about === undefined ? rows : [...rows, make(about)].sort(byLtAndAccount) };
  };
}

/** Replaces the transaction in the middle. */
function replacing(make: Change): TransactionLie {
  return (truth) => {
    const about = middleOf(truth.rows);
    return { rows: truth.rows.map((row) => (row === about ? make(row, truth) : row)).sort(byLtAndAccount) };
  };
}

function edited(row: ShownTransaction, edit: (text: string) => string): ShownTransaction {
  return { ...row, text: () => edit(row.text()) };
}

function inBlock(row: ShownTransaction, block: BlockRef): ShownTransaction {
  const { workchain, shard, seqno } = block;
  const ref = `"block_ref":{"workchain":${workchain},"shard":"${shard}","seqno":${seqno}}`;
  return { ...edited(row, (text) => text.replace(/"block_ref":\{[^}]*\}/, ref)), block };
}

function atLt(row: ShownTransaction, lt: number): ShownTransaction {
  return { ...edited(row, (text) => text.replace(/"lt":"\d+"/, `"lt":"${lt}"`)), lt };
}

/** Two transactions in shard blocks of which each could also have been in that of the other, if only its time told. */
export function swappable({ rows, ltsOf }: Pick<Truth, 'rows' | 'ltsOf'>): readonly ShownTransaction[] {
  const fits = ({ lt, now }: ShownTransaction, other: ShownTransaction): boolean => {
    const [from, to] = ltsOf(other);
    return now === other.now && lt >= from && lt <= to;
  };
  for (const row of rows.filter(isInShard)) {
    const other = rows
      .filter(isInShard)
      .find((each) => each.block.shard !== row.block.shard && fits(row, each) && fits(each, row));
    if (other !== undefined) return [row, other];
  }
  return [];
}

function swapped(truth: Truth): Told {
  const [first, second] = swappable(truth);
  if (first === undefined || second === undefined) return { rows: truth.rows };
  const other = new Map([
    [first, second.block],
    [second, first.block],
  ]);
  return { rows: truth.rows.map((row) => inBlock(row, other.get(row) ?? row.block)) };
}

/** Shows a transaction of N + 1 as one of N, in a shard block of N. */
function moved({ seqno, rows, next }: Truth): Told {
  const away = next.find(isInShard);
  const host = rows.find(isInShard);
  if (away === undefined || host === undefined) return { rows };
  const shown = { ...edited(inBlock(away, host.block), editMasterchain(seqno)), seqno };
  return { rows: [...rows, shown].sort(byLtAndAccount), next: next.filter((row) => row !== away) };
}

function editMasterchain(seqno: number): (text: string) => string {
  return (text) => text.replace(/"mc_block_seqno":\d+/, `"mc_block_seqno":${seqno}`);
}

/** Changes the first byte of the first hash under a key. */
function editHash(text: string, by: number, key = 'hash'): string {
  const start = text.indexOf(`"${key}":"`) + key.length + 4;
  const bytes = Buffer.from(text.slice(start, start + 44), 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ by;
  return text.slice(0, start) + bytes.toString('base64') + text.slice(start + 44);
}
