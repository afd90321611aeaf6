import { enums, records } from '../../../api/facts.ts';
import type { Account, Cast } from '../chain/accounts.ts';
import { byteCell, toBoc } from '../chain/cell.ts';
import { must, type Rng } from '../chain/mix.ts';
import type { Json, JsonRecord } from '../page/json.ts';

/** The accounts that generated details refer to. */
export interface DetailsContext {
  readonly cast: Cast;
  /** First account of the trace, and the one that it called. */
  readonly caller: Account;
  readonly called: Account;
  readonly addAccount: AddAccount;
}

/** Adds an account to the address book; returns its raw address. */
export type AddAccount = (account: Account | undefined) => string | null;

const RECORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = records;
const WORDS: Readonly<Record<string, readonly string[]>> = enums;
/** The record of a mint, which always names its item. */
const MINT = 'ActionDetailsNftMint';
const ITEM = /^nft_(item|collection)$/;

/** Fields that this version of the server never fills. */
const ALWAYS_NULL = new Set(['dns_text', 'is_refund', 'sender_jetton_wallet', 'minted_stake_jettons']);

/** Accounts for address fields, by the first pattern that matches the name. */
const PLACES: readonly (readonly [RegExp, (context: DetailsContext) => readonly Account[]])[] = [
  [/jetton_wallet|_wallet(_\d)?$/, ({ cast }) => cast.jettonWallets],
  [/^(target_|source_|provided_)?asset|^jetton|minter/, ({ cast }) => cast.masters],
  [/collection/, ({ cast }) => cast.collections],
  [/nft|item/, ({ cast }) => cast.items],
  [/^(source|sender|owner|initiator|subscriber|stake_holder|bidder)$/, ({ caller }) => [caller]],
  [/recipient|receiver|owner|bidder|beneficiary|member|royalty|payout|holder|added/, ({ cast }) => cast.wallets],
  [/^(pool|destination|vault|oapp|endpoint|auction|listing_address)$/, ({ called }) => [called]],
];

/** A valid record of details. */
export function makeDetails(name: string, context: DetailsContext, rng: Rng): JsonRecord {
  const made: Record<string, Json> = {};
  for (const [field, text] of Object.entries(must(RECORDS[name], `record ${name}`))) {
    const [, kind = '', rest = ''] = /^(.+?)(\?|\|null)?$/.exec(text) ?? [];
    if (rest === '?' && rng.chance(0.3)) continue;
    const isSet = rest !== '|null' || (name === MINT && ITEM.test(field));
    made[field] = ALWAYS_NULL.has(field) || (!isSet && rng.chance(0.12)) ? null : madeValue(kind, field, context, rng);
  }
  return made;
}

function madeValue(kind: string, name: string, context: DetailsContext, rng: Rng): Json {
  if (kind.endsWith('[]') && kind !== 'raw-address[]') {
    return Array.from({ length: rng.below(3) }, () => makeDetails(kind.slice(0, -2), context, rng));
  }
  if (kind.startsWith('enum:')) return rng.pick(must(WORDS[kind.slice(5)], kind)).replace('<code>', '7');
  switch (kind) {
    case 'raw-address':
      return context.addAccount(placed(name, context, rng));
    case 'raw-address[]':
      return Array.from({ length: 1 + rng.below(3) }, () => context.addAccount(rng.pick(context.cast.wallets)));
    case 'decimal-uint120':
      return rng.chance(0.05) ? '1329227995784915872903807060280344575' : String(rng.between(0, 1e15));
    case 'decimal-uint64':
      return rng.chance(0.1) ? '18446744073709551615' : String(rng.next());
    case 'decimal-uint256':
      return rng.chance(0.4) ? String(BigInt(`0x${hexOf(rng, 32)}`)) : String(rng.below(10_000));
    case 'decimal-numeric':
      return rng.chance(0.3) ? String(1n << 150n) : String(rng.below(100));
    case 'decimal-int32':
      return rng.pick(['-887220', '-60', '0', '60', '887220']);
    case 'unix-seconds-string':
      return String(1_777_600_000 + rng.below(1_000_000));
    case 'address-or-foreign-text':
      return String(BigInt(`0x${hexOf(rng, 32)}`));
    case 'base64-boc':
      return toBoc(byteCell(rng.bytes(12)));
    case 'base64-hash':
      return Buffer.from(rng.bytes(32)).toString('base64');
    case 'hex-unpadded':
      return hexOf(rng, 32);
    case 'hex-0x-unpadded':
      return `0x${BigInt(`0x${hexOf(rng, 20)}`).toString(16)}`;
    case 'int64-number':
      return name === 'nonce' && rng.chance(0.3) ? 9223372036854775807n : rng.below(1000);
    case 'int32':
      return rng.below(40_000);
    case 'uint64-number-unsafe':
      return rng.chance(0.4) ? 18446744073709551615n : rng.below(1_000_000_000);
    case 'bool':
      return rng.chance(0.5);
    case 'text':
      return `${name} <${rng.below(100)}> é`;
    default:
      return makeDetails(kind, context, rng);
  }
}

function placed(name: string, context: DetailsContext, rng: Rng): Account {
  const found = PLACES.find(([pattern]) => pattern.test(name))?.[1](context) ?? context.cast.contracts;
  return rng.pick(found);
}

function hexOf(rng: Rng, bytes: number): string {
  return Buffer.from(rng.bytes(bytes)).toString('hex');
}
