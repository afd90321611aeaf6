import type { Account, Cast } from './accounts.ts';
import { must } from './mix.ts';

/** An exchange's market of two tokens; 0 to 2 is a jetton that acts, undefined is TON. */
interface Market {
  readonly dex: string;
  /** Opcode of the message from a pool to its router or vault, which then pays. */
  readonly payout: number;
  readonly first: number | undefined;
  readonly second: number | undefined;
  /** Units of the second token for 1,000 units of the first. */
  readonly price: number;
}

const MARKETS: readonly Market[] = [
  { dex: 'stonfi', payout: 0xf93bb43f, first: 0, second: undefined, price: 420 },
  { dex: 'stonfi_v2', payout: 0x657b54f5, first: 1, second: undefined, price: 1900 },
  { dex: 'dedust', payout: 0xad4eb6f5, first: 2, second: undefined, price: 75 },
  { dex: 'tonco', payout: 0xa1daa96d, first: 1, second: 2, price: 25_000 },
];

const PAYOUTS: ReadonlySet<string | null> = new Set(MARKETS.map(({ payout }) => `0x${payout.toString(16)}`));

/** The market of a pool. Every contract is the pool of one. */
export function marketOf({ contracts }: Cast, pool: Account): Market {
  return must(MARKETS[Math.max(0, contracts.indexOf(pool)) % MARKETS.length], 'market');
}

/** True for the opcode of a message from a pool to its router or vault. */
export function isPayout(opcode: string | null | undefined): boolean {
  return PAYOUTS.has(opcode ?? null);
}
