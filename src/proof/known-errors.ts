/** An error that servers are known to make. Undone, it gives a transaction its hash; then the true value is stored. */
export interface KnownError {
  readonly name: string;
  /** What the server sends. */
  readonly doc: string;
  /** Columns that get their true value. */
  readonly columns: readonly string[];
  readonly servers: string;
  readonly reference: string;
}

/** Servers swap gas and fees of it in one place of their decoder. */
const gasSwapped: KnownError = {
  name: 'gas-swapped',
  doc: 'gas fees and gas used of the compute phase are swapped',
  columns: ['compute_gas_fees', 'compute_gas_used'],
  servers: 'ton-index-worker before its pull request 118',
  reference: 'https://github.com/toncenter/ton-index-worker/pull/118',
};

const noCreditPhase: KnownError = {
  name: 'no-credit-phase',
  doc: 'a credit phase that the transaction does not have, with a number from uninitialised memory',
  columns: ['credit', 'credit_due_fees_collected', 'credit_extra_currencies'],
  servers: 'TON Index v3 servers of 2024',
  reference: 'https://github.com/toncenter/ton-index-worker',
};

const skipReason: KnownError = {
  name: 'skip-reason',
  doc: 'a skipped compute phase is sent as `type` and `skip_reason`, for which there are no columns',
  columns: ['compute_skipped', 'skipped_reason'],
  servers: 'TON Index v3 servers of 2024',
  reference: 'https://github.com/toncenter/ton-index-worker',
};

const wrongOpcode: KnownError = {
  name: 'wrong-opcode',
  doc: 'the opcode of a message is not the first 32 bits of its body',
  columns: ['opcode'],
  servers: 'some TON Index v3 servers of 2025',
  reference: 'https://github.com/toncenter/ton-indexer',
};

/** All of them, by name. */
export const knownErrors = { gasSwapped, noCreditPhase, skipReason, wrongOpcode } as const;

/** What a count of `LedgerEntry.content` says. */
export function describeContent(name: string): string {
  const error = Object.values(knownErrors).find((each) => each.name === name);
  if (error !== undefined) return `corrected: ${error.doc}`;
  return `transactions: content unchecked (${name.replaceAll('-', ' ')})`;
}
