import type { Account } from '../chain/accounts.ts';
import type { Chain, TransactionRow } from '../chain/chain.ts';
import { epochOf, MAX_BLOCKS, slotOf } from '../chain/clock.ts';
import type { Extra, Status, Template, Transaction } from '../chain/model.ts';
import type { Quiet } from '../chain/registry.ts';
import { HASH_KIND } from '../chain/tag.ts';

/** The latest state of an account. */
export interface LatestState {
  readonly account: Account;
  readonly address: string;
  /** Its last transaction; undefined for contracts that never act. */
  readonly row: TransactionRow | undefined;
  readonly status: Status;
  readonly balance: number;
  readonly extra: Extra;
  readonly lastLt: number;
  readonly lastHash: string;
  readonly stateHash: string;
  readonly dataHash: string | undefined;
  readonly codeHash: string | undefined;
  readonly frozenHash: string | undefined;
}

/** What latest states are read from: the chain, and what of it is indexed. */
interface IndexedChain {
  readonly chain: Chain;
  readonly head: () => number;
  /** Masterchain block that lists a template's transaction in an epoch. */
  seqnoIn(period: number, phase: number, transaction: Transaction, epoch: number): number;
}

/** Latest states, as of the head. */
export class LatestStates {
  readonly #view: IndexedChain;
  readonly #chains = new Map<number, ReadonlyMap<Account, readonly Transaction[]>>();
  readonly #jettons = new Map<Account, JettonPast>();
  #listed: { readonly head: number; readonly list: readonly LatestState[] } | undefined;

  constructor(view: IndexedChain) {
    this.#view = view;
  }

  /** The state behind a raw address; undefined when the index has none. */
  find(address: string): LatestState | undefined {
    const quiet = this.#view.chain.registry.find(address);
    if (quiet !== undefined) return this.#quiet(quiet);
    const known = this.#view.chain.accountOf(address);
    return known === undefined ? undefined : this.of(known.account, known.epoch);
  }

  of(account: Account, epoch?: number): LatestState | undefined {
    const row = account.role === 'edge' ? undefined : this.#last(account, epoch);
    return row === undefined ? undefined : this.#active(row);
  }

  /** Every account that lives in more than one epoch, in the order of their first sight. */
  all(): readonly LatestState[] {
    const head = this.#view.head();
    if (this.#listed?.head === head) return this.#listed.list;
    const { chain } = this.#view;
    const acting = [0, 1, 2].flatMap((family) =>
      family > 0 && !chain.hasHappened(family, head)
        ? []
        : (chain.template(family)?.accounts ?? []).filter((account) => account.address !== undefined),
    );
    const list = [
      ...acting.flatMap((account) => this.of(account) ?? []),
      ...chain.registry.all.map((quiet) => this.#quiet(quiet)),
    ];
    this.#listed = { head, list };
    return list;
  }

  /** Accounts of a role, in the order of their first sight. */
  ofRole(role: Account['role']): readonly LatestState[] {
    return this.all().filter(({ account }) => account.role === role);
  }

  #chainOf(template: Template, account: Account): readonly Transaction[] {
    let chains = this.#chains.get(template.family);
    if (chains === undefined) {
      const made = new Map<Account, Transaction[]>();
      for (const one of [...template.transactions].sort((a, b) => a.lt - b.lt)) {
        const list = made.get(one.account);
        if (list === undefined) made.set(one.account, [one]);
        else list.push(one);
      }
      chains = made;
      this.#chains.set(template.family, chains);
    }
    return chains.get(account) ?? [];
  }

  /** Last transaction that is indexed and left a state: the index keeps none of accounts that are gone. */
  #last(account: Account, only: number | undefined): TransactionRow | undefined {
    const { chain } = this.#view;
    const template = chain.template(account.family);
    if (template === undefined) return undefined;
    const list = this.#chainOf(template, account).filter((one) => one.endStatus !== 'nonexist');
    const now = Math.floor((slotOf(this.#view.head()) - template.phase) / template.period);
    const newest = account.family === 2 ? Math.min(0, now) : now;
    for (const epoch of only === undefined ? [newest, newest - 1] : [only]) {
      if (account.family > 0 && epoch < 0) continue;
      const found = list.findLast(
        (one) => this.#view.seqnoIn(template.period, template.phase, one, epoch) <= this.#view.head(),
      );
      if (found !== undefined) return chain.row(template, found, epoch);
    }
    return undefined;
  }

  #active(row: TransactionRow): LatestState {
    const { template, transaction, epoch } = row;
    const { codec } = this.#view.chain;
    const hash = (kind: 1 | 4 | 5): string => codec.hash(template.family, kind, transaction.id, epoch);
    const status = transaction.endStatus;
    const drift = template.drift.get(transaction.account) ?? 0;
    return {
      account: transaction.account,
      address: row.account,
      row,
      status,
      balance: Math.max(0, transaction.balanceAfter + drift * epoch),
      extra: transaction.extraAfter,
      lastLt: row.lt,
      lastHash: hash(HASH_KIND.transaction),
      stateHash: hash(HASH_KIND.state),
      dataHash: status === 'active' ? hash(HASH_KIND.stateData) : undefined,
      codeHash: status === 'active' ? transaction.account.codeHash : undefined,
      frozenHash:
        status === 'frozen' ? codec.hash(template.family, HASH_KIND.frozen, transaction.account.index, 0) : undefined,
    };
  }

  #quiet({ account, lastLt, balance }: Quiet): LatestState {
    const { codec } = this.#view.chain;
    const hash = (kind: 1 | 4 | 5): string => codec.hash(3, kind, account.index, 0);
    return {
      account,
      address: account.address ?? '',
      row: undefined,
      status: 'active',
      balance,
      extra: new Map(),
      lastLt,
      lastHash: hash(HASH_KIND.transaction),
      stateHash: hash(HASH_KIND.state),
      dataHash: hash(HASH_KIND.stateData),
      codeHash: account.codeHash,
      frozenHash: undefined,
    };
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

  /** What an acting jetton wallet holds: what it got less what it gave, and never less than nothing. */
  jettonsOf({ account, row }: LatestState): bigint {
    if (row === undefined) return 0n;
    let past = this.#jettons.get(account);
    if (past === undefined) {
      past = jettonPast(this.#chainOf(row.template, account), row.template.period);
      this.#jettons.set(account, past);
    }
    return past.start + past.drift * BigInt(row.epoch) + (past.after.get(row.transaction) ?? 0n);
  }

  /** Who owns an acting NFT item: the last whom a transfer named. */
  ownerOf({ account, row }: LatestState): Account | undefined {
    if (row === undefined) return account.owner;
    const moves = this.#chainOf(row.template, account).filter(
      ({ incoming, outcome }) => incoming?.body.order?.kind === 'nft_transfer' && outcome.kind === 'ok',
    );
    const last = moves.findLast(({ lt }) => lt <= row.transaction.lt) ?? moves.at(-1);
    return last?.incoming?.body.order?.to ?? account.owner;
  }

  /** The epoch of the head. */
  get epoch(): number {
    return epochOf(slotOf(this.#view.head()));
  }
}

interface JettonPast {
  readonly start: bigint;
  readonly drift: bigint;
  readonly after: ReadonlyMap<Transaction, bigint>;
}

function jettonPast(chain: readonly Transaction[], period: number): JettonPast {
  const after = new Map<Transaction, bigint>();
  let held = 0n;
  let least = 0n;
  for (const one of chain) {
    const body = one.incoming?.bounced === true ? undefined : one.incoming?.body;
    if (one.outcome.kind === 'ok' && body !== undefined) {
      held += (body.credited ?? 0n) - (body.order?.amount ?? 0n);
    }
    if (held < least) least = held;
    after.set(one, held);
  }
  const falling = held < 0n ? -held : 0n;
  return { start: -least + falling * BigInt(Math.ceil(MAX_BLOCKS / period) + 1) + held, drift: held, after };
}
