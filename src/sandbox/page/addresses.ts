import { type Account, hasDomain, walletKind } from '../chain/accounts.ts';
import { friendlyAddress } from '../chain/address.ts';
import { cached } from '../chain/mix.ts';
import { type JsonRecord, jsonOf } from './json.ts';

/** Roles of token contracts. */
const TOKENS: ReadonlySet<Account['role']> = new Set(['jetton-wallet', 'jetton-master', 'nft-item', 'nft-collection']);

/** Accounts of one response by address. */
export type AccountsByAddress = Map<string, Account>;

/** Rows of address books, which are the same in all networks, by address. */
const entries = new Map<string, string>();
const CACHED_ENTRIES = 20_000;

/** The address book, sorted by address. */
export function bookText(accounts: AccountsByAddress): string {
  if (entries.size > CACHED_ENTRIES) entries.clear();
  const made = [...accounts.keys()].sort().map((address) => {
    return cached(entries, address, () => `"${address}":${jsonOf(bookRow(address, accounts.get(address)))}`);
  });
  return `{${made.join(',')}}`;
}

/** The row of an address in the address book. */
export function bookRow(address: string, account: Account | undefined): JsonRecord {
  const wallet = ['wallet', 'holder', 'bank', 'ghost', 'fresh'].includes(account?.role ?? 'ghost');
  return {
    user_friendly: friendlyAddress(address, !wallet),
    domain: account !== undefined && hasDomain(account) ? `wallet-${account.index}.ton` : null,
    interfaces: account === undefined ? [] : interfacesOf(account),
  };
}

export function interfacesOf(account: Account): readonly string[] | null {
  const wallet = walletKind(account);
  if (wallet !== undefined) return [wallet.name];
  if (TOKENS.has(account.role)) return [account.role.replace('-', '_')];
  return account.role === 'system' ? null : [];
}

/** Metadata of token contracts, and of the masters of the jetton wallets. */
export function metadataText(accounts: AccountsByAddress): string {
  const tokens: AccountsByAddress = new Map();
  for (const [address, account] of accounts) {
    if (!TOKENS.has(account.role)) continue;
    tokens.set(address, account);
    if (account.role === 'jetton-wallet' && account.parent?.address !== undefined)
      tokens.set(account.parent.address, account.parent);
  }
  const texts = [...tokens].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${texts.map(([address, account]) => `"${address}":${metadataRow(account)}`).join(',')}}`;
}

/** A name in four scripts, which run in both directions. */
const SCRIPTS = 'Gold Золото 黄金 ذهب';

/** Decimals of a jetton. */
export function decimalsOf({ index }: Account): string {
  return index % 3 === 0 ? '6' : '9';
}

function metadataRow(account: Account): string {
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
