import type { enums } from '../../../api/facts.ts';
import type { Account } from './accounts.ts';
import type { Body } from './bodies.ts';
import { EPOCH_BLOCKS, EXTREME_EPOCH, epochOf, ltOf, seqnoOf, slotOfLt } from './clock.ts';
import { type BlockPlan, seqnoIn } from './shards.ts';

export type Status = (typeof enums.account_status)[number];
export type SkipReason = (typeof enums.compute_skip_reason)[number];
export type StatusChange = (typeof enums.storage_status_change)[number];
export type Bounce = (typeof enums.bounce_type)[number];

/** Amounts of extra currencies by their decimal id, as decimal texts. */
export type Extra = Readonly<Record<string, string>>;

/** Result of a transaction. */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly exitCode: number; readonly exitArg?: number }
  | { readonly kind: 'action-failed'; readonly resultCode: number; readonly resultArg?: number };

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
  /** Decimal text that replaces `value` from `EXTREME_EPOCH` on. */
  readonly extremeValue: string | undefined;
  readonly extra: Extra;
  readonly bounce: boolean;
  readonly bounced: boolean;
  readonly extraFlags: string | null;
  readonly importFee: number;
  /** True if an inbound external also has a normalized hash. */
  readonly normalized: boolean;
  fwdFee: number;
  from: Transaction | undefined;
  to: Transaction | undefined;
  /** Position among the outgoing messages of its sender, from 1. */
  order: number;
}

/** The value of a message in an epoch, as decimal text. */
export function valueIn(epoch: number, { value, extremeValue }: Message): string {
  return epoch >= EXTREME_EPOCH && extremeValue !== undefined ? extremeValue : String(value);
}

/** A transaction of the template. */
export interface Transaction {
  readonly id: number;
  readonly account: Account;
  readonly incoming: Message | undefined;
  readonly outgoing: Message[];
  /** First transaction of its trace; undefined if this is the first one. */
  readonly root: Transaction | undefined;
  /** Slot in which it runs, within the epoch. */
  slot: number;
  /** 1 if it runs in the epoch after the one in which its trace began. */
  cycle: number;
  block: BlockPlan;
  /** How many transactions of its trace must run before it in the same block. */
  depth: number;
  /** Logical time, relative to the first one of the epoch. */
  lt: number;
  readonly tickTock: 'tick' | 'tock' | undefined;
  outcome: Outcome;
  bounce: Bounce | undefined;
  origStatus: Status;
  endStatus: Status;
  destroyed: boolean;
  storage: { fee: number; due: number | undefined; change: StatusChange } | undefined;
  creditDue: number | undefined;
  creditFirst: boolean;
  compute: Compute;
  activated: boolean;
  fees: number;
  /** Decimal texts that replace the total fees, the gas fees and the gas from `EXTREME_EPOCH` on. */
  extreme: { readonly fees: string; readonly gasFees: string; readonly gasUsed: string } | undefined;
  /** Balance after it in epoch 0. */
  balanceAfter: number;
  extraBefore: Extra;
  extraAfter: Extra;
  previous: Transaction | undefined;
  /** 1 if the previous transaction of the account is in the epoch before. */
  previousBack: number;
  lastInBlock: boolean;
  /** The index has only hashes of the states of its account. */
  stubbed: boolean;
  /** The action phase has the greatest counters that the chain allows. */
  hugeActions: boolean;
}

/** Transactions and messages that repeat every `period` slots, with shifted ids. */
export interface Template {
  readonly family: number;
  /** Slots between two repetitions. */
  readonly period: number;
  /** First slot of the first repetition. */
  readonly phase: number;
  readonly accounts: readonly Account[];
  readonly transactions: readonly Transaction[];
  readonly messages: readonly Message[];
  /** Change of the balance of each account in one repetition. */
  readonly drift: ReadonlyMap<Account, number>;
}

/** Slot in which a transaction runs, relative to the start of a repetition; rare templates have a single slot. */
export function slotWithin({ period }: Template, transaction: Transaction): number {
  return period === EPOCH_BLOCKS ? transaction.slot : 0;
}

/** Slot of the masterchain block that includes a transaction, relative to the start of a repetition. */
export function includedWithin(template: Template, transaction: Transaction): number {
  return slotWithin(template, transaction) + transaction.block.included - transaction.block.slot;
}

/** First slot of a repetition. */
export function startOf({ phase, period }: Template, epoch: number): number {
  return phase + period * epoch;
}

/** A transaction in a certain epoch. */
export interface TransactionKey {
  readonly template: Template;
  readonly transaction: Transaction;
  readonly epoch: number;
}

/** A transaction in a certain epoch, with the values by which it is listed. */
export interface TransactionRow extends TransactionKey {
  readonly lt: number;
  /** Unix seconds. */
  readonly now: number;
  readonly account: string;
}

/** A message in the epoch of its sender, or of its receiver if it comes from outside. */
export interface MessageKey {
  readonly template: Template;
  readonly message: Message;
  readonly epoch: number;
}

/** A block in a certain epoch. */
export interface BlockRow {
  readonly plan: BlockPlan;
  readonly epoch: number;
}

/** Seqno of the masterchain block that includes a transaction. */
export function masterchainSeqno({ template, transaction, epoch }: TransactionKey): number {
  return seqnoOf(startOf(template, epoch) + includedWithin(template, transaction));
}

/** Seqno of the masterchain block that includes a block. */
export function includedBy({ plan, epoch }: BlockRow): number {
  return seqnoOf(epoch * EPOCH_BLOCKS + plan.included);
}

/** The block of a transaction. */
export function blockRefOf({ transaction, lt }: TransactionRow) {
  const { name } = transaction.block;
  return { workchain: name.workchain, shard: name.shard, seqno: seqnoIn(name, epochOf(slotOfLt(lt))) };
}

/** Epochs between sending and receiving. */
export function backOf({ from, to }: Message): number {
  return from === undefined || to === undefined ? 0 : to.cycle - from.cycle;
}

/** Logical time of a transaction in an epoch. */
export function ltIn({ template, transaction, epoch }: TransactionKey): number {
  return ltOf(startOf(template, epoch)) + transaction.lt;
}

/** Total fees of a transaction in an epoch, as decimal text. */
export function feesIn({ transaction: { fees, extreme }, epoch }: TransactionKey): string {
  return epoch >= EXTREME_EPOCH && extreme !== undefined ? extreme.fees : String(fees);
}

/** Gas of a transaction in an epoch, and its price, as decimal texts. */
export function gasIn({
  transaction: { compute, extreme },
  epoch,
}: TransactionKey): Pick<Compute, 'gasFees' | 'gasUsed'> {
  return epoch >= EXTREME_EPOCH && extreme !== undefined ? extreme : compute;
}

/** The state of an account before or after a transaction: its status, and the transaction that left it, if any. */
export function stateAt({ template, transaction, epoch }: TransactionKey, side: 'before' | 'after') {
  const { previous, previousBack, origStatus, endStatus, extraBefore, extraAfter } = transaction;
  return side === 'after'
    ? { template, transaction, epoch, status: endStatus, extra: extraAfter }
    : { template, transaction: previous, epoch: epoch - previousBack, status: origStatus, extra: extraBefore };
}

/** The transaction of the same account before. */
export function previousOf({ template, transaction, epoch }: TransactionKey): TransactionKey | undefined {
  const { previous, previousBack } = transaction;
  return previous && { template, transaction: previous, epoch: epoch - previousBack };
}
