import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../src/sql/database.ts';
import type { Finding, FindingKind } from '../../src/verify/finding.ts';
import { dropFile, fileOf, ledgerFiles, rewrite } from './support.ts';

/** A way to damage the warehouse of `exportWarehouse`. */
export interface Damaged {
  readonly name: string;
  /** Damages a copy. */
  readonly apply: (path: string) => Promise<void> | void;
  /** True for a copy without checksums, which would reveal the damage. */
  readonly isUnsigned?: boolean;
  /** True if only `--deep` finds it. */
  readonly isDeep?: true;
  /** The expected finding; one of them if there are several. */
  readonly finds: Partial<Finding> & { readonly kind: FindingKind };
  /** The steps of its repair, as listed by `plannedRepair`. */
  readonly work: readonly string[];
  /** Maximum number of requests of its repair. Default: only planned, because another damage is repaired in the same way. */
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

const flipped = (table: string, work: string, more: Partial<Damaged> = {}): Damaged => ({
  name: `a flipped byte in a file of ${table}`,
  apply: (path) => flip(path, table, 3),
  finds: { kind: 'file-changed', table },
  work: [work],
  ...more,
});

const missing = (table: string, work: string, most: number): Damaged => ({
  name: `a missing file of ${table}`,
  apply: (path) => dropFile(path, fileOf(path, table, 1100)),
  finds: { kind: 'file-missing', table },
  work: [work],
  most,
});

const rewritten = (
  name: string,
  table: string,
  select: string,
  work: string,
  more: Partial<Damaged> = {},
): Damaged => ({
  name,
  apply: (path) => rewrite(path, fileOf(path, table, 1100), select),
  isUnsigned: true,
  finds: { kind: 'rows-changed' },
  work: [work],
  ...more,
});

const WHOLE = 'transactions 1095:1139: ask 1095:1139, suspect rows';
const UNREADABLE = 'transactions 1095:1139: ask 1095:1139, cannot read transactions';
const messages = (seqnos: string): string => `transactions 1095:1139: ask ${seqnos}, doubt messages, suspect rows`;
const transactions = (seqnos: string): string =>
  `transactions 1095:1139: ask ${seqnos}, doubt transactions, suspect rows`;
const withStates = (span: string, seqnos: string): string =>
  `transactions ${span}: ask ${seqnos}, compute account_states, doubt transactions, suspect rows`;
const headers = (seqnos: string): string => `blocks 1095:1139: ask ${seqnos}, doubt blocks, suspect rows`;
const STATES = 'transactions 1095:1139: compute account_states, suspect rows';

const FILES: readonly Damaged[] = [
  flipped('blocks', 'blocks 1095:1139: ask 1095:1139, suspect rows', { most: A_SPAN }),
  flipped('transactions', WHOLE, { most: A_SPAN }),
  flipped('messages', WHOLE),
  flipped('account_states', STATES),
  missing('blocks', 'blocks 1095:1139: ask 1095:1139, cannot read blocks', A_SPAN),
  missing('transactions', UNREADABLE, A_SPAN),
  missing('messages', 'transactions 1095:1139: ask 1095:1139, cannot read messages', A_SPAN),
  missing('account_states', 'transactions 1095:1139: compute account_states, cannot read account_states', 0),
  {
    name: 'a truncated file',
    apply: (path) => truncateSync(join(path, fileOf(path, 'transactions', 1100)), 2000),
    finds: { kind: 'file-unreadable' },
    work: [UNREADABLE],
  },
  {
    name: "another span's file in its place",
    apply: (path) => {
      const [from, to] = [1150, 1100].map((seqno) => join(path, fileOf(path, 'transactions', seqno)));
      copyFileSync(from ?? '', to ?? '');
    },
    isUnsigned: true,
    finds: { kind: 'rows-outside' },
    work: [UNREADABLE],
  },
];

/** With checksums, damage is found in the file, whatever its table. */
const ROWS: readonly Damaged[] = [
  rewritten('a removed header', 'blocks', WITHOUT_ONE, headers('1100:1102'), { most: A_SPAN }),
  rewritten('a doubled header', 'blocks', WITH_ONE_TWICE, headers('1095')),
  rewritten('a removed transaction', 'transactions', WITHOUT_ONE, withStates('1095:1139', '1096'), { most: A_SPAN }),
  rewritten('a doubled transaction', 'transactions', WITH_ONE_TWICE, withStates('1095:1139', '1095')),
  rewritten('a removed message', 'messages', WITHOUT_ONE, messages('1095'), { most: A_SPAN }),
  rewritten('a doubled message', 'messages', WITH_ONE_TWICE, messages('1095')),
  rewritten('a removed state', 'account_states', WITHOUT_ONE, STATES, { most: 0 }),
  rewritten('a doubled state', 'account_states', WITH_ONE_TWICE, STATES),
  rewritten('a removed row with checksums', 'transactions', WITHOUT_ONE, WHOLE, { isUnsigned: false }),
  rewritten('a doubled row with checksums', 'transactions', WITH_ONE_TWICE, WHOLE, { isUnsigned: false }),
];

const editedEntry = (what: string, edit: (entry: string) => string, more: Partial<Damaged> = {}): Damaged => ({
  name: `${what} in an entry of the ledger, edited`,
  apply: (path) => {
    const entry = ledgerFiles(path)[3] ?? '';
    writeFileSync(entry, edit(readFileSync(entry, 'utf8')));
  },
  finds: { kind: 'rows-changed' },
  // The entry is rewritten from its rows, which are sound.
  work: ['transactions 1095:1139: suspect rows'],
  ...more,
});

/** The first, a middle and the last entry. */
const deletedEntry = (
  at: number,
  finds: Partial<Finding>,
  work: readonly string[],
  more: Partial<Damaged> = {},
): Damaged => ({
  name: `a deleted entry (${at})`,
  apply: (path) => rmSync(ledgerFiles(path)[at] ?? ''),
  finds: { kind: 'entry-lost', entry: at + 1, ...finds },
  work,
  ...more,
});

const LEDGER: readonly Damaged[] = [
  editedEntry('rows', (entry) => entry.replace(/"transactions":\{"rows":\d+/, '"transactions":{"rows":7'), { most: 0 }),
  editedEntry('a sum', (entry) => entry.replace(/"total_fees":"\d+"/, '"total_fees":"12"')),
  editedEntry('a hash of keys', (entry) => entry.replace(/"keyHash":"\d+"/, '"keyHash":"12"')),
  deletedEntry(0, { pipeline: 'blocks', span: { from: 1080, to: 1094 } }, ['fill the ledger', 'run blocks 1080:1094']),
  deletedEntry(
    3,
    { pipeline: 'transactions', span: { from: 1095, to: 1139 } },
    ['fill the ledger', 'run transactions 1095:1139'],
    { most: A_SPAN + 1 },
  ),
  deletedEntry(5, { pipeline: 'transactions', span: { from: 1140, to: 1159 } }, ['run transactions 1140:1159'], {
    most: A_SPAN + 1,
  }),
  {
    name: 'a torn entry',
    apply: (path) => truncateSync(ledgerFiles(path)[2] ?? '', 100),
    finds: { kind: 'entry-broken', entry: 3 },
    work: ['fill the ledger', 'run blocks 1095:1139'],
    most: A_SPAN + 1,
  },
];

/** Changes one value in one row of block 1110. */
function altered(
  column: string,
  table: string,
  value: string,
  kind: FindingKind,
  work: string,
  most?: number,
): Damaged {
  const isMessage = table === 'messages';
  const condition = isMessage
    ? "direction = 'in' AND value IS NOT NULL AND tx_mc_block_seqno = 1110"
    : 'mc_block_seqno = 1110 AND account IN (SELECT account FROM old WHERE mc_block_seqno < 1110)';
  const lt = isMessage ? 'tx_lt' : 'lt';
  const select = `SELECT * REPLACE (CASE WHEN ${condition} AND ${lt} = (SELECT min(${lt}) FROM old WHERE ${condition})
    THEN ${value} ELSE ${column} END AS ${column}) FROM old`;
  return {
    name: `another ${column} of ${table}`,
    apply: (path) => rewrite(path, fileOf(path, table, 1110), select),
    isUnsigned: true,
    isDeep: true,
    finds: { kind },
    work: [work],
    ...(most === undefined ? {} : { most }),
  };
}

const CHAIN = transactions('1097,1105,1110');
const DEEP: readonly Damaged[] = [
  altered('prev_trans_lt', 'transactions', 'prev_trans_lt - 1', 'account-chain', CHAIN, A_SPAN),
  altered('prev_trans_hash', 'transactions', 'hash', 'account-chain', CHAIN),
  altered('account_state_hash_before', 'transactions', 'hash', 'account-chain', CHAIN),
  altered('orig_status', 'transactions', "'frozen'", 'account-chain', transactions('1110')),
  altered('msg_hash', 'messages', 'tx_hash', 'message-ends', messages('1107,1109')),
  altered('created_at', 'messages', 'created_at + 1', 'message-ends', messages('1107,1109:1110'), A_SPAN),
  altered('ihr_disabled', 'messages', 'NOT ihr_disabled', 'message-ends', messages('1107,1109:1110')),
  altered('trace_id', 'messages', 'tx_hash', 'messages', messages('1110')),
  altered('body_hash', 'messages', 'msg_hash', 'content', messages('1110')),
  altered('destination', 'messages', 'source', 'content', messages('1110')),
  altered(
    'account_state_balance_before',
    'transactions',
    'account_state_balance_before + 1',
    'content',
    transactions('1110'),
  ),
  rewritten(
    'a message that its sender lists under another name',
    'messages',
    `SELECT * REPLACE (CASE WHEN direction = 'out' AND msg_hash = (SELECT min(msg_hash) FROM old WHERE direction = 'out'
      AND msg_hash IN (SELECT msg_hash FROM old WHERE direction = 'in')) THEN tx_hash ELSE msg_hash END AS msg_hash) FROM old`,
    messages('1105'),
    { isDeep: true, finds: { kind: 'message-ends' } },
  ),
];

/** Damages of a Parquet warehouse. */
export const DAMAGES: readonly Damaged[] = [...FILES, ...ROWS, ...LEDGER, ...DEEP];

/** Messages to remove: at which end, which one, and in which block it is found. */
export const LOST_MESSAGES = [
  ['sent', "direction = 'out'", '1105'],
  ['sent', "direction = 'out' AND destination IS NULL", '1139'],
  ['sent', 'bounced', '1108'],
  ['received', "direction = 'in'", '1108'],
] as const;

/** Removes one end of a message. */
export async function loseMessage(path: string, end: 'sent' | 'received', condition: string): Promise<void> {
  const lost = `(SELECT min(msg_hash) FROM old WHERE ${condition})`;
  const side = `direction = '${end === 'sent' ? 'out' : 'in'}'`;
  await rewrite(path, fileOf(path, 'messages', 1100), `FROM old WHERE NOT (msg_hash = ${lost} AND ${side})`);
}
/** The repair of a lost message of a block. */
export const workOnMessages = messages;

const edited = (name: string, sql: string, kind: FindingKind, work: readonly string[], most?: number): Damaged => ({
  name,
  apply: async (path) => {
    const database = await Database.open(path);
    await database.run(sql);
    database.close();
  },
  finds: { kind },
  work,
  ...(most === undefined ? {} : { most }),
});

const message = (end: string): string =>
  `DELETE FROM _rows.messages WHERE rowid = (SELECT min(rowid) FROM _rows.messages WHERE direction = '${end}')`;
const MESSAGE_WORK = ['transactions 1080:1094: ask 1080, doubt messages, suspect rows'];

const ROWS_OF_NO_ENTRY = 'INSERT INTO _rows.messages (SELECT * REPLACE (99 AS _entry) FROM _rows.messages LIMIT 5)';

/** Damages of a DuckDB warehouse. */
export const FILE_DAMAGES: readonly Damaged[] = [
  edited(
    'a removed transaction',
    'DELETE FROM _rows.transactions WHERE rowid = 777',
    'block-rows',
    [withStates('1095:1139', '1132')],
    1,
  ),
  edited(
    'a doubled transaction',
    'INSERT INTO _rows.transactions (FROM _rows.transactions LIMIT 1)',
    'transaction-twice',
    [withStates('1080:1094', '1080')],
  ),
  edited(
    'a removed header',
    'DELETE FROM _rows.blocks WHERE rowid = 77',
    'rows-changed',
    [headers('1096:1098')],
    A_SPAN + 1,
  ),
  edited(
    'a removed state',
    'DELETE FROM _rows.account_states WHERE rowid = 77',
    'states',
    ['transactions 1080:1094: compute account_states, suspect rows'],
    0,
  ),
  edited('a removed message in', message('in'), 'messages', MESSAGE_WORK, 1),
  edited('a removed message out', message('out'), 'messages', MESSAGE_WORK),
  edited(
    'a deleted entry',
    'DELETE FROM _ledger WHERE number = 4',
    'entry-lost',
    ['fill the ledger', 'run transactions 1095:1139'],
    A_SPAN + 1,
  ),
  edited('rows of no entry', ROWS_OF_NO_ENTRY, 'entry-lost', ['fill the ledger', 'run transactions 1080'], 0),
];
