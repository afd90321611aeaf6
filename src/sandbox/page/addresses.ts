import { type Account, addressOf, hasDomain, walletKind } from '../chain/accounts.ts';
import { friendlyAddress } from '../chain/address.ts';
import { remembered } from '../chain/mix.ts';
import type { Message, Transaction } from '../chain/model.ts';
import type { TagCodec } from '../chain/tag.ts';
import { type JsonRecord, jsonOf } from './json.ts';

/** Roles of token contracts. */
const TOKENS: ReadonlySet<Account['role']> = new Set(['jetton-wallet', 'jetton-master', 'nft-item', 'nft-collection']);

/** Accounts of one response by address. */
export type Met = Map<string, Account>;

/** Writes the `address_book` and `metadata` maps of a response. */
export class AddressBookPages {
  readonly #codec: TagCodec;
  readonly #entries = new Map<string, string>();

  constructor(codec: TagCodec) {
    this.#codec = codec;
  }

  /** Adds an account; returns its raw address. */
  meet(met: Met, account: Account, epoch: number): string {
    const address = addressOf(account, epoch, this.#codec);
    met.set(address, account);
    return address;
  }

  meetMessage(met: Met, message: Message, epoch: number): void {
    for (const account of [message.source, message.destination]) {
      if (account !== undefined) this.meet(met, account, epoch);
    }
  }

  meetTransaction(met: Met, transaction: Transaction, epoch: number): void {
    this.meet(met, transaction.account, epoch);
    const { incoming, cycle } = transaction;
    if (incoming !== undefined) this.meetMessage(met, incoming, epoch + (incoming.from?.cycle ?? cycle) - cycle);
    for (const message of transaction.outgoing) this.meetMessage(met, message, epoch);
  }

  /** The address book, sorted by address. */
  book(met: Met): string {
    const addresses = [...met.keys()].sort();
    return `{${addresses.map((address) => this.#entry(address, met.get(address))).join(',')}}`;
  }

  #entry(address: string, account: Account | undefined): string {
    if (this.#entries.size > 20_000) this.#entries.clear();
    return remembered(this.#entries, address, () => `"${address}":${jsonOf(this.rowOf(address, account))}`);
  }

  /** The row of an address in the address book. */
  rowOf(address: string, account: Account | undefined): JsonRecord {
    const wallet = ['wallet', 'holder', 'bank', 'ghost', 'fresh'].includes(account?.role ?? 'ghost');
    return {
      user_friendly: friendlyAddress(address, !wallet),
      domain: account !== undefined && hasDomain(account) ? `wallet-${account.index}.ton` : null,
      interfaces: account === undefined ? [] : this.interfacesOf(account),
    };
  }

  interfacesOf(account: Account): readonly string[] | null {
    const wallet = walletKind(account);
    if (wallet !== undefined) return [wallet.name];
    if (TOKENS.has(account.role)) return [account.role.replace('-', '_')];
    return account.role === 'system' ? null : [];
  }

  /** Metadata of token contracts, and of the masters of the jetton wallets. */
  metadata(met: Met): string {
    const tokens: Met = new Map();
    for (const [address, account] of met) {
      if (!TOKENS.has(account.role)) continue;
      tokens.set(address, account);
      if (account.role === 'jetton-wallet' && account.parent?.address !== undefined)
        tokens.set(account.parent.address, account.parent);
    }
    const entries = [...tokens].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([address, account]) => `"${address}":${metadataText(account)}`).join(',')}}`;
  }
}

/** A name in four scripts, which run in both directions. */
const SCRIPTS = 'Gold Золото 黄金 ذهب';

/** Decimals of a jetton. */
export function decimalsOf({ index }: Account): string {
  return index % 3 === 0 ? '6' : '9';
}

function metadataText(account: Account): string {
  const { role, index, parent, owner } = account;
  const info = { valid: true, type: `${role.replace('-', '_')}s` };
  const named = {
    name: index % 20 === 19 ? SCRIPTS : `${role} "${index}" é`,
    symbol: role === 'jetton-master' ? `JET${index}` : undefined,
    description: '<sandbox> & more',
    image: 'https://example.com/x.png',
    nft_index: role === 'nft-item' ? String(index) : undefined,
    is_nsfw: false,
    is_scam: false,
    extra: role === 'jetton-master' ? { decimals: decimalsOf(account) } : { uri: 'https://example.com/token.json' },
  };
  const extra = { balance: '0', jetton: parent?.address ?? '', owner: owner?.address ?? '' };
  return jsonOf({
    is_indexed: true,
    token_info: [{ ...info, ...(role === 'jetton-wallet' ? { extra } : named) }],
  });
}
