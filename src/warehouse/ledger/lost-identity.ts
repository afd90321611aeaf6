import { StoreError } from '../../core/errors.ts';
import type { WarehouseObjects } from '../../objects/object-store.ts';
import type { LedgerFault } from '../damaged-store.ts';
import { noWarehouse } from '../no-warehouse.ts';
import type { Entries } from './entries.ts';
import { IDENTITY, putIdentity, readIdentity } from './ledger-folder.ts';

/** The network that a warehouse says it holds, or why its description cannot be read. */
type FoundIdentity = { readonly network: string } | StoreError;

/** @throws {StoreError} `no-warehouse`, `newer-tonlake` */
export async function findIdentity(objects: WarehouseObjects): Promise<FoundIdentity> {
  try {
    const identity = await readIdentity(objects);
    if (identity !== undefined) return identity;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'bad-ledger') return error;
    throw error;
  }
  throw noWarehouse(objects.url);
}

/**
 * The network of a warehouse. If its description is lost, it is the network of all entries, and a fault.
 * @throws {StoreError} `bad-ledger` if the entries do not name one network either
 */
export function networkOf(found: FoundIdentity, entries: Entries) {
  if (!(found instanceof StoreError)) return { network: found.network, unnamed: [] };
  const [network, ...others] = new Set(entries.all.map((entry) => entry.network));
  if (network === undefined || others.length > 0) throw found;
  const expected = `${IDENTITY} that names ${network}, as the ledger does`;
  const fault: LedgerFault = { kind: 'identity-lost', pipeline: '', expected, got: 'none that can be read' };
  return { network, unnamed: [fault] };
}

/** Describes a warehouse again whose description is lost. */
export async function restoreIdentity(objects: WarehouseObjects, network: string, now: number): Promise<void> {
  if (!((await findIdentity(objects)) instanceof StoreError)) return;
  await objects.remove([IDENTITY]);
  await putIdentity(objects, network, now);
}
