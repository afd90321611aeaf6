import { type Account, addressOf, hasDomain, walletKind } from '../chain/accounts.ts';
import { friendlyAddress } from '../chain/address.ts';
import type { Message, Transaction } from '../chain/model.ts';
import type { TagCodec } from '../chain/tag.ts';
import { jsonOf, type OrderedRecord, orderedJson } from './json.ts';
import type { PageWriter } from './writer.ts';

const INTERFACES: Partial<Record<Account['role'], readonly string[]>> = {
  'jetton-wallet': ['jetton_wallet'],
  'jetton-master': ['jetton_master'],
  'nft-item': ['nft_item'],
  'nft-collection': ['nft_collection'],
};

/** Addresses met on one page, with the accounts behind them. */
export type Met = Map<string, Account>;

/** Writes the `address_book` and `metadata` maps of an answer. */
export class AddressBookPages {
  readonly #codec: TagCodec;
  readonly #entries = new Map<string, Buffer>();

  constructor(codec: TagCodec) {
    this.#codec = codec;
  }

  /** Notes an account; returns its raw address. */
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
    const { incoming } = transaction;
    if (incoming !== undefined) {
      this.meetMessage(
        met,
        incoming,
        epoch - (incoming.from === undefined ? 0 : transaction.cycle - incoming.from.cycle),
      );
    }
    for (const message of transaction.outgoing) this.meetMessage(met, message, epoch);
  }

  /** `"address_book":{..}`, its keys sorted. */
  writeBook(to: PageWriter, met: Met): void {
    to.text('"address_book":{');
    [...met.keys()].sort().forEach((address, index) => {
      if (index > 0) to.text(',');
      to.raw(this.#entry(address, met.get(address)));
    });
    to.text('}');
  }

  #entry(address: string, account: Account | undefined): Buffer {
    const known = this.#entries.get(address);
    if (known !== undefined) return known;
    const entry = Buffer.from(`"${address}":${orderedJson(this.rowOf(address, account))}`);
    if (this.#entries.size > 20_000) this.#entries.clear();
    this.#entries.set(address, entry);
    return entry;
  }

  /** What the address book says of an address. */
  rowOf(address: string, account: Account | undefined): OrderedRecord {
    const role = account?.role ?? 'ghost';
    const wallet = role === 'wallet' || role === 'holder' || role === 'bank' || role === 'ghost' || role === 'fresh';
    return {
      user_friendly: friendlyAddress(address, !wallet),
      domain: account !== undefined && hasDomain(account) ? `wallet-${account.index}.ton` : null,
      interfaces: account === undefined ? [] : this.interfacesOf(account),
    };
  }

  interfacesOf(account: Account): readonly string[] | null {
    const wallet = walletKind(account);
    if (wallet !== undefined) return [wallet.name];
    return account.role === 'system' ? null : (INTERFACES[account.role] ?? []);
  }

  /** `"metadata":{..}`: token contracts, and the masters of the jetton wallets among them. */
  writeMetadata(to: PageWriter, met: Met): void {
    to.text(`"metadata":${this.metadataText(met)}`);
  }

  metadataText(met: Met): string {
    const tokens: Met = new Map();
    for (const [address, account] of met) {
      if (tokenType(account) === undefined) continue;
      tokens.set(address, account);
      if (account.role === 'jetton-wallet' && account.parent?.address !== undefined)
        tokens.set(account.parent.address, account.parent);
    }
    const entries = [...tokens].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([address, account]) => `"${address}":${metadataText(account)}`).join(',')}}`;
  }
}

function tokenType(account: Account): string | undefined {
  switch (account.role) {
    case 'jetton-wallet':
      return 'jetton_wallets';
    case 'jetton-master':
      return 'jetton_masters';
    case 'nft-item':
      return 'nft_items';
    case 'nft-collection':
      return 'nft_collections';
    default:
      return undefined;
  }
}

function metadataText(account: Account): string {
  const type = `"type":"${tokenType(account)}"`;
  const name = `${account.role} "${account.index}" é`;
  if (account.role === 'jetton-wallet') {
    const extra = { balance: '0', jetton: account.parent?.address ?? '', owner: account.owner?.address ?? '' };
    return `{"is_indexed":true,"token_info":[{"valid":true,${type},"extra":${jsonOf(extra)}}]}`;
  }
  const index = account.role === 'nft-item' ? `,"nft_index":"${account.index}"` : '';
  const extra = account.role === 'jetton-master' ? { decimals: '9' } : { uri: 'https://example.com/token.json' };
  return (
    `{"is_indexed":true,"token_info":[{"valid":true,${type},"name":${jsonOf(name)},"description":${jsonOf('<sandbox> & more')}` +
    `,"image":"https://example.com/x.png"${index},"is_nsfw":false,"is_scam":false,"extra":${jsonOf(extra)}}]}`
  );
}
