import { groupBy } from '../../core/group-by.ts';
import type { Account } from './accounts.ts';
import { LT_STEP, MASTERCHAIN_LT, MAX_BLOCKS, SHARD_LT } from './clock.ts';
import type { Rng } from './mix.ts';
import type { Extra, Message, Transaction } from './model.ts';

/** Logical time between a transaction and those that it causes in the same block. */
const DEPTH_LT = 20_000;

/** Assigns logical times: many accounts can share one, but each is unique within an account. */
export function assignLts(transactions: readonly Transaction[], rng: Rng, jitter: boolean): void {
  const order = [...transactions].sort(
    (a, b) => a.slot - b.slot || a.depth - b.depth || b.cycle - a.cycle || a.id - b.id,
  );
  const last = new Map<Account, number>();
  for (const transaction of order) {
    const start = transaction.slot * LT_STEP + (transaction.account.workchain === -1 ? MASTERCHAIN_LT : SHARD_LT);
    const spread = jitter && transaction.tickTock === undefined ? rng.pick([0, 0, 0, 10 * rng.below(40)]) : 0;
    const cause = transaction.incoming;
    const sender = cause?.from;
    const after = transaction.depth > 0 && cause !== undefined && sender !== undefined ? sender.lt + cause.order : 0;
    transaction.lt = Math.max(
      start + 1 + transaction.depth * DEPTH_LT + spread,
      after + 1,
      (last.get(transaction.account) ?? 0) + 1,
    );
    last.set(transaction.account, transaction.lt + transaction.outgoing.length);
  }
}

/** Computes fees, links and balances. Returns the change of each balance in one repetition. */
export function settle(transactions: readonly Transaction[], rng: Rng, period: number): ReadonlyMap<Account, number> {
  for (const transaction of transactions) setFees(transaction);
  const chains = chainsOf(transactions);
  const drift = new Map<Account, number>();
  for (const [account, chain] of chains) if (account.role === 'fresh') settleChain(account, chain, rng, period);
  for (const [account, chain] of chains) {
    if (account.role !== 'fresh') drift.set(account, settleChain(account, chain, rng, period));
  }
  return drift;
}

/** The transactions of each account by lt. */
export function chainsOf(transactions: readonly Transaction[]): ReadonlyMap<Account, readonly Transaction[]> {
  return groupBy(
    [...transactions].sort((a, b) => a.lt - b.lt),
    ({ account }) => account,
  );
}

function setFees(transaction: Transaction): void {
  let fees = (transaction.storage?.fee ?? 0) + (transaction.incoming?.importFee ?? 0);
  if (transaction.outcome.kind !== 'skipped' && transaction.tickTock === undefined) {
    fees += Number(transaction.compute.gasFees);
  }
  for (const message of transaction.outgoing) fees += message.kind === 'internal' ? actionFee(message) : 0;
  transaction.fees = fees;
}

/** The part of the forward fees that goes to the validators of the sender: a third of the total. */
export function actionFee(message: Message): number {
  return Math.floor(message.fwdFee / 2);
}

function settleChain(account: Account, chain: readonly Transaction[], rng: Rng, period: number): number {
  let balance = 0;
  let least = 0;
  for (const transaction of chain) {
    const spent = transaction.outgoing.reduce((sum, message) => sum + message.value + message.fwdFee, 0);
    const before = balance + (transaction.incoming?.value ?? 0) - transaction.fees;
    const farewell = transaction.destroyed ? transaction.outgoing[0] : undefined;
    if (farewell !== undefined) farewell.value = before - spent;
    balance = before - spent - (farewell?.value ?? 0);
    transaction.balanceAfter = balance;
    least = Math.min(least, balance);
  }
  const start = account.role === 'fresh' ? 0 : startingBalance(balance, least, rng, period);
  for (const transaction of chain) transaction.balanceAfter += start;
  linkChain(account, chain);
  settleExtra(account, chain);
  return account.role === 'fresh' ? 0 : balance;
}

/** Enough to keep the balance above 0 up to the last block that the sandbox allows. */
function startingBalance(drift: number, least: number, rng: Rng, period: number): number {
  return rng.between(0, 4_000_000_000) - least + Math.max(0, -drift) * Math.ceil(MAX_BLOCKS / period + 1);
}

function linkChain(account: Account, chain: readonly Transaction[]): void {
  const cyclic = account.role !== 'fresh';
  chain.forEach((transaction, index) => {
    const before = index === 0 ? (cyclic ? chain.at(-1) : undefined) : chain[index - 1];
    transaction.previous = before;
    transaction.previousBack = index === 0 && cyclic ? 1 : 0;
    transaction.lastInBlock = chain[index + 1]?.block !== transaction.block;
  });
}

function settleExtra(account: Account, chain: readonly Transaction[]): void {
  if (account.role === 'edge') return;
  const balances = new Map<string, bigint>();
  const least = new Map<string, bigint>();
  for (const [id, change] of chain.flatMap(movesOf)) {
    const now = (balances.get(id) ?? 0n) + change;
    balances.set(id, now);
    if (now < (least.get(id) ?? 0n)) least.set(id, now);
  }
  let current: Extra = Object.fromEntries([...least].map(([id, amount]) => [id, String(3n - amount)]));
  for (const transaction of chain) {
    transaction.extraBefore = current;
    for (const [id, change] of movesOf(transaction)) {
      const { [id]: amount = '0', ...others } = current;
      const now = BigInt(amount) + change;
      current = now === 0n ? others : { ...others, [id]: String(now) };
    }
    transaction.extraAfter = current;
  }
}

/** Amounts of each currency that a transaction receives and sends. */
function movesOf({ incoming, outgoing }: Transaction): readonly (readonly [id: string, change: bigint])[] {
  const moved = (extra: Extra, sign: bigint) =>
    Object.entries(extra).map(([id, amount]) => [id, sign * BigInt(amount)] as const);
  return [...moved(incoming?.extra ?? {}, 1n), ...outgoing.flatMap(({ extra }) => moved(extra, -1n))];
}
