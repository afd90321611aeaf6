import type { Account, Cast } from '../chain/accounts.ts';
import { byteCell, toBoc } from '../chain/cell.ts';
import { must, type Rng } from '../chain/mix.ts';
import type { Json, JsonRecord } from '../page/json.ts';
import { DETAILS, RECORDS } from './shapes.ts';

/** What generated details refer to. */
export interface DetailsContext {
  readonly cast: Cast;
  /** First account of the trace, and the one that it called. */
  readonly caller: Account;
  readonly called: Account;
  /** Adds an account to the address book; returns its raw address. */
  readonly meet: (account: Account) => string;
}

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

/** Valid details of an action type or record. */
export function makeDetails(name: string, context: DetailsContext, rng: Rng): JsonRecord {
  const fields = must(DETAILS[name] ?? RECORDS[name], `record ${name}`);
  if (fields.startsWith('=')) return makeDetails(fields.slice(1), context, rng);
  const made: Record<string, Json> = {};
  for (const spec of fields.split(' ')) {
    const [, field = '', kind = 'address', suffix] = /^(\w+)(?::(.+?))?([!~]?)$/.exec(spec) ?? [];
    if (suffix === '~' && rng.chance(0.3)) continue;
    const nullable = suffix === '' && !/^[@*]/.test(kind);
    made[field] =
      ALWAYS_NULL.has(field) || (nullable && rng.chance(0.12)) ? null : madeValue(kind, field, context, rng);
  }
  return made;
}

function madeValue(kind: string, name: string, context: DetailsContext, rng: Rng): Json {
  if (kind.startsWith('@')) return makeDetails(kind.slice(1), context, rng);
  if (kind.startsWith('*')) return Array.from({ length: rng.below(3) }, () => makeDetails(kind.slice(1), context, rng));
  if (kind.startsWith('=')) return rng.pick(kind.slice(1).split('|')).replace('<code>', '7');
  switch (kind) {
    case 'address':
      return context.meet(placed(name, context, rng));
    case 'addresses':
      return Array.from({ length: 1 + rng.below(3) }, () => context.meet(rng.pick(context.cast.wallets)));
    case 'amount':
      return rng.chance(0.05) ? '1329227995784915872903807060280344575' : String(rng.between(0, 1e15));
    case 'query':
      return rng.chance(0.1) ? '18446744073709551615' : String(rng.next());
    case 'index':
      return rng.chance(0.4) ? String(BigInt(`0x${hexOf(rng, 32)}`)) : String(rng.below(10_000));
    case 'numeric':
      return rng.chance(0.3) ? String(1n << 150n) : String(rng.below(100));
    case 'tick':
      return rng.pick(['-887220', '-60', '0', '60', '887220']);
    case 'seconds':
      return String(1_777_600_000 + rng.below(1_000_000));
    case 'foreign':
      return String(BigInt(`0x${hexOf(rng, 32)}`));
    case 'boc':
      return toBoc(byteCell(rng.bytes(12)));
    case 'hash':
      return Buffer.from(rng.bytes(32)).toString('base64');
    case 'hex':
      return hexOf(rng, 32);
    case 'hex0x':
      return `0x${BigInt(`0x${hexOf(rng, 20)}`).toString(16)}`;
    case 'int':
      return name === 'nonce' && rng.chance(0.3) ? 9223372036854775807n : rng.below(1000);
    case 'int32':
      return rng.below(40_000);
    case 'big':
      return rng.chance(0.4) ? 18446744073709551615n : rng.below(1_000_000_000);
    case 'bool':
      return rng.chance(0.5);
    case 'extra':
      return {};
    case 'opcode':
      return `0x${rng.next().toString(16).padStart(8, '0')}`;
    default:
      return `${name} <${rng.below(100)}> é`;
  }
}

function placed(name: string, context: DetailsContext, rng: Rng): Account {
  const found = PLACES.find(([pattern]) => pattern.test(name))?.[1](context) ?? context.cast.contracts;
  return rng.pick(found);
}

function hexOf(rng: Rng, bytes: number): string {
  return Buffer.from(rng.bytes(bytes)).toString('hex');
}
