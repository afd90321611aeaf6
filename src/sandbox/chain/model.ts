import type { Account } from './accounts.ts';
import type { Body } from './bodies.ts';
import { EXTREME_EPOCH } from './clock.ts';
import type { BlockPlan } from './shards.ts';

export type Status = 'uninit' | 'frozen' | 'active' | 'nonexist';

/** Amounts of extra currencies by their decimal id. */
export type Extra = ReadonlyMap<string, bigint>;

/** What became of a transaction. */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'skipped'; readonly reason: 'no_state' | 'bad_state' | 'no_gas' | 'suspended' }
  | { readonly kind: 'failed'; readonly exitCode: number; readonly exitArg?: number }
  | { readonly kind: 'action-failed'; readonly resultCode: number; readonly resultArg?: number };

export type Bounce = 'ok' | 'nofunds' | 'negfunds';

/** Compute phase of a transaction that ran. */
export interface Compute {
  gasUsed: string;
  gasFees: string;
  gasLimit: string;
  gasCredit: string | undefined;
  mode: number;
  vmSteps: number;
}

/** A message of the template. */
export interface Message {
  readonly id: number;
  readonly kind: 'internal' | 'external-in' | 'external-out';
  readonly source: Account | undefined;
  readonly destination: Account | undefined;
  readonly body: Body;
  readonly init: Body | undefined;
  value: number;
  /** Decimal text that is shown instead of `value` from `EXTREME_EPOCH` on. */
  readonly extremeValue: string | undefined;
  readonly extra: Extra;
  readonly bounce: boolean;
  readonly bounced: boolean;
  readonly extraFlags: string | null;
  readonly importFee: number;
  /** Whether an inbound external has a normalized hash of its own. */
  readonly normalized: boolean;
  fwdFee: number;
  from: Transaction | undefined;
  to: Transaction | undefined;
  /** Position among the outgoing messages of its sender, from 1. */
  order: number;
}

/** What a message carries in an epoch, as decimal text. */
export function valueIn(epoch: number, { value, extremeValue }: Message): string {
  return epoch >= EXTREME_EPOCH && extremeValue !== undefined ? extremeValue : String(value);
}

/** A transaction of the template. `slot` is counted from the first slot of the trace's own epoch until it is settled. */
export interface Transaction {
  readonly id: number;
  readonly account: Account;
  readonly incoming: Message | undefined;
  readonly outgoing: Message[];
  /** The transaction its trace began with; undefined when it is that itself. */
  readonly root: Transaction | undefined;
  /** Slot in which it runs, within the epoch. */
  slot: number;
  /** 1 when it runs one epoch after the epoch its trace began in. */
  cycle: number;
  block: BlockPlan;
  /** Transactions of the same trace in the same block that must run before it. */
  depth: number;
  /** Logical time less the first one of the epoch. */
  lt: number;
  readonly tickTock: 'tick' | 'tock' | undefined;
  outcome: Outcome;
  bounce: Bounce | undefined;
  origStatus: Status;
  endStatus: Status;
  destroyed: boolean;
  storage: { fee: number; due: number | undefined; change: 'unchanged' | 'frozen' | 'deleted' } | undefined;
  creditDue: number | undefined;
  creditFirst: boolean;
  compute: Compute;
  activated: boolean;
  fees: number;
  /** Decimal texts that are shown from `EXTREME_EPOCH` on instead of the total fees, the fees of gas and the gas. */
  extreme: { readonly fees: string; readonly gasFees: string; readonly gasUsed: string } | undefined;
  /** What it adds to its account's balance. */
  delta: number;
  feeExtra: Extra;
  /** Balance after it, less the drift of later epochs. */
  balanceAfter: number;
  extraBefore: Extra;
  extraAfter: Extra;
  previous: Transaction | undefined;
  /** 1 when the previous transaction of the account is in the epoch before. */
  previousBack: number;
  lastInBlock: boolean;
  /** The index holds only hashes of its account's states. */
  stubbed: boolean;
  /** The greatest counters the chain can hold, in the action phase. */
  hugeActions: boolean;
}

/** All that repeats, shifted, every `period` slots. */
export interface Template {
  readonly family: number;
  /** Slots between two repetitions. */
  readonly period: number;
  /** First slot of the first repetition. */
  readonly phase: number;
  readonly accounts: readonly Account[];
  readonly transactions: readonly Transaction[];
  readonly messages: readonly Message[];
  /** What one repetition adds to each account's balance. */
  readonly drift: ReadonlyMap<Account, number>;
}
