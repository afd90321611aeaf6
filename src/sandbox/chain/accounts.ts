import { byteCell, type Cell } from './cell.ts';
import { cached, mixOf, must, Rng } from './mix.ts';
import { HASH_KIND, type TagCodec } from './tag.ts';

/** Decides the code and metadata of an account, and in which traces it takes part. */
export type Role =
  | 'system'
  | 'bank'
  | 'wallet'
  | 'holder'
  | 'jetton-master'
  | 'jetton-wallet'
  | 'nft-collection'
  | 'nft-item'
  | 'contract'
  | 'ghost'
  | 'frozen'
  | 'edge'
  | 'fresh'
  | 'service';

export interface Account {
  /** Position in the template's list of accounts. */
  readonly index: number;
  readonly family: number;
  readonly role: Role;
  readonly workchain: number;
  /** Raw address; undefined if it differs in each epoch. */
  readonly address: string | undefined;
  /** First 8 bits of the account id as 0 and 1, which decide its shard. */
  readonly idBits: string;
  /** Hex before and after the tag of the epoch, of accounts whose address differs in each epoch. */
  readonly idHead: string;
  readonly idTail: string;
  readonly code: Cell;
  /** Owner of a jetton wallet or NFT item. */
  readonly owner: Account | undefined;
  /** Jetton master or NFT collection. */
  readonly parent: Account | undefined;
}

interface AccountOptions {
  readonly firstByte?: number;
  readonly owner?: Account;
  readonly parent?: Account;
  /** Fixed raw address. */
  readonly address?: string;
}

/** Makes the accounts of one template. */
export class AccountBook {
  readonly list: Account[] = [];
  readonly family: number;
  readonly #seed: number;
  readonly #rng: Rng;
  readonly #codes = new Map<string, Cell>();

  constructor(seed: number, family: number) {
    this.#seed = seed;
    this.family = family;
    this.#rng = new Rng(seed, 0xacc0, family);
  }

  add(role: Role, options: AccountOptions = {}): Account {
    const index = this.list.length;
    const id = Buffer.from(this.#rng.bytes(32));
    if (options.firstByte !== undefined) id[0] = options.firstByte;
    const hex = options.address?.split(':')[1] ?? id.toString('hex').toUpperCase();
    const fresh = role === 'fresh';
    const workchain = options.address?.startsWith('-1:') ? -1 : 0;
    const account: Account = {
      index,
      family: this.family,
      role,
      workchain,
      address: fresh ? undefined : `${workchain}:${hex}`,
      idBits: Number.parseInt(hex.slice(0, 2), 16).toString(2).padStart(8, '0'),
      idHead: hex.slice(0, 2),
      idTail: hex.slice(26),
      code: this.#code(role, index),
      owner: options.owner,
      parent: options.parent,
    };
    this.list.push(account);
    return account;
  }

  addMany(count: number, role: Role, options: (index: number) => AccountOptions = () => ({})): Account[] {
    return Array.from({ length: count }, (_, index) => this.add(role, options(index)));
  }

  #code(role: Role, index: number): Cell {
    const kinds = role === 'wallet' || role === 'holder' ? index % 3 : role === 'contract' ? index : 0;
    const words = Buffer.alloc(32);
    const name = [...role].reduce((sum, letter) => mixOf(sum, letter.charCodeAt(0)), this.#seed);
    for (let word = 0; word < 8; word += 1) words.writeUInt32BE(mixOf(name, kinds, word), word * 4);
    return cached(this.#codes, words.toString('hex'), () => byteCell(words));
  }
}

/** The wallet contracts of the sandbox. */
const WALLET_KINDS = [
  { type: 'wallet v3 r2', id: 698983191, name: 'wallet_v3r2' },
  { type: 'wallet v4 r2', id: 698983191, name: 'wallet_v4r2' },
  { type: 'wallet v5 r1', id: 2147483409, name: 'wallet_v5r1' },
] as const;

/** Wallet contract of an account, if any. */
export function walletKind({ role, index }: Account): (typeof WALLET_KINDS)[number] | undefined {
  return role === 'wallet' || role === 'holder' ? WALLET_KINDS[index % 3] : undefined;
}

/** True if a domain resolves to the account; see the DNS items of `QuietContracts`. */
export function hasDomain({ role, index }: Account): boolean {
  return role === 'wallet' && index % 16 === 3;
}

/** Raw address of an account in an epoch. */
export function addressOf(account: Account, epoch: number, codec: TagCodec): string {
  if (account.address !== undefined) return account.address;
  const tag = codec.bytes(account.family, HASH_KIND.account, account.index, epoch).toString('hex', 0, 12).toUpperCase();
  return `${account.workchain}:${account.idHead}${tag}${account.idTail}`;
}

/** Makes the accounts of the ordinary epochs. Their ids begin with every byte, so that every shard has some. */
export function makeCast(seed: number) {
  const book = new AccountBook(seed, 0);
  const elector = book.add('system', { address: `-1:${'3'.repeat(64)}` });
  const config = book.add('system', { address: `-1:${'5'.repeat(64)}` });
  const bank = book.add('bank');
  const wallets = book.addMany(64, 'wallet', (index) => ({ firstByte: (index * 4 + (seed & 3)) & 255 }));
  const holders = book.addMany(250, 'holder', (index) => ({ firstByte: (index * 5) & 255 }));
  const masters = book.addMany(3, 'jetton-master');
  const jettonWallets = wallets
    .slice(0, 40)
    .map((owner, index) => book.add('jetton-wallet', { owner, parent: must(masters[index % 3], 'master') }));
  const collections = book.addMany(2, 'nft-collection');
  const items = book.addMany(20, 'nft-item', (index) => ({
    owner: must(wallets[index], 'wallet'),
    parent: must(collections[index % 2], 'collection'),
  }));
  return {
    book,
    elector,
    config,
    bank,
    wallets,
    holders,
    masters,
    jettonWallets,
    collections,
    items,
    contracts: book.addMany(8, 'contract'),
    ghosts: book.addMany(5, 'ghost'),
    frozen: book.addMany(2, 'frozen'),
    edges: book.addMany(3, 'edge'),
    fresh: book.addMany(24, 'fresh'),
  };
}

/** All accounts of an ordinary epoch, by role. */
export type Cast = Readonly<ReturnType<typeof makeCast>>;
