import { byLtAndAccount, type ShownTransaction, type TransactionRow } from '../chain/chain.ts';
import { otherShard } from './headers.ts';
import type { LieKind } from './kinds.ts';
import { lieAboutMessages } from './messages.ts';

/** The block a transaction says it is in. */
export interface BlockRef {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

/** What a lie about transactions needs to know of the truth. */
export interface TransactionTruth {
  readonly seqno: number;
  /** Transactions of N and of N + 1 as they are shown so far. */
  readonly rows: readonly TransactionRow[];
  readonly next: readonly TransactionRow[];
  readonly refOf: (row: TransactionRow) => BlockRef;
  readonly endLtOf: (row: TransactionRow) => number;
}

/** The transactions of N, and of N + 1 where they change too. */
export interface ToldTransactions {
  readonly rows: readonly TransactionRow[];
  readonly next?: readonly TransactionRow[];
}

/** The transactions of a masterchain block as a lie shows them. */
export function lieAboutTransactions(kind: LieKind, truth: TransactionTruth): ToldTransactions {
  const { seqno, rows, next, refOf } = truth;
  const inShard = rows.filter((row) => row.transaction.block.name.workchain === 0);
  const about = inShard[Math.floor(inShard.length / 2)];
  const show = (row: TransactionRow | undefined, shown: ShownTransaction): ToldTransactions => ({
    rows: rows.map((one) => (one === row ? shownAs(one, shown) : one)),
  });
  const without = (row: TransactionRow | undefined): ToldTransactions => ({ rows: rows.filter((one) => one !== row) });
  const withAnother = (other: TransactionRow | undefined): ToldTransactions => ({
    rows: other === undefined ? rows : [...rows, other].sort(byLtAndAccount),
  });
  switch (kind) {
    case 'transaction-missing-first':
      return without(rows[0]);
    case 'transaction-missing-middle':
      return without(rows[Math.floor(rows.length / 2)]);
    case 'transaction-missing-last':
      return without(rows.at(-1));
    case 'tick-tock-missing':
      return without(rows.find((row) => row.transaction.tickTock !== undefined));
    case 'transaction-twice':
      return withAnother(about);
    case 'transaction-twice-other-lt':
      return withAnother(about && { ...shownAs(about, { edit: editLt(about.lt + 1000) }), lt: about.lt + 1000 });
    case 'transaction-twice-other-hash':
      return withAnother(about && shownAs(about, { edit: (text) => editHash(text, 1) }));
    case 'transaction-other-seqno':
      return show(about, about === undefined ? {} : refShown({ ...refOf(about), seqno: refOf(about).seqno + 1 }));
    case 'transaction-other-shard':
      return show(
        about,
        about === undefined ? {} : refShown({ ...refOf(about), shard: otherShard(refOf(about).shard) }),
      );
    case 'transaction-other-workchain':
      return show(about, about === undefined ? {} : refShown({ ...refOf(about), workchain: -1 }));
    case 'transaction-other-masterchain':
      return show(about, { seqno, edit: editMasterchain(seqno + 1) });
    case 'transaction-of-next':
      return moved(truth);
    case 'transactions-of-next':
      return { rows: next.map((row) => shownAs(row, { seqno })) };
    case 'transaction-lt-outside':
      return lateLt(truth, about);
    case 'hash-changes': {
      let reads = 0;
      return show(about, { edit: (text) => editHash(text, (reads++ % 255) + 1) });
    }
    case 'hole-forever':
      return { rows: [] };
    case 'prev-lt-wrong':
      return show(about, { edit: (text) => text.replace(/"prev_trans_lt":"\d+"/, '"prev_trans_lt":"65999999999999"') });
    case 'prev-hash-wrong':
      return show(about, { edit: (text) => editHash(text, 1, 'prev_trans_hash') });
    case 'state-hash-wrong':
      return show(about, { edit: (text) => editHash(text, 1, 'account_state_before":{"hash') });
    default: {
      const lie = lieAboutMessages(kind, rows);
      return lie === undefined ? { rows } : show(lie.about, { edit: lie.edit });
    }
  }
}

function shownAs(row: TransactionRow, shown: ShownTransaction): TransactionRow {
  const before = row.shown?.edit;
  const after = shown.edit;
  const edit = before === undefined || after === undefined ? (after ?? before) : (text: string) => after(before(text));
  return { ...row, shown: { ...row.shown, ...shown, ...(edit === undefined ? {} : { edit }) } };
}

function refShown(block: BlockRef): ShownTransaction {
  return { block, edit: editRef(block) };
}

/** A transaction of N + 1 that is shown as one of N, in N's block of the same workchain. */
function moved({ seqno, rows, next, refOf }: TransactionTruth): ToldTransactions {
  const away = next.find((row) => row.transaction.block.name.workchain === 0);
  const host = rows.find((row) => row.transaction.block.name.workchain === 0);
  if (away === undefined || host === undefined) return { rows };
  const block = refOf(host);
  const edit = (text: string): string => editMasterchain(seqno)(editRef(block)(text));
  return {
    rows: [...rows, shownAs(away, { seqno, block, edit })].sort(byLtAndAccount),
    next: next.filter((row) => row !== away),
  };
}

function lateLt(truth: TransactionTruth, about: TransactionRow | undefined): ToldTransactions {
  if (about === undefined) return { rows: truth.rows };
  const lt = truth.endLtOf(about) + 7;
  const row = { ...shownAs(about, { edit: editLt(lt) }), lt };
  return { rows: truth.rows.map((one) => (one === about ? row : one)).sort(byLtAndAccount) };
}

function editLt(lt: number): (text: string) => string {
  return (text) => text.replace(/"lt":"\d+"/, `"lt":"${lt}"`);
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
