import { copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Span } from '../../src/core/span.ts';
import type { Finding, FindingKind } from '../../src/verify/finding.ts';
import { editFile } from '../warehouse/warehouses.ts';
import { dropFile, entryFile, fileOf, readEntry, replaceRows, sign } from './support.ts';

/** A way to damage the warehouse of `exportWarehouse`. */
export interface Damaged {
  readonly name: string;
  /** Damages a copy. */
  readonly apply: (path: string) => Promise<void> | void;
  /** True if only `--deep` finds it. */
  readonly isDeep?: true;
  /** The expected finding; one of them if there are several. */
  readonly finds: Partial<Finding> & { readonly kind: FindingKind };
  /** Maximum number of requests of its repair. Default: only looked for, together with others, because another damage is repaired in the same way. */
  readonly most?: number;
}

/** Blocks of the three commits: damages of one table in other files have findings of their own. */
const FIRST = 1085;
const SECOND = 1100;
const THIRD = 1150;
const SPANS = {
  [FIRST]: { from: 1080, to: 1094 },
  [SECOND]: { from: 1095, to: 1139 },
  [THIRD]: { from: 1140, to: 1159 },
};
type At = keyof typeof SPANS;

/** Requests to repair one damaged file of a span: its pages, and for headers two shard states and the ends of the index. */
const A_SPAN = 5;
/** Selects over the rows of a file (`old`): without one row, and with one row twice. */
const WITHOUT_ONE = 'SELECT * EXCLUDE (rowid) FROM (SELECT *, rowid FROM old) WHERE rowid <> 20';
const WITH_ONE_TWICE = 'FROM old UNION ALL (FROM old LIMIT 1)';

/** Other rows with the right checksum, which would reveal them. */
const rewritten = (name: string, table: string, at: At, select: string, more: Partial<Damaged> = {}): Damaged => ({
  name,
  apply: (path) => replaceRows(path, fileOf(path, table, at), select),
  finds: { kind: 'rows-changed', table, span: SPANS[at] },
  ...more,
});

/** Swaps the blocks of two transactions whose times both blocks have. */
const swappedBlocks = (
  seqno: number,
): string => `WITH own AS (FROM old WHERE mc_block_seqno = ${seqno} AND block_workchain = 0),
  block AS (SELECT block_shard, min(lt) AS lt_from, max(lt) AS lt_to FROM own GROUP BY ALL),
  pair AS (SELECT x.hash AS one, y.hash AS other, x.block_shard AS one_shard, y.block_shard AS other_shard,
      x.block_seqno AS one_seqno, y.block_seqno AS other_seqno
    FROM own x JOIN own y ON x.block_shard < y.block_shard AND x.now = y.now
    JOIN block b ON b.block_shard = y.block_shard AND x.lt BETWEEN b.lt_from AND b.lt_to
    JOIN block c ON c.block_shard = x.block_shard AND y.lt BETWEEN c.lt_from AND c.lt_to ORDER BY ALL LIMIT 1)
  SELECT * EXCLUDE (one, other, one_shard, other_shard, one_seqno, other_seqno) REPLACE (
    CASE hash WHEN one THEN other_shard WHEN other THEN one_shard ELSE block_shard END AS block_shard,
    CASE hash WHEN one THEN other_seqno WHEN other THEN one_seqno ELSE block_seqno END AS block_seqno) FROM old, pair`;

const ROWS: readonly Damaged[] = [
  {
    name: "another span's file in its place",
    apply: (path) => {
      const [from = '', to = ''] = [THIRD, SECOND].map((seqno) => fileOf(path, 'transactions', seqno));
      copyFileSync(join(path, from), join(path, to));
      sign(path, to);
    },
    finds: { kind: 'rows-outside' },
    most: A_SPAN,
  },
  rewritten('a removed header', 'blocks', SECOND, WITHOUT_ONE, { most: A_SPAN }),
  rewritten('a doubled header', 'blocks', SECOND, WITH_ONE_TWICE),
  rewritten('a removed transaction', 'transactions', SECOND, WITHOUT_ONE),
  rewritten('a doubled transaction', 'transactions', THIRD, WITH_ONE_TWICE),
  rewritten('a removed message', 'messages', SECOND, WITHOUT_ONE, { most: A_SPAN }),
  rewritten('a doubled message', 'messages', SECOND, WITH_ONE_TWICE),
  rewritten('a removed state', 'account_states', SECOND, WITHOUT_ONE),
  rewritten('a doubled state', 'account_states', THIRD, WITH_ONE_TWICE),
  {
    name: 'two transactions in the block of each other, of another shard',
    apply: (path) => replaceRows(path, fileOf(path, 'transactions', THIRD), swappedBlocks(THIRD)),
    finds: {
      ...{ kind: 'block-rows', span: { from: THIRD, to: THIRD } },
      expected: expect.stringMatching(/^accounts of the shard of block 0:/),
    },
    most: A_SPAN,
  },
];

const editedEntry = (
  what: string,
  at: { readonly number: number; readonly span: Span },
  edit: (entry: string) => string,
  more: Partial<Damaged> = {},
): Damaged => ({
  name: `${what} in an entry of the ledger, edited`,
  apply: (path) => {
    const entry = entryFile(path, at.number);
    writeFileSync(entry, edit(readFileSync(entry, 'utf8')));
  },
  finds: { kind: 'rows-changed', entry: at.number, table: 'transactions', span: at.span },
  ...more,
});

const LEDGER: readonly Damaged[] = [
  editedEntry(
    ...(['rows', { number: 4, span: SPANS[SECOND] }] as const),
    (entry) => entry.replace(/"transactions":\{"rows":\d+/, '"transactions":{"rows":7'),
    { most: 0 },
  ),
  editedEntry('a sum', { number: 2, span: SPANS[FIRST] }, (entry) =>
    entry.replace(/"total_fees":"\d+"/, '"total_fees":"12"'),
  ),
  editedEntry('a hash of keys', { number: 6, span: SPANS[THIRD] }, (entry) =>
    entry.replace(/"keyHash":"\d+"/, '"keyHash":"12"'),
  ),
];

/** Changes one value in one row of a block. */
function altered(
  column: string,
  table: string,
  at: number,
  value: string,
  finds: Damaged['finds'],
  most?: number,
): Damaged {
  const isMessage = table === 'messages';
  const condition = isMessage
    ? `direction = 'in' AND value IS NOT NULL AND tx_mc_block_seqno = ${at}`
    : `mc_block_seqno = ${at} AND account IN (SELECT account FROM old WHERE mc_block_seqno < ${at})`;
  const lt = isMessage ? 'tx_lt' : 'lt';
  const select = `SELECT * REPLACE (CASE WHEN ${condition} AND ${lt} = (SELECT min(${lt}) FROM old WHERE ${condition})
    THEN ${value} ELSE ${column} END AS ${column}) FROM old`;
  return {
    name: `another ${column} of ${table}`,
    apply: (path) => replaceRows(path, fileOf(path, table, at), select),
    isDeep: true,
    finds: { table, ...finds },
    ...(most === undefined ? {} : { most }),
  };
}

const unlike = (what: string) => ({ kind: 'account-chain', got: expect.stringContaining(`another ${what}`) }) as const;
const unlikeEnds = (column: string) =>
  ({ kind: 'message-ends', expected: expect.stringContaining(`one "${column}" of`) }) as const;
const contentAt = (seqno: number) =>
  ({ kind: 'content', table: 'transactions', span: { from: seqno, to: seqno } }) as const;
/** Told where the message was sent. */
const UNSENT = { kind: 'message-ends', expected: expect.stringContaining('in what its sender sent') } as const;

/** Each in a block of its own, with a finding that no other one has. */
const DEEP: readonly Damaged[] = [
  altered('prev_trans_lt', 'transactions', 1110, 'prev_trans_lt - 1', { kind: 'account-chain' }, A_SPAN),
  altered('prev_trans_hash', 'transactions', 1104, 'hash', unlike('hash')),
  altered('account_state_hash_before', 'transactions', 1110, 'hash', unlike('state')),
  altered('orig_status', 'transactions', 1116, "'frozen'", unlike('status')),
  altered('account_state_balance_before', 'transactions', 1122, 'account_state_balance_before + 1', contentAt(1122)),
  altered('created_at', 'messages', 1107, 'created_at + 1', unlikeEnds('created_at')),
  altered('ihr_disabled', 'messages', 1113, 'NOT ihr_disabled', unlikeEnds('ihr_disabled')),
  altered('trace_id', 'messages', 1119, 'tx_hash', { kind: 'messages', span: { from: 1119, to: 1119 } }),
  altered('body_hash', 'messages', 1125, 'msg_hash', contentAt(1125)),
  altered('destination', 'messages', 1131, 'source', contentAt(1131)),
  altered('msg_hash', 'messages', 1137, 'tx_hash', { ...UNSENT, span: { from: 1135, to: 1135 } }),
  {
    name: 'a message that its sender lists under another name',
    apply: (path) =>
      replaceRows(
        path,
        fileOf(path, 'messages', THIRD),
        `SELECT * REPLACE (CASE WHEN direction = 'out' AND msg_hash = (SELECT min(msg_hash) FROM old WHERE direction = 'out'
          AND msg_hash IN (SELECT msg_hash FROM old WHERE direction = 'in')) THEN tx_hash ELSE msg_hash END AS msg_hash) FROM old`,
      ),
    isDeep: true,
    finds: { ...UNSENT, span: { from: 1147, to: 1147 } },
  },
];

/** Damages of a Parquet warehouse, by what they are about: none of a group hides the finding of another. */
export const DAMAGES = { rows: ROWS, ledger: LEDGER, 'chains and content': DEEP };

/** Messages to remove: at which end, and which one. */
export const LOST_MESSAGES = [
  ['sent', "direction = 'out'"],
  ['sent', "direction = 'out' AND destination IS NULL"],
  ['sent', 'bounced'],
  ['received', "direction = 'in'"],
] as const;

/** Where bytes of a warehouse are damaged. */
export interface Broken {
  readonly part: 'rows' | 'ledger' | 'others';
  /** Relative to the warehouse. */
  readonly file: string;
  readonly how: 'flipped' | 'cut' | 'gone';
  /** Where in the file, in millionths. */
  readonly place: number;
  readonly bit: number;
}

const DAMAGED_TOGETHER: readonly (readonly Broken['part'][])[] = [['rows'], ['ledger'], ['rows', 'ledger'], ['others']];

/**
 * Any damage of one file, or of a file with rows and an entry. An entry is not damaged together with the catalog, which knows whose a lost
 * one was.
 */
export function anyDamage(warehouse: string): fc.Arbitrary<readonly Broken[]> {
  const all = readdirSync(warehouse, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => relative(warehouse, join(each.parentPath, each.name)))
    .filter((file) => !file.startsWith('pinned'))
    .sort();
  const ledger = all.filter((file) => /^_ledger\/\d/.test(file));
  const rows = all.filter((file) => file.startsWith('tables/'));
  const others = all.filter((file) => !ledger.includes(file) && !rows.includes(file));
  const files: Readonly<Record<Broken['part'], readonly string[]>> = { rows, ledger, others };
  const one = (part: Broken['part']): fc.Arbitrary<Broken> =>
    fc.record({
      part: fc.constant(part),
      file: fc.constantFrom(...files[part]),
      how: fc.constantFrom('flipped', 'cut', 'gone'),
      place: fc.nat(999_999),
      bit: fc.nat(7),
    });
  // A warehouse whose rows were all removed has no files of them.
  const parts = DAMAGED_TOGETHER.filter((each) => each.every((part) => files[part].length > 0));
  return fc.oneof(...parts.map((each) => fc.tuple(...each.map(one))));
}

export function breakFile(path: string, { part, file, how, place, bit }: Broken): void {
  if (how === 'gone') return part === 'rows' ? dropFile(path, file) : rmSync(join(path, file));
  const bytes = readFileSync(join(path, file));
  const at = Math.floor((place / 1_000_000) * bytes.length);
  if (how === 'cut') return truncateSync(join(path, file), at);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(join(path, file), bytes);
}

/** What has to be found of a damage; undefined if nobody may read the byte, or the file is made again. */
export function findingOf(sound: string, { part, file, how }: Broken): Partial<Finding> | undefined {
  if (part === 'rows') return { kind: how === 'gone' ? 'file-missing' : 'file-changed', file };
  if (part === 'others' || how === 'flipped') return undefined;
  const { number, pipeline, span } = readEntry(join(sound, file));
  return { kind: how === 'gone' ? 'entry-lost' : 'entry-broken', entry: number, pipeline, span };
}

/** Removes one end of a message. */
export async function loseMessage(path: string, end: 'sent' | 'received', condition: string): Promise<void> {
  const lost = `(SELECT min(msg_hash) FROM old WHERE ${condition})`;
  const side = `direction = '${end === 'sent' ? 'out' : 'in'}'`;
  const file = fileOf(path, 'messages', 1100);
  await replaceRows(path, file, `FROM old WHERE NOT (msg_hash = ${lost} AND ${side})`);
}

const edited = (name: string, sql: string, finds: Damaged['finds'], most?: number): Damaged => ({
  name,
  apply: (path) => editFile(path, sql),
  finds,
  ...(most === undefined ? {} : { most }),
});

const message = (end: string): string =>
  `DELETE FROM _rows.messages WHERE rowid = (SELECT min(rowid) FROM _rows.messages WHERE direction = '${end}')`;

const ROWS_OF_NO_ENTRY = 'INSERT INTO _rows.messages (SELECT * REPLACE (99 AS _entry) FROM _rows.messages LIMIT 5)';

/** Damages of a DuckDB warehouse. */
export const FILE_DAMAGES: readonly Damaged[] = [
  edited('a removed transaction', 'DELETE FROM _rows.transactions WHERE rowid = 777', {
    kind: 'block-rows',
    span: { from: 1132, to: 1132 },
  }),
  edited('a doubled transaction', 'INSERT INTO _rows.transactions (FROM _rows.transactions LIMIT 1)', {
    kind: 'transaction-twice',
  }),
  edited(
    'a removed header',
    'DELETE FROM _rows.blocks WHERE rowid = 77',
    { kind: 'rows-changed', table: 'blocks' },
    A_SPAN + 1,
  ),
  edited('a removed state', 'DELETE FROM _rows.account_states WHERE rowid = 77', {
    kind: 'states',
    span: { from: 1086, to: 1086 },
  }),
  edited('a removed message in', message('in'), { kind: 'messages' }, A_SPAN),
  edited('a removed message out', message('out'), {
    kind: 'messages',
    expected: expect.stringContaining(' sent messages'),
  }),
  edited('a deleted entry', 'DELETE FROM _ledger WHERE number = 4', { kind: 'entry-lost', entry: 4 }, A_SPAN + 1),
  edited('rows of no entry', ROWS_OF_NO_ENTRY, { kind: 'entry-lost', entry: 99 }, 0),
];
