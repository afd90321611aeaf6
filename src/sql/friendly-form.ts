import type { Query } from './query-result.ts';
import { textOf } from './row-text.ts';

/** The user-friendly form of an address in its network; null for a text that is none. */
export async function friendlyForm(query: Query, address: string, network: string): Promise<string | null> {
  const { rows } = await query('SELECT friendly_address($address, testnet := $isTestnet::BOOLEAN)', {
    address,
    isTestnet: network === 'testnet',
  });
  return textOf(rows[0]?.[0]) ?? null;
}
