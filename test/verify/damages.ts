import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../src/sql/database.ts';
import type { Finding, FindingKind } from '../../src/verify/finding.ts';
import { dropFile, fileOf, ledgerFiles, replaceRows, sign } from './support.ts';

/** A way to damage the warehouse of `exportWarehouse`. */
export interface Damaged {
  readonly name: string;
  /** Damages a copy. */
  readonly apply: (path: string) => Promise<void> | void;
  /** True if only `--deep` finds it. */
  readonly isDeep?: true;
  /** The expected finding; one of them if there are several. */
  readonly finds: Partial<Finding> & { readonly kind: FindingKind };
  /** Maximum number of requests of its repair. Default: only looked for, because another damage is repaired in the same way. */
  readonly most?: number;
}

/** Requests to repair one damaged file of a span: its pages, and for headers two shard states and the ends of the index. */
const A_SPAN = 5;
/** Selects over the rows of a file (`old`): without one row, and with one row twice. */
const WITHOUT_ONE = 'SELECT * EXCLUDE (rowid) FROM (SELECT *, rowid FROM old) WHERE rowid <> 20';
const WITH_ONE_TWICE = 'FROM old UNION ALL (FROM old LIMIT 1)';

/** Flips one bit in the file of a table with block 1100, at the given quarter of the file. */
export function flip(path: string, table: string, quarter: number): void {
  const file = join(path, fileOf(path, table, 1100));
  const bytes = readFileSync(file);
  const at = Math.floor((quarter * bytes.length) / 4);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << quarter);
  writeFileSync(file, bytes);
}

const flipped = (table: string, most?: number): Damaged => ({
  name: `a flipped byte in a file of ${table}`,
  apply: (path) => flip(path, table, 3),
  finds: { kind: 'file-changed', table },
  ...(most === undefined ? {} : { most }),
});

const missing = (table: string, most?: number): Damaged => ({
  name: `a missing file of ${table}`,
  apply: (path) => dropFile(path, fileOf(path, table, 1100)),
  finds: { kind: 'file-missing', table },
  ...(most === undefined ? {} : { most }),
});

/** Other rows with the right checksum, which would reveal them. */
const rewritten = (name: string, table: string, select: string, more: Partial<Damaged> = {}): Damaged => ({
  name,
  apply: (path) => replaceRows(path, fileOf(path, table, 1100), select),
  finds: { kind: 'rows-changed' },
  ...more,
});

const FILES: readonly Damaged[] = [
  flipped('blocks', A_SPAN),
  flipped('transactions'),
  flipped('messages'),
  flipped('account_states'),
  missing('blocks'),
  missing('transactions', A_SPAN),
  missing('messages'),
  missing('account_states'),
  {
    name: 'a truncated file',
    apply: (path) => truncateSync(join(path, fileOf(path, 'transactions', 1100)), 2000),
    finds: { kind: 'file-unreadable' },
  },
  {
    name: "another span's file in its place",
    apply: (path) => {
      const [from = '', to = ''] = [1150, 1100].map((seqno) => fileOf(path, 'transactions', seqno));
      copyFileSync(join(path, from), join(path, to));
      sign(path, to);
    },
    finds: { kind: 'rows-outside' },
    most: A_SPAN,
  },
];

const ROWS: readonly Damaged[] = [
  rewritten('a removed header', 'blocks', WITHOUT_ONE, { most: A_SPAN }),
  rewritten('a doubled header', 'blocks', WITH_ONE_TWICE),
  rewritten('a removed transaction', 'transactions', WITHOUT_ONE),
  rewritten('a doubled transaction', 'transactions', WITH_ONE_TWICE),
  rewritten('a removed message', 'messages', WITHOUT_ONE, { most: A_SPAN }),
  rewritten('a doubled message', 'messages', WITH_ONE_TWICE),
  rewritten('a removed state', 'account_states', WITHOUT_ONE),
  rewritten('a doubled state', 'account_states', WITH_ONE_TWICE),
];

const editedEntry = (what: string, edit: (entry: string) => string, more: Partial<Damaged> = {}): Damaged => ({
  name: `${what} in an entry of the ledger, edited`,
  apply: (path) => {
    const entry = ledgerFiles(path)[3] ?? '';
    writeFileSync(entry, edit(readFileSync(entry, 'utf8')));
  },
  finds: { kind: 'rows-changed' },
  ...more,
});

/** The first, a middle and the last entry. */
const deletedEntry = (at: number, finds: Partial<Finding>, more: Partial<Damaged> = {}): Damaged => ({
  name: `a deleted entry (${at})`,
  apply: (path) => rmSync(ledgerFiles(path)[at] ?? ''),
  finds: { kind: 'entry-lost', entry: at + 1, ...finds },
  ...more,
});

const LEDGER: readonly Damaged[] = [
  editedEntry('rows', (entry) => entry.replace(/"transactions":\{"rows":\d+/, '"transactions":{"rows":7'), { most: 0 }),
  editedEntry('a sum', (entry) => entry.replace(/"total_fees":"\d+"/, '"total_fees":"12"')),
  editedEntry('a hash of keys', (entry) => entry.replace(/"keyHash":"\d+"/, '"keyHash":"12"')),
  deletedEntry(0, { pipeline: 'blocks', span: { from: 1080, to: 1094 } }),
  deletedEntry(3, { pipeline: 'transactions', span: { from: 1095, to: 1139 } }),
  deletedEntry(
    5,
    { pipeline: 'transactions', span: { from: 1140, to: 1159 } },
    {
      most: A_SPAN + 1,
    },
  ),
  {
    name: 'a torn entry',
    apply: (path) => truncateSync(ledgerFiles(path)[2] ?? '', 100),
    finds: { kind: 'entry-broken', entry: 3 },
    most: A_SPAN + 1,
  },
];

/** Changes one value in one row of block 1110. */
function altered(column: string, table: string, value: string, kind: FindingKind, most?: number): Damaged {
  const isMessage = table === 'messages';
  const condition = isMessage
    ? "direction = 'in' AND value IS NOT NULL AND tx_mc_block_seqno = 1110"
    : 'mc_block_seqno = 1110 AND account IN (SELECT account FROM old WHERE mc_block_seqno < 1110)';
  const lt = isMessage ? 'tx_lt' : 'lt';
  const select = `SELECT * REPLACE (CASE WHEN ${condition} AND ${lt} = (SELECT min(${lt}) FROM old WHERE ${condition})
    THEN ${value} ELSE ${column} END AS ${column}) FROM old`;
  return {
    name: `another ${column} of ${table}`,
    apply: (path) => replaceRows(path, fileOf(path, table, 1110), select),
    isDeep: true,
    finds: { kind },
    ...(most === undefined ? {} : { most }),
  };
}

const DEEP: readonly Damaged[] = [
  altered('prev_trans_lt', 'transactions', 'prev_trans_lt - 1', 'account-chain', A_SPAN),
  altered('prev_trans_hash', 'transactions', 'hash', 'account-chain'),
  altered('account_state_hash_before', 'transactions', 'hash', 'account-chain'),
  altered('orig_status', 'transactions', "'frozen'", 'account-chain'),
  altered('msg_hash', 'messages', 'tx_hash', 'message-ends'),
  altered('created_at', 'messages', 'created_at + 1', 'message-ends'),
  altered('ihr_disabled', 'messages', 'NOT ihr_disabled', 'message-ends'),
  altered('trace_id', 'messages', 'tx_hash', 'messages'),
  altered('body_hash', 'messages', 'msg_hash', 'content'),
  altered('destination', 'messages', 'source', 'content'),
  altered('account_state_balance_before', 'transactions', 'account_state_balance_before + 1', 'content'),
  rewritten(
    'a message that its sender lists under another name',
    'messages',
    `SELECT * REPLACE (CASE WHEN direction = 'out' AND msg_hash = (SELECT min(msg_hash) FROM old WHERE direction = 'out'
      AND msg_hash IN (SELECT msg_hash FROM old WHERE direction = 'in')) THEN tx_hash ELSE msg_hash END AS msg_hash) FROM old`,
    { isDeep: true, finds: { kind: 'message-ends' } },
  ),
];

/** Damages of a Parquet warehouse. */
export const DAMAGES: readonly Damaged[] = [...FILES, ...ROWS, ...LEDGER, ...DEEP];

/** Messages to remove: at which end, and which one. */
export const LOST_MESSAGES = [
  ['sent', "direction = 'out'"],
  ['sent', "direction = 'out' AND destination IS NULL"],
  ['sent', 'bounced'],
  ['received', "direction = 'in'"],
] as const;

/** Removes one end of a message. */
export async function loseMessage(path: string, end: 'sent' | 'received', condition: string): Promise<void> {
  const lost = `(SELECT min(msg_hash) FROM old WHERE ${condition})`;
  const side = `direction = '${end === 'sent' ? 'out' : 'in'}'`;
  const file = fileOf(path, 'messages', 1100);
  await replaceRows(path, file, `FROM old WHERE NOT (msg_hash = ${lost} AND ${side})`);
}

const edited = (name: string, sql: string, kind: FindingKind, most?: number): Damaged => ({
  name,
  apply: async (path) => {
    const database = await Database.open(path);
    await database.run(sql);
    database.close();
  },
  finds: { kind },
  ...(most === undefined ? {} : { most }),
});

const message = (end: string): string =>
  `DELETE FROM _rows.messages WHERE rowid = (SELECT min(rowid) FROM _rows.messages WHERE direction = '${end}')`;

const ROWS_OF_NO_ENTRY = 'INSERT INTO _rows.messages (SELECT * REPLACE (99 AS _entry) FROM _rows.messages LIMIT 5)';

/** Damages of a DuckDB warehouse. */
export const FILE_DAMAGES: readonly Damaged[] = [
  edited('a removed transaction', 'DELETE FROM _rows.transactions WHERE rowid = 777', 'block-rows'),
  edited(
    'a doubled transaction',
    'INSERT INTO _rows.transactions (FROM _rows.transactions LIMIT 1)',
    'transaction-twice',
  ),
  edited('a removed header', 'DELETE FROM _rows.blocks WHERE rowid = 77', 'rows-changed', A_SPAN + 1),
  edited('a removed state', 'DELETE FROM _rows.account_states WHERE rowid = 77', 'states'),
  edited('a removed message in', message('in'), 'messages', A_SPAN),
  edited('a removed message out', message('out'), 'messages'),
  edited('a deleted entry', 'DELETE FROM _ledger WHERE number = 4', 'entry-lost', A_SPAN + 1),
  edited('rows of no entry', ROWS_OF_NO_ENTRY, 'entry-lost', 0),
];
