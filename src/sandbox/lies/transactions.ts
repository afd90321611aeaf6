import { byLtAndAccount } from '../chain/chain.ts';
import type { BlockRef, ShownTransaction, TransactionRow } from '../chain/model.ts';
import { otherShard } from './headers.ts';
import type { LieKind } from './kinds.ts';
import { lieAboutMessages } from './messages.ts';

/** What a lie about transactions needs to know of the truth. */
export interface TransactionTruth {
  readonly seqno: number;
  /** Transactions of N and N + 1 as shown so far. */
  readonly rows: readonly TransactionRow[];
  readonly next: readonly TransactionRow[];
  readonly refOf: (row: TransactionRow) => BlockRef;
  readonly endLtOf: (row: TransactionRow) => number;
}

/** The transactions of N, and of N + 1 if they change too. */
interface ToldTransactions {
  readonly rows: readonly TransactionRow[];
  readonly next?: readonly TransactionRow[];
}

type TransactionLie = (truth: TransactionTruth) => ToldTransactions;

const LIES: Partial<Record<LieKind, TransactionLie>> = {
  'transaction-missing-first': without((rows) => rows[0]),
  'transaction-missing-middle': without((rows) => rows[Math.floor(rows.length / 2)]),
  'transaction-missing-last': without((rows) => rows.at(-1)),
  'tick-tock-missing': without((rows) => rows.find(({ transaction }) => transaction.tickTock !== undefined)),
  'transaction-twice': adding((about) => about),
  'transaction-twice-other-lt': adding((about) => atLt(about, about.lt + 1000)),
  'transaction-twice-other-hash': adding((about) => shownAs(about, { edit: (text) => editHash(text, 1) })),
  'transaction-other-seqno': inOtherBlock((ref) => ({ ...ref, seqno: ref.seqno + 1 })),
  'transaction-other-shard': inOtherBlock((ref) => ({ ...ref, shard: otherShard(ref.shard) })),
  'transaction-other-workchain': inOtherBlock((ref) => ({ ...ref, workchain: -1 })),
  'transaction-other-masterchain': replacing((about, { seqno }) =>
    shownAs(about, { seqno, edit: editMasterchain(seqno + 1) }),
  ),
  'transaction-of-next': moved,
  'transactions-of-next': ({ next, seqno }) => ({ rows: next.map((row) => shownAs(row, { seqno })) }),
  'transaction-lt-outside': replacing((about, { endLtOf }) => atLt(about, endLtOf(about) + 7)),
  'transaction-time-wrong': edited((text) => text.replace(/"now":(\d+)/, (_, now) => `"now":${Number(now) + 86_400}`)),
  'hash-changes': (truth) => {
    let reads = 0;
    return edited((text) => editHash(text, (reads++ % 255) + 1))(truth);
  },
  'hole-forever': () => ({ rows: [] }),
  'prev-lt-wrong': edited((text) => text.replace(/"prev_trans_lt":"\d+"/, '"prev_trans_lt":"65999999999999"')),
  'prev-hash-wrong': edited((text) => editHash(text, 1, 'prev_trans_hash')),
  'state-hash-wrong': edited((text) => editHash(text, 1, 'account_state_before":{"hash')),
};

/** The transactions of a masterchain block as a lie shows them. */
export function lieAboutTransactions(kind: LieKind, truth: TransactionTruth): ToldTransactions {
  const { rows } = truth;
  const lie = lieAboutMessages(kind, rows);
  if (lie !== undefined) return { rows: rows.map((row) => (row === lie.about ? shownAs(row, lie) : row)) };
  return LIES[kind]?.(truth) ?? { rows };
}

/** The transaction in the middle of those that are not in the masterchain. */
function middleOf(rows: readonly TransactionRow[]): TransactionRow | undefined {
  const inShard = rows.filter(isInShard);
  return inShard[Math.floor(inShard.length / 2)];
}

function isInShard({ transaction }: TransactionRow): boolean {
  return transaction.block.name.workchain === 0;
}

function without(find: (rows: readonly TransactionRow[]) => TransactionRow | undefined): TransactionLie {
  return ({ rows }) => {
    const about = find(rows);
    return { rows: rows.filter((row) => row !== about) };
  };
}

/** Adds a transaction made from the one in the middle. */
function adding(make: (about: TransactionRow) => TransactionRow): TransactionLie {
  return ({ rows }) => {
    const about = middleOf(rows);
    return { rows: about === undefined ? rows : [...rows, make(about)].sort(byLtAndAccount) };
  };
}

/** Replaces the transaction in the middle. */
function replacing(make: (about: TransactionRow, truth: TransactionTruth) => TransactionRow): TransactionLie {
  return (truth) => {
    const about = middleOf(truth.rows);
    return { rows: truth.rows.map((row) => (row === about ? make(row, truth) : row)).sort(byLtAndAccount) };
  };
}

function edited(edit: (text: string) => string): TransactionLie {
  return replacing((about) => shownAs(about, { edit }));
}

function inOtherBlock(change: (ref: BlockRef) => BlockRef): TransactionLie {
  return replacing((about, { refOf }) => {
    const block = change(refOf(about));
    return shownAs(about, { block, edit: editRef(block) });
  });
}

function shownAs(row: TransactionRow, shown: ShownTransaction): TransactionRow {
  const before = row.shown?.edit;
  const after = shown.edit;
  const edit = before === undefined || after === undefined ? (after ?? before) : (text: string) => after(before(text));
  return { ...row, shown: { ...row.shown, ...shown, ...(edit === undefined ? {} : { edit }) } };
}

/** Shows a transaction of N + 1 as one of N, in a shard block of N. */
function moved({ seqno, rows, next, refOf }: TransactionTruth): ToldTransactions {
  const away = next.find(isInShard);
  const host = rows.find(isInShard);
  if (away === undefined || host === undefined) return { rows };
  const block = refOf(host);
  const edit = (text: string): string => editMasterchain(seqno)(editRef(block)(text));
  return {
    rows: [...rows, shownAs(away, { seqno, block, edit })].sort(byLtAndAccount),
    next: next.filter((row) => row !== away),
  };
}

function atLt(row: TransactionRow, lt: number): TransactionRow {
  return { ...shownAs(row, { edit: (text) => text.replace(/"lt":"\d+"/, `"lt":"${lt}"`) }), lt };
}

function editMasterchain(seqno: number): (text: string) => string {
  return (text) => text.replace(/"mc_block_seqno":\d+/, `"mc_block_seqno":${seqno}`);
}

function editRef({ workchain, shard, seqno }: BlockRef): (text: string) => string {
  return (text) =>
    text.replace(/"block_ref":\{[^}]*\}/, `"block_ref":{"workchain":${workchain},"shard":"${shard}","seqno":${seqno}}`);
}

/** Changes the first byte of the first hash under a key. */
function editHash(text: string, by: number, key = 'hash'): string {
  const start = text.indexOf(`"${key}":"`) + key.length + 4;
  const bytes = Buffer.from(text.slice(start, start + 44), 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ by;
  return text.slice(0, start) + bytes.toString('base64') + text.slice(start + 44);
}
