import { readFileSync } from 'node:fs';
import { sharedFixtures } from '../fixtures.ts';

/** A transaction as the API sends it. */
export type Json = Record<string, unknown>;

const endpoints = [
  ...['traces', 'emulateTrace', 'transactions', 'transactionsByMasterchainBlock', 'adjacentTransactions'],
  ...['transactionsByMessage', 'pendingTransactions', 'pendingTraces'],
];

/** Every transaction of the recorded answers, once. Those of test servers, `server__*`, are left out: their hashes are made up. */
export function genuineTransactions(): readonly Json[] {
  const found = new Map<unknown, Json>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (typeof value === 'object' && value !== null) {
      const object = value as Json;
      if ('description' in object && 'out_msgs' in object && 'account' in object) {
        if (!found.has(object['hash'])) found.set(object['hash'], object);
      } else visit(Object.values(object));
    }
  };
  for (const { name, path } of sharedFixtures(endpoints)) {
    if (!name.includes('/server__')) visit(JSON.parse(readFileSync(path, 'utf8')));
  }
  return [...found.values()];
}

/** A page of the endpoint of transactions. */
export function pageOf(transactions: readonly Json[]): Buffer {
  return Buffer.from(JSON.stringify({ transactions, address_book: {} }));
}
