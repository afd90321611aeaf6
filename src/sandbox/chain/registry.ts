import { type Account, AccountBook, type Cast, hasDomain } from './accounts.ts';
import { must, Rng } from './mix.ts';

/** A contract that exists and never acts: what fills the listings of latest states. */
export interface Quiet {
  readonly account: Account;
  /** Of the last transaction, long before the first block. */
  readonly lastLt: number;
  readonly balance: number;
}

export interface QuietWallet extends Quiet {
  /** Decimal text: a get-method may say anything. */
  readonly jettons: string;
  readonly mintless: string | undefined;
}

export interface QuietItem extends Quiet {
  readonly index: string;
  readonly domain: string | undefined;
  readonly sale: Quiet | undefined;
  readonly saleKind: 'getgems_sale' | 'getgems_auction' | 'telemint' | undefined;
}

export interface QuietMultisig extends Quiet {
  readonly seqno: string;
  readonly signers: readonly Account[];
  readonly proposers: readonly Account[];
  readonly orders: readonly QuietOrder[];
}

export interface QuietOrder extends Quiet {
  readonly seqno: number;
  readonly approvals: number;
  readonly signers: readonly Account[];
}

export interface QuietVesting extends Quiet {
  readonly sender: Account;
  readonly owner: Account;
  readonly whitelist: readonly Account[];
}

const MASTERS = 30;
const WALLETS_EACH = 40;
const COLLECTIONS = 6;
const ITEMS_EACH = 220;
const FIRST_LT = 65_000_000_000_000;
const GREATEST = (1n << 256n) - 1n;

/** All contracts that never act. Built when first asked for. */
export class Registry {
  readonly book: AccountBook;
  readonly masters: readonly Quiet[];
  readonly wallets: readonly QuietWallet[];
  readonly collections: readonly Quiet[];
  readonly items: readonly QuietItem[];
  readonly multisigs: readonly QuietMultisig[];
  readonly vestings: readonly QuietVesting[];
  readonly #byAddress: ReadonlyMap<string, Quiet>;
  readonly #rng: Rng;
  readonly #all: Quiet[] = [];

  constructor(seed: number, cast: Cast) {
    this.book = new AccountBook(seed, 3);
    const rng = new Rng(seed, 0x9e61);
    this.#rng = rng;
    this.masters = Array.from({ length: MASTERS }, () => this.#quiet(this.book.add('jetton-master')));
    this.wallets = this.masters.flatMap((master) =>
      Array.from({ length: WALLETS_EACH }, (_, index) => this.#wallet(master.account, rng.pick(cast.wallets), index)),
    );
    this.collections = Array.from({ length: COLLECTIONS }, () => this.#quiet(this.book.add('nft-collection')));
    const dns = must(this.collections[0], 'collection').account;
    const domains = cast.wallets.filter(hasDomain);
    this.items = [
      ...domains.map((owner) => this.#item(dns, owner, 0, `wallet-${owner.index}.ton`)),
      ...Array.from({ length: 24 }, (_, index) =>
        this.#item(dns, rng.pick(cast.wallets), index, index % 5 === 0 ? `name${index}.t.me` : `name${index}.ton`),
      ),
      ...this.collections
        .slice(1)
        .flatMap(({ account }) =>
          Array.from({ length: ITEMS_EACH }, (_, index) => this.#item(account, rng.pick(cast.wallets), index)),
        ),
      ...Array.from({ length: 20 }, (_, index) => this.#item(undefined, rng.pick(cast.wallets), index)),
    ];
    this.multisigs = Array.from({ length: 6 }, (_, index) => this.#multisig(cast, index));
    this.vestings = Array.from({ length: 6 }, (_, index) => ({
      ...this.#quiet(this.book.add('service')),
      sender: must(cast.wallets[index], 'wallet'),
      owner: must(cast.wallets[index + 7], 'wallet'),
      whitelist: cast.contracts.slice(0, index % 4),
    }));
    this.#byAddress = new Map(this.#all.map((one) => [one.account.address ?? '', one]));
  }

  get all(): readonly Quiet[] {
    return this.#all;
  }

  find(address: string): Quiet | undefined {
    return this.#byAddress.get(address);
  }

  #quiet(account: Account): Quiet {
    const quiet = {
      account,
      lastLt: FIRST_LT + this.#all.length * 1_000_003,
      balance: this.#rng.chance(0.2) ? 50_000_000 : this.#rng.between(0, 1e14),
    };
    this.#all.push(quiet);
    return quiet;
  }

  #wallet(parent: Account, owner: Account, index: number): QuietWallet {
    const jettons =
      index % 8 === 1 ? '0' : index === 2 ? '-7' : index === 3 ? String(GREATEST) : String(this.#rng.between(1, 1e15));
    return {
      ...this.#quiet(this.book.add('jetton-wallet', { parent, owner })),
      jettons,
      mintless: index % 16 === 9 ? String(this.#rng.between(1, 1e12)) : undefined,
    };
  }

  #item(parent: Account | undefined, owner: Account, index: number, domain?: string): QuietItem {
    const rng = this.#rng;
    const quiet = this.#quiet(this.book.add('nft-item', parent === undefined ? { owner } : { owner, parent }));
    const kinds = ['getgems_sale', 'getgems_auction', 'telemint'] as const;
    const saleKind = domain === undefined && parent !== undefined && index % 50 < 3 ? kinds[index % 50] : undefined;
    const hashed = domain !== undefined || index % 7 === 5;
    return {
      ...quiet,
      index: hashed ? String(BigInt(`0x${Buffer.from(rng.bytes(32)).toString('hex')}`)) : String(index),
      domain,
      saleKind,
      sale: saleKind === undefined || saleKind === 'telemint' ? undefined : this.#quiet(this.book.add('service')),
    };
  }

  #multisig(cast: Cast, index: number): QuietMultisig {
    const quiet = this.#quiet(this.book.add('service'));
    const signers = cast.wallets.slice(index * 3, index * 3 + 3);
    const orders = Array.from({ length: index }, (_, at) => ({
      ...this.#quiet(this.book.add('service', { parent: quiet.account })),
      seqno: at,
      approvals: at % 3,
      signers,
    }));
    return {
      ...quiet,
      seqno: index === 1 ? '-1' : index === 2 ? String(1n << 255n) : String(index),
      signers,
      proposers: cast.wallets.slice(40, 40 + (index % 3)),
      orders,
    };
  }
}
