import type { ColumnDef } from '../declare/column.ts';
import type { RoleName } from '../declare/roles.ts';
import type { TableDef } from '../declare/table.ts';
import { messageColumns, transactionColumns } from './proof-columns.ts';

/** What can prove the value of a column. */
export const proofKinds = {
  hash: 'the cell of the transaction: rebuilt from its columns, it has the hash of the transaction',
  header: 'the headers of blocks: their links, numbers, times, and counts of transactions',
  chain: 'the transactions of the same account before and after it (`verify --deep`)',
  arithmetic:
    'a sum: the balance after is that before, plus what was received or credited, minus fees and what was sent',
  table: 'rows of another table that say the same',
  nothing: 'nothing: it is what the source answered',
} as const;

export type ProofKind = keyof typeof proofKinds;

export interface ColumnProof {
  readonly by: readonly ProofKind[];
  /** Details. */
  readonly note?: string;
}

type ColumnProofs = Readonly<Record<string, ColumnProof>>;

/** The same proof of several columns. */
function each(names: readonly string[], by: readonly ProofKind[], note?: string): ColumnProofs {
  return Object.fromEntries(names.map((name) => [name, note === undefined ? { by } : { by, note }]));
}

/** Both states of a transaction. */
function states(name: string): readonly string[] {
  return [`account_state_${name}_before`, `account_state_${name}_after`];
}

const STUB = 'the hash of the state covers it, but the source does not give the whole state';

/** Headers: links prove that none is missing; stored transactions prove other columns. */
const HEADERS: ColumnProofs = {
  ...each(['workchain', 'shard', 'seqno', 'prev_blocks'], ['header'], 'each block is named by the one that follows it'),
  ...each(
    ['mc_block_seqno'],
    ['header', 'table'],
    'masterchain blocks have no gap, and no lower one follows; transactions name the same block',
  ),
  ...each(['tx_count'], ['table'], 'there are as many transactions'),
  ...each(['gen_utime'], ['header', 'table'], 'no earlier than the block before; the time of each transaction'),
  ...each(['start_lt', 'end_lt'], ['header', 'table'], 'after the block before; around those of its transactions'),
  ...each(['root_hash'], ['table'], 'at a witness for one block of each commit'),
};

const TRANSACTIONS: ColumnProofs = {
  ...each(transactionColumns, ['hash']),
  hash: { by: ['hash', 'header'], note: 'there once; its block has as many transactions as its header says' },
  ...each(['lt', 'now'], ['hash', 'header'], 'within the times of its block'),
  ...each(['prev_trans_hash', 'prev_trans_lt'], ['hash', 'chain']),
  ...each(['orig_status', 'end_status'], ['hash', 'chain'], 'it begins with the status that the one before left'),
  ...each(states('hash'), ['hash', 'chain'], 'it begins with the state that the one before left'),
  ...each(states('status'), ['hash'], 'the same as orig_status and end_status'),
  ...each(states('balance'), ['arithmetic'], 'if the index has both'),
  installed: { by: ['hash'], note: 'set in `split_install` only, whose content is unchecked' },
  ...each(['block_workchain', 'block_shard'], ['header'], 'the shard that its account belongs to'),
  ...each(['block_seqno', 'mc_block_seqno'], ['header'], 'by the count and the times of its block'),
  trace_id: { by: ['table'], note: 'as many as its trace counts, where traces are exported' },
  ...each(['code_hash', 'data_hash', 'frozen_hash', 'extra_currencies'].flatMap(states), ['nothing'], STUB),
  ...each(['trace_external_hash', 'emulated', 'finality'], ['nothing']),
};

const MESSAGES: ColumnProofs = {
  ...each(messageColumns, ['hash']),
  opcode: { by: ['hash'], note: 'the first 32 bits of the body' },
  msg_hash_norm: { by: ['hash'], note: 'the hash of the message in its normal form' },
  ...each(['ihr_fee', 'extra_flags'], ['hash'], 'one of both stands in the message; the other is 0 or null'),
  ...each(['tx_hash', 'tx_lt', 'tx_now', 'tx_mc_block_seqno', 'trace_id'], ['table'], 'those of its transaction'),
  ...each(['decoded_opcode', 'decoded', 'comment', 'init_state_decoded'], ['nothing'], 'decoded by the server'),
  ...each(['in_msg_tx_hash', 'out_msg_tx_hash'], ['nothing']),
};

/** What proves the columns of the tables that play a role; nothing proves others. */
export const proofsByRole: Readonly<Partial<Record<RoleName, ColumnProofs>>> = {
  headers: HEADERS,
  counted: TRANSACTIONS,
  messageEnds: MESSAGES,
};

/**
 * The proof of each column of a table, by name; undefined if only whole rows are proven, as in lists.
 *
 * @param parent the table in whose rows these rows are nested
 */
export function columnProofs(table: TableDef, parent?: TableDef): ReadonlyMap<string, ColumnProof> | undefined {
  const { rows, plays } = table;
  const declared = plays === undefined ? undefined : proofsByRole[plays];
  const isState = rows.kind === 'projection' && parent?.plays === 'counted';
  if (declared === undefined && !isState) return undefined;
  const proofOf = (column: ColumnDef): ColumnProof => declared?.[column.name] ?? projected(column, parent);
  return new Map(table.columns.filter(isReceived).map((column) => [column.name, proofOf(column)]));
}

/** Columns that are derived from others have no proof of their own. */
function isReceived({ origin }: ColumnDef): boolean {
  return origin.kind !== 'time' && origin.kind !== 'extra';
}

function projected({ origin }: ColumnDef, parent: TableDef | undefined): ColumnProof {
  const same = parent?.columns.find(
    (column) => column.origin.kind === 'path' && origin.kind === 'path' && column.origin.path === origin.path,
  );
  return same === undefined ? { by: ['nothing'] } : { by: ['table'], note: `\`${parent?.name}.${same.name}\`` };
}
