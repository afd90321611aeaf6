import type { Correction } from './corrections.ts';

/** Verdicts on the content of a transaction, in the order of `wasm/content/transactions.ts`. */
export const verdicts = [
  ...(['undecided', 'agrees', 'gas-swapped', 'no-credit-phase', 'contradicted', 'other-type'] as const),
  ...(['many-messages', 'many-unknown-messages'] as const),
  ...(['skipped-no_state', 'skipped-bad_state', 'skipped-no_gas', 'skipped-suspended', 'no-cells'] as const),
];

/** Verdicts on transactions whose content cannot be compared with their hash, and why. Nothing else contradicts them. */
export const uncheckedReasons: Readonly<Record<string, string>> = {
  'no-cells': 'the hashes of this network are not those of cells; its blocks are unproven',
  'other-type': 'its type contains another transaction (split_install, merge_install)',
  'many-messages': 'it sent more than 255 messages',
  'many-unknown-messages': 'the source does not give all of its messages, in more than 60 combinations',
};

/** A known error of servers. If undoing it gives the transaction its hash, the true values are stored. */
export interface KnownError {
  readonly name: string;
  /** What the server sends. */
  readonly doc: string;
  /** Columns that get their true value. */
  readonly columns: readonly string[];
  /** The true values, by the verdict of the proof; none if each row has its own. */
  readonly truths: Readonly<Record<string, Correction['values']>>;
  readonly servers: string;
  readonly reference: string;
}

const skipReasons = ['no_state', 'bad_state', 'no_gas', 'suspended'];

export const WRONG_OPCODE = 'wrong-opcode';

export const knownErrors: readonly KnownError[] = [
  {
    name: 'gas-swapped',
    doc: 'gas fees and gas used of the compute phase are swapped',
    columns: ['compute_gas_fees', 'compute_gas_used'],
    truths: {
      'gas-swapped': { compute_gas_fees: { of: 'compute_gas_used' }, compute_gas_used: { of: 'compute_gas_fees' } },
    },
    servers: 'ton-index-worker before its pull request 118',
    reference: 'https://github.com/toncenter/ton-index-worker/pull/118',
  },
  {
    name: 'no-credit-phase',
    doc: 'a credit phase that the transaction does not have, with a number from uninitialised memory',
    columns: ['credit', 'credit_due_fees_collected', 'credit_extra_currencies'],
    truths: { 'no-credit-phase': { credit: null, credit_due_fees_collected: null, credit_extra_currencies: null } },
    servers: 'TON Index v3 servers of 2024',
    reference: 'https://github.com/toncenter/ton-index-worker',
  },
  {
    name: 'skip-reason',
    doc: 'a skipped compute phase is sent as `type` and `skip_reason`, for which there are no columns',
    columns: ['compute_skipped', 'skipped_reason'],
    truths: Object.fromEntries(
      skipReasons.map((reason) => [`skipped-${reason}`, { compute_skipped: true, skipped_reason: reason }]),
    ),
    servers: 'TON Index v3 servers of 2024',
    reference: 'https://github.com/toncenter/ton-index-worker',
  },
  {
    name: WRONG_OPCODE,
    doc: 'the opcode of a message is not the first 32 bits of its body',
    columns: ['opcode'],
    truths: {},
    servers: 'some TON Index v3 servers of 2025',
    reference: 'https://github.com/toncenter/ton-indexer',
  },
];

const corrections = new Map(
  knownErrors.flatMap(({ name, truths }) =>
    Object.entries(truths).map(([verdict, values]) => [verdict, { error: name, values }] as const),
  ),
);

/** The correction for a verdict; undefined if nothing is wrong, or no correction is known. */
export function correctionFor(verdict: string): Omit<Correction, 'key'> | undefined {
  return corrections.get(verdict);
}

/** Describes a count of `LedgerEntry.content` in words. */
export function describeContent(name: string): string {
  const error = knownErrors.find((known) => known.name === name);
  if (error !== undefined) return `corrected: ${error.doc}`;
  switch (name) {
    case 'agrees':
      return 'transactions: content proven by their hashes';
    case 'contradicted':
      return 'transactions: content contradicts their hashes; their blocks are unproven';
    case 'unknown-messages':
      return 'messages: content unchecked, because the source does not give all of it';
    default: {
      const reason = uncheckedReasons[name];
      return `transactions: content unchecked${reason === undefined ? '' : `: ${reason}`}`;
    }
  }
}
