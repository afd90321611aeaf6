/**
 * All lies by name: what lists say about masterchain block N while the fault is enabled. "The shard block" is the block of N with
 * the most transactions; if N has none, or too few rows, a lie about them changes nothing. Requests by id or hash get the same false
 * records. `/messages` and what is derived from transactions (traces, actions, transfers) stay true.
 */
export const LIES = {
  'mc-count-up': 'the masterchain header counts one transaction too many',
  'mc-count-down': 'the masterchain header counts one transaction too few',
  'mc-count-zero': 'the masterchain header counts none',
  'shard-count-up': "the shard block's header counts one too many",
  'shard-count-down': "the shard block's header counts one too few",
  'shard-count-zero': "the shard block's header counts none",
  'mc-header-missing': 'the masterchain header is in no list',
  'shard-header-missing': "the shard block's header is in no list; its successor still links to it",
  'mc-header-twice': 'the masterchain header is listed twice',
  'shard-header-twice': "the shard block's header is listed twice",
  'header-other-masterchain': 'the shard header says that masterchain block N + 1 includes it',
  'mc-header-other-masterchain': 'the masterchain header says that masterchain block N + 1 includes it',
  'header-late-masterchain': 'the shard header says that masterchain block N + 4 includes it',
  'header-early-masterchain': 'the shard header says that masterchain block N - 4 includes it',
  'header-other-shard': 'the shard header has the id of another shard',
  'header-other-seqno': 'the shard header has a seqno that nobody links to',
  'stray-header': 'one more header, of the same shard, that nobody links to',
  'prev-unknown': 'the shard header links to a block that never was',
  'prev-itself': 'the shard header links to itself',
  'prev-empty': 'the shard header links to nothing',
  'mc-prev-unknown': 'the masterchain header links to a block that never was',
  'start-lt-late': 'the shard block begins after its first transactions',
  'end-lt-early': 'the shard block ends before its last transactions',
  'start-lt-early': 'the shard block begins before the end of the block before it',
  'header-time-early': 'the shard header has a time three seconds earlier',
  'mc-time-wrong': 'the masterchain header has a time a second later',
  'blocks-half': 'a list of blocks that holds one of N ends at its middle',
  'blocks-empty': 'a list of blocks that holds one of N is empty',
  'transaction-missing-first': 'the first transaction by lt and account is missing',
  'transaction-missing-middle': 'a transaction in the middle is missing',
  'transaction-missing-last': 'the last transaction is missing',
  'tick-tock-missing': 'a tick-tock of the masterchain block is missing',
  'transaction-twice': 'a transaction is listed twice, the same in all',
  'transaction-twice-other-lt': 'a transaction is listed twice, once with another lt',
  'transaction-twice-other-hash': 'two transactions of one account share an lt, with different hashes',
  'transaction-other-seqno': "a transaction's block_ref names another seqno of the shard",
  'transaction-other-shard': "a transaction's block_ref names another shard",
  'transaction-other-workchain': "a transaction's block_ref names the masterchain",
  'transactions-swapped': 'two transactions of one time each name the block of the other, in another shard',
  'transaction-other-masterchain': 'a transaction listed in N says mc_block_seqno N + 1',
  'transaction-of-next': 'a transaction of N + 1 is listed as one of N, and not in N + 1',
  'transactions-of-next': 'instead of the transactions of N there are those of N + 1, once more',
  'transaction-lt-outside': "a transaction's lt lies after the end of its block",
  'transaction-time-wrong': "a transaction's time is a day after that of its block",
  'hash-changes': 'a transaction has another hash each time it is read',
  'transactions-half': 'a list of transactions that holds one of N ends at its middle',
  'transactions-empty': 'a list of transactions that holds one of N is empty',
  'hole-forever': 'the transactions of N are 404 for good while its headers are listed; windows leave them out',
  'state-shard-missing': 'the shard state of N lacks a shard',
  'state-older': 'the shard state of N shows the block before the newest',
  'state-never': 'the shard state of N is 404 for good',
  'prev-lt-wrong': 'prev_trans_lt is not that of the transaction before',
  'prev-hash-wrong': 'prev_trans_hash is not that of the transaction before',
  'state-hash-wrong': 'the state before is not the state after the transaction before',
  'in-message-value-wrong': 'a received message carries another value than the one that was sent',
  'out-message-to-other': 'a sent message names another recipient than the one that received it',
  'in-message-missing': 'an ordinary transaction has no in_msg',
  'in-message-of-tick-tock': 'a tick-tock has the in_msg of another transaction',
  'out-message-missing': 'an outgoing message is missing from out_msgs',
  'out-message-twice': 'an outgoing message is in out_msgs twice',
  'out-message-instead': 'an outgoing message is in out_msgs twice, the second time instead of another',
  'log-missing': 'a message to nowhere is missing from out_msgs',
  'bounce-missing': 'the message that a transaction bounced is missing from out_msgs',
} as const;

export type LieKind = keyof typeof LIES;

/** A lasting contradiction about one masterchain block. */
export interface Lie {
  readonly seqno: number;
  readonly kind: LieKind;
}

export const LIE_KINDS: readonly LieKind[] = Object.keys(LIES).filter((name): name is LieKind => name in LIES);

/** Lies about messages: they match every header, and only contradict their own transactions. */
export const MESSAGE_LIES: ReadonlySet<LieKind> = new Set<LieKind>([
  'in-message-missing',
  'in-message-of-tick-tock',
  'out-message-missing',
  'out-message-twice',
  'out-message-instead',
  'log-missing',
  'bounce-missing',
]);

/** Lies that match every header and every count, and only contradict other transactions. */
export const DEEP_LIES: ReadonlySet<LieKind> = new Set<LieKind>([
  'prev-lt-wrong',
  'prev-hash-wrong',
  'state-hash-wrong',
  'in-message-value-wrong',
  'out-message-to-other',
]);
