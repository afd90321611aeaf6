import { type Account, walletKind } from '../chain/accounts.ts';
import type { Chain } from '../chain/chain.ts';
import { MAX_BLOCKS } from '../chain/clock.ts';
import { cached } from '../chain/mix.ts';
import { masterchainSeqno, type Template, type Transaction, type TransactionRow } from '../chain/model.ts';
import type { Quiet } from '../chain/quiet-contracts.ts';
import { chainsOf } from '../chain/settle.ts';
import { HASH_KIND, type HashKind } from '../chain/tag.ts';
import type { JsonRecord } from '../page/json.ts';

/** The latest state of an account. */
export interface LatestState extends ReturnType<Chain['contentsAfter']> {
  readonly account: Account;
  readonly address: string;
  /** Last transaction; undefined for contracts that never act. */
  readonly row: TransactionRow | undefined;
  /** A contract that never acts. */
  readonly quiet?: Quiet;
  readonly lastLt: number;
  readonly lastHash: () => string;
  readonly stateHash: string;
}

/** The fields of a contract's record that change with each transaction. */
export function versionOf({ lastLt, code, data }: LatestState): JsonRecord {
  return { last_transaction_lt: String(lastLt), code_hash: code?.hash, data_hash: data?.hash };
}

/** All states at a head, and the position of each. */
interface Listed {
  readonly head: number;
  readonly list: readonly LatestState[];
  readonly ids: ReadonlyMap<Account, number>;
}

/** Latest states at the head. */
export class LatestStates {
  readonly #chain: Chain;
  readonly #head: () => number;
  readonly #chains = new Map<Template, ReadonlyMap<Account, readonly Transaction[]>>();
  readonly #jettons = new Map<Account, JettonPast>();
  #listed: Listed | undefined;

  constructor(chain: Chain, head: () => number) {
    this.#chain = chain;
    this.#head = head;
  }

  /** The state of a raw address, if the index has one. */
  find(address: string): LatestState | undefined {
    const quiet = this.#chain.quietContracts.find(address);
    if (quiet !== undefined) return this.ofQuiet(quiet);
    const known = this.#chain.accountOf(address);
    return known === undefined ? undefined : this.of(known.account, known.epoch);
  }

  of(account: Account, epoch?: number): LatestState | undefined {
    const row = account.role === 'edge' ? undefined : this.#last(account, epoch);
    return row === undefined ? undefined : this.#active(row);
  }

  /** All accounts that exist in several epochs, in the order in which they first appear. */
  all(): readonly LatestState[] {
    return this.#all().list;
  }

  /** Row id of an account: its position among all. */
  idOf(account: Account): number {
    return this.#all().ids.get(account) ?? 0;
  }

  #all(): Listed {
    const head = this.#head();
    if (this.#listed?.head === head) return this.#listed;
    const chain = this.#chain;
    const acting = chain.templates().flatMap(({ accounts }) => accounts);
    const list = [
      ...acting.flatMap((account) => (account.address === undefined ? [] : (this.of(account) ?? []))),
      ...chain.quietContracts.all.map((quiet) => this.ofQuiet(quiet)),
    ];
    this.#listed = { head, list, ids: new Map(list.map(({ account }, index) => [account, index])) };
    return this.#listed;
  }

  /** Accounts of a role, in the order in which they first appear. */
  ofRole(role: Account['role']): readonly LatestState[] {
    return this.all().filter(({ account }) => account.role === role);
  }

  /** The transactions of an account by lt. */
  #chainOf(template: Template, account: Account): readonly Transaction[] {
    return cached(this.#chains, template, () => chainsOf(template.transactions)).get(account) ?? [];
  }

  /** Last indexed transaction that left a state; deleted accounts have none. */
  #last(account: Account, only: number | undefined): TransactionRow | undefined {
    const chain = this.#chain;
    const template = chain.template(account.family);
    if (template === undefined) return undefined;
    const list = this.#chainOf(template, account).filter((one) => one.endStatus !== 'nonexist');
    const newest = chain.lastEpoch(template, this.#head());
    for (const epoch of only === undefined ? [newest, newest - 1] : [only]) {
      if (account.family > 0 && epoch < 0) continue;
      const found = list.findLast((one) => masterchainSeqno({ template, transaction: one, epoch }) <= this.#head());
      if (found !== undefined) return chain.row(template, found, epoch);
    }
    return undefined;
  }

  #active(row: TransactionRow): LatestState {
    return {
      ...this.#chain.contentsAfter(row),
      account: row.transaction.account,
      address: row.account,
      row,
      lastLt: row.lt,
      lastHash: () => this.#chain.transactionHash(row),
      stateHash: this.#chain.stateHash(row, 'after'),
    };
  }

  /** The state of a contract that never acts. */
  ofQuiet(quiet: Quiet): LatestState {
    const { account, lastLt, balance } = quiet;
    const { codec } = this.#chain;
    const hash = (kind: HashKind): string => codec.hash(3, kind, account.index, 0);
    return {
      account,
      address: account.address ?? '',
      row: undefined,
      quiet,
      status: 'active',
      balance,
      extra: {},
      lastLt,
      lastHash: () => hash(HASH_KIND.transaction),
      stateHash: hash(HASH_KIND.state),
      data: this.#chain.dataOf(3, account.index),
      code: account.code,
      frozenHash: undefined,
    };
  }

  /** The fields of a wallet's record; undefined for other contracts. */
  walletFields(state: LatestState) {
    const kind = state.status === 'active' ? walletKind(state.account) : undefined;
    return kind && { wallet_type: kind.type, seqno: this.walletSeqno(state), wallet_id: kind.id };
  }

  /** How many messages a wallet has signed. */
  walletSeqno({ row }: LatestState): number {
    if (row === undefined) return 0;
    const signed = this.#chainOf(row.template, row.transaction.account).filter(
      ({ incoming }) => incoming?.kind === 'external-in',
    );
    const before = signed.filter(({ lt }) => lt <= row.transaction.lt).length;
    return (row.epoch + 1) * signed.length + before;
  }

  /** Balance of a jetton wallet. An active one has what it received minus what it sent, at least 0. */
  jettonsOf({ account, row, quiet }: LatestState): bigint {
    if (row === undefined) return BigInt(quiet?.jettons ?? 0);
    const { template, transaction, epoch } = row;
    const past = cached(this.#jettons, account, () => jettonPast(this.#chainOf(template, account), template.period));
    return past.start + past.drift * BigInt(epoch) + (past.after.get(transaction) ?? 0n);
  }

  /** Owner of an NFT item: of an active one the new owner of its last transfer. */
  ownerOf({ account, row }: LatestState): Account | undefined {
    if (row === undefined) return account.owner;
    const moves = this.#chainOf(row.template, account).filter(
      ({ incoming, outcome }) => incoming?.body.decodedOpcode === 'nft_transfer' && outcome.kind === 'ok',
    );
    const last = moves.findLast(({ lt }) => lt <= row.transaction.lt) ?? moves.at(-1);
    return last?.incoming?.body.values.to ?? account.owner;
  }
}

interface JettonPast {
  readonly start: bigint;
  readonly drift: bigint;
  readonly after: ReadonlyMap<Transaction, bigint>;
}

function jettonPast(chain: readonly Transaction[], period: number): JettonPast {
  const after = new Map<Transaction, bigint>();
  let balance = 0n;
  let least = 0n;
  for (const one of chain) {
    const body = one.incoming?.bounced === true ? undefined : one.incoming?.body;
    if (one.outcome.kind === 'ok' && body !== undefined) {
      const { amount = 0n } = body.values;
      balance += body.decodedOpcode === 'jetton_internal_transfer' ? amount : -amount;
    }
    if (balance < least) least = balance;
    after.set(one, balance);
  }
  const falling = balance < 0n ? -balance : 0n;
  return { start: -least + falling * BigInt(Math.ceil(MAX_BLOCKS / period) + 1) + balance, drift: balance, after };
}
