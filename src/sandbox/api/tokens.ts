import type { Account } from '../chain/accounts.ts';
import { mixOf } from '../chain/mix.ts';
import type { QuietWallet } from '../chain/registry.ts';
import { type OrderedRecord, orderedJson } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import { shuffled, sorted } from './scan.ts';
import type { View } from './view.ts';

/** `/jetton/masters`: by row id, in no order when asked by address. */
export function jettonMasters(view: View, params: Params, shuffle: number): Buffer {
  const [addresses, admins] = [sets(params, 'address'), sets(params, 'admin_address')];
  const { limit, offset } = params.page();
  const found = view.latestStates
    .ofRole('jetton-master')
    .filter(
      (one) =>
        (addresses.size === 0 || addresses.has(one.address)) &&
        (admins.size === 0 || admins.has(adminOf(view, one.account)?.address ?? '')),
    );
  const rows = addresses.size > 0 ? shuffled(found, shuffle) : found;
  const reply = new Reply(view, params);
  const texts = rows.slice(offset, offset + limit).map((one) => orderedJson(master(view, reply, one)));
  return reply.list('jetton_masters', texts, true);
}

function adminOf(view: View, account: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return account.index % 4 === 1 ? undefined : wallets[account.index % wallets.length];
}

function master(view: View, reply: Reply, state: LatestState): OrderedRecord {
  const { account } = state;
  const admin = adminOf(view, account);
  const supply =
    account.family === 3 ? BigInt(mixOf(view.chain.seed, account.index)) * 1_000_000_007n : supplyOf(view, account);
  return {
    address: reply.meet(account),
    total_supply: account.family === 3 && account.index % 9 === 4 ? '-1' : String(supply),
    mintable: admin !== undefined,
    admin_address: admin === undefined ? null : reply.meet(admin),
    jetton_content:
      account.index % 5 === 3
        ? {}
        : { decimals: '9', name: `Jetton "${account.index}" é <&>`, uri: `https://example.com/${account.index}.json` },
    jetton_wallet_code_hash: view.chain.epoch.cast.jettonWallets[0]?.codeHash ?? '',
    code_hash: account.codeHash,
    data_hash: state.dataHash ?? '',
    last_transaction_lt: String(state.lastLt),
  };
}

/** What the acting wallets of a master hold together. */
function supplyOf(view: View, parent: Account): bigint {
  return view.latestStates
    .ofRole('jetton-wallet')
    .filter(({ account }) => account.parent === parent && account.family === 0)
    .reduce((sum, one) => sum + view.latestStates.jettonsOf(one), 0n);
}

/** `/jetton/wallets` */
export function jettonWallets(view: View, params: Params, shuffle: number): Buffer {
  const [addresses, owners, jettons] = [
    sets(params, 'address'),
    sets(params, 'owner_address'),
    sets(params, 'jetton_address'),
  ];
  if (jettons.size > 1 && owners.size !== 1) {
    throw new ApiError(422, 'exactly one owner_address is required for several jetton_address');
  }
  const { limit, offset } = params.page();
  const direction = params.sort();
  const positive = params.bool('exclude_zero_balance') === true;
  const quiet = new Map(view.chain.registry.wallets.map((one) => [one.account, one]));
  const rows = view.latestStates
    .ofRole('jetton-wallet')
    .map((state, id) => ({
      state,
      id,
      quiet: quiet.get(state.account),
      balance: balanceOf(view, state, quiet),
    }))
    .filter(({ state: { account, address }, balance, quiet: mintless }) => {
      if (addresses.size > 0 && !addresses.has(address)) return false;
      if (owners.size > 0 && !owners.has(account.owner?.address ?? '')) return false;
      if (jettons.size > 0 && !jettons.has(account.parent?.address ?? '')) return false;
      return !positive || balance !== 0n || mintless?.mintless !== undefined;
    });
  const ordered =
    direction !== undefined
      ? [...shuffled(rows, shuffle)].sort(
          (a, b) => direction * (a.balance < b.balance ? -1 : a.balance > b.balance ? 1 : 0),
        )
      : sorted(rows, {
          keyOf: () => 0,
          tieOf: ({ state: { account, address }, id }) => {
            const place = String(id).padStart(9, '0');
            if (jettons.size === 1) return place;
            if (owners.size > 0) return `${account.owner?.address} ${place}`;
            return addresses.size > 0 ? address : place;
          },
          sort: 1,
          shuffle,
        });
  const reply = new Reply(view, params);
  const texts = ordered.slice(offset, offset + limit).map((row) => orderedJson(wallet(reply, row)));
  return reply.list('jetton_wallets', texts, true);
}

function balanceOf(view: View, state: LatestState, quiet: ReadonlyMap<Account, QuietWallet>): bigint {
  const known = quiet.get(state.account);
  return known === undefined ? view.latestStates.jettonsOf(state) : BigInt(known.jettons);
}

interface WalletRow {
  readonly state: LatestState;
  readonly quiet: QuietWallet | undefined;
  readonly balance: bigint;
}

function wallet(reply: Reply, { state, quiet, balance }: WalletRow): OrderedRecord {
  const { account } = state;
  return {
    address: reply.meet(account),
    balance: String(balance),
    owner: account.owner === undefined ? '' : reply.meet(account.owner),
    jetton: account.parent === undefined ? '' : reply.meet(account.parent),
    last_transaction_lt: String(state.lastLt),
    code_hash: state.codeHash ?? null,
    data_hash: state.dataHash ?? null,
    mintless_info:
      quiet?.mintless === undefined
        ? undefined
        : {
            amount: quiet.mintless,
            start_from: 1_777_000_000,
            expire_at: 1_877_000_000,
            custom_payload_api_uri: ['https://example.com/claim'],
          },
  };
}

/** The addresses of a list parameter. */
export function sets(params: Params, name: string): ReadonlySet<string> {
  return new Set(params.addresses(name));
}
