import { enums } from '../../../api/facts.ts';
import { type Account, AccountBook, type Cast, hasDomain } from './accounts.ts';
import { must, Rng } from './mix.ts';

const MASTERS = 30;
const WALLETS_EACH = 40;
const COLLECTIONS = 6;
const ITEMS_EACH = 220;
const FIRST_LT = 65_000_000_000_000;
const GREATEST = (1n << 256n) - 1n;

export type SaleKind = (typeof enums.nft_sale_type)[number];

/** A contract that exists but never acts. Such contracts fill the lists of latest states. */
export interface Quiet {
  readonly account: Account;
  /** Lt of the last transaction, long before the first block. */
  readonly lastLt: number;
  readonly balance: number;
  /** Balance of a jetton wallet, and the amount that it can still claim. Decimal text, because get-methods can return any number. */
  readonly jettons?: string;
  readonly mintless?: string | undefined;
  /** Index of an item, its domain, and how and by which contract it is sold. */
  readonly index?: string;
  readonly domain?: string | undefined;
  readonly saleKind?: SaleKind | undefined;
  readonly sale?: Quiet | undefined;
}

export type QuietContracts = Readonly<ReturnType<typeof makeQuietContracts>>;
export type QuietMultisig = QuietContracts['multisigs'][number];
export type QuietVesting = QuietContracts['vestings'][number];
export type QuietOrder = QuietContracts['multisigs'][number]['orders'][number];

/** Makes the contracts that never act. */
export function makeQuietContracts(seed: number, cast: Cast) {
  const maker = new QuietMaker(seed);
  const { rng } = maker;
  for (const master of times(MASTERS, () => maker.quiet(maker.book.add('jetton-master')))) {
    times(WALLETS_EACH, (index) => maker.wallet(master.account, rng.pick(cast.wallets), index));
  }
  const collections = times(COLLECTIONS, () => maker.quiet(maker.book.add('nft-collection')));
  const dns = must(collections[0], 'collection').account;
  const items = [
    ...cast.wallets.filter(hasDomain).map((owner) => maker.item(dns, owner, 0, `wallet-${owner.index}.ton`)),
    ...times(24, (index) => {
      const domain = index % 5 === 0 ? `name${index}.t.me` : `name${index}.ton`;
      return maker.item(dns, rng.pick(cast.wallets), index, domain);
    }),
    ...collections
      .slice(1)
      .flatMap(({ account }) => times(ITEMS_EACH, (index) => maker.item(account, rng.pick(cast.wallets), index))),
    ...times(20, (index) => maker.item(undefined, rng.pick(cast.wallets), index)),
  ];
  const multisigs = times(6, (index) => maker.multisig(cast, index));
  const vestings = times(6, (index) => ({
    ...maker.service(),
    sender: must(cast.wallets[index], 'wallet'),
    owner: must(cast.wallets[index + 7], 'wallet'),
    whitelist: cast.contracts.slice(0, index % 4),
  }));
  const byAddress = new Map(maker.all.map((one) => [one.account.address, one]));
  const find = (address: string): Quiet | undefined => byAddress.get(address);
  return { collections, items, multisigs, vestings, all: maker.all, find };
}

function times<T>(length: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length }, (_, index) => make(index));
}

class QuietMaker {
  readonly book: AccountBook;
  readonly rng: Rng;
  readonly all: Quiet[] = [];

  constructor(seed: number) {
    this.book = new AccountBook(seed, 3);
    this.rng = new Rng(seed, 0x9e61);
  }

  quiet(account: Account): Quiet {
    const quiet = {
      account,
      lastLt: FIRST_LT + this.all.length * 1_000_003,
      balance: this.rng.chance(0.2) ? 50_000_000 : this.rng.between(0, 1e14),
    };
    this.all.push(quiet);
    return quiet;
  }

  service(parent?: Account): Quiet {
    return this.quiet(this.book.add('service', parent && { parent }));
  }

  wallet(parent: Account, owner: Account, index: number): void {
    const { rng } = this;
    const jettons =
      index % 8 === 1 ? '0' : index === 2 ? '-7' : index === 3 ? String(GREATEST) : String(rng.between(1, 1e15));
    const quiet = this.quiet(this.book.add('jetton-wallet', { parent, owner }));
    Object.assign(quiet, { jettons, mintless: index % 16 === 9 ? String(rng.between(1, 1e12)) : undefined });
  }

  item(parent: Account | undefined, owner: Account, index: number, domain?: string): Quiet {
    const quiet = this.quiet(this.book.add('nft-item', parent === undefined ? { owner } : { owner, parent }));
    const saleKind = domain === undefined && parent !== undefined ? enums.nft_sale_type[index % 50] : undefined;
    const hashed = domain !== undefined || index % 7 === 5;
    return Object.assign(quiet, {
      index: String(hashed ? BigInt(`0x${Buffer.from(this.rng.bytes(32)).toString('hex')}`) : index),
      domain,
      saleKind,
      sale: saleKind === undefined || saleKind === 'telemint' ? undefined : this.service(),
    });
  }

  multisig(cast: Cast, index: number) {
    const quiet = this.service();
    const signers = cast.wallets.slice(index * 3, index * 3 + 3);
    return {
      ...quiet,
      seqno: index === 1 ? '-1' : index === 2 ? String(1n << 255n) : String(index),
      signers,
      proposers: cast.wallets.slice(40, 40 + (index % 3)),
      orders: times(index, (at) => ({
        ...this.service(quiet.account),
        seqno: at,
        approvals: at % 3,
        signers,
      })),
    };
  }
}
