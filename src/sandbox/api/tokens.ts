import type { Account } from '../chain/accounts.ts';
import { mixOf } from '../chain/mix.ts';
import type { QuietWallet } from '../chain/registry.ts';
import type { JsonRecord } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { contains, demand } from './params.ts';
import type { Reply } from './reply.ts';
import { shuffled, sorted } from './scan.ts';
import type { View } from './view.ts';

/** `/jetton/masters`: by row id; in no order with `address`. */
export function jettonMasters(reply: Reply): Buffer {
  const { view, params, shuffle } = reply;
  const [addresses, admins] = [params.addressSet('address'), params.addressSet('admin_address')];
  const { limit, offset } = params.page();
  const found = view.latestStates
    .ofRole('jetton-master')
    .filter((one) => contains(addresses, one.address) && contains(admins, adminOf(view, one.account)?.address));
  const rows = addresses.size > 0 ? shuffled(found, shuffle) : found;
  const records = rows.slice(offset, offset + limit).map((one) => master(reply, one));
  return reply.list('jetton_masters', records, true);
}

function adminOf(view: View, account: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return account.index % 4 === 1 ? undefined : wallets[account.index % wallets.length];
}

function master(reply: Reply, state: LatestState): JsonRecord {
  const { view } = reply;
  const { account } = state;
  const admin = adminOf(view, account);
  const supply =
    account.family === 3 ? BigInt(mixOf(view.chain.seed, account.index)) * 1_000_000_007n : supplyOf(view, account);
  return {
    address: reply.meet(account),
    total_supply: account.family === 3 && account.index % 9 === 4 ? '-1' : String(supply),
    mintable: admin !== undefined,
    admin_address: reply.meetOrNull(admin),
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

/** Total balance of the active wallets of a master. */
function supplyOf(view: View, parent: Account): bigint {
  return view.latestStates
    .ofRole('jetton-wallet')
    .filter(({ account }) => account.parent === parent && account.family === 0)
    .reduce((sum, one) => sum + view.latestStates.jettonsOf(one), 0n);
}

/** `/jetton/wallets` */
export function jettonWallets(reply: Reply): Buffer {
  const { view, params, shuffle } = reply;
  const [addresses, owners, jettons] = [
    params.addressSet('address'),
    params.addressSet('owner_address'),
    params.addressSet('jetton_address'),
  ];
  const isOne = jettons.size <= 1 || owners.size === 1;
  demand(isOne, 'exactly one owner_address is required for several jetton_address');
  const { limit, offset } = params.page();
  const direction = params.sort();
  const positive = params.bool('exclude_zero_balance') === true;
  const quiets = new Map(view.chain.registry.wallets.map((one) => [one.account, one]));
  const rows = view.latestStates
    .ofRole('jetton-wallet')
    .map((state, id) => {
      const quiet = quiets.get(state.account);
      return {
        state,
        id,
        quiet,
        balance: quiet === undefined ? view.latestStates.jettonsOf(state) : BigInt(quiet.jettons),
      };
    })
    .filter(({ state: { account, address }, balance, quiet }) => {
      if (!contains(addresses, address) || !contains(owners, account.owner?.address)) return false;
      if (!contains(jettons, account.parent?.address)) return false;
      return !positive || balance !== 0n || quiet?.mintless !== undefined;
    });
  const tieOf = ({ state: { account, address }, id }: { readonly state: LatestState; readonly id: number }): string => {
    const place = String(id).padStart(9, '0');
    if (jettons.size === 1) return place;
    if (owners.size > 0) return `${account.owner?.address} ${place}`;
    return addresses.size > 0 ? address : place;
  };
  const ordered =
    direction === undefined
      ? sorted(rows, { keyOf: () => 0, tieOf, sort: 1, shuffle })
      : [...shuffled(rows, shuffle)].sort(
          (a, b) => direction * (a.balance < b.balance ? -1 : a.balance > b.balance ? 1 : 0),
        );
  const records = ordered.slice(offset, offset + limit).map((row) => wallet(reply, row));
  return reply.list('jetton_wallets', records, true);
}

interface WalletRow {
  readonly state: LatestState;
  readonly quiet: QuietWallet | undefined;
  readonly balance: bigint;
}

function wallet(reply: Reply, { state, quiet, balance }: WalletRow): JsonRecord {
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
