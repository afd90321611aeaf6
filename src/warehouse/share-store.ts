import PQueue from 'p-queue';
import type { TableDef } from '../declare/table.ts';
import { requireNetwork } from './ledger/ledger-folder.ts';
import type { CommitPart, LedgerEntry, Store } from './store.ts';
import type { StoreOptions } from './store-options.ts';
import { commitOne } from './warehouse-store.ts';

/** Local warehouses that this process has open for several users, by path. */
const shared = new Map<string, SharedStore>();

/**
 * Opens a local warehouse so that other work in this process can write it as well. The warehouse is closed with its last user.
 *
 * @param open opens the warehouse
 */
export async function shareStore(
  path: string,
  options: StoreOptions,
  open: (options: StoreOptions) => Promise<Store>,
): Promise<Store> {
  const marts = [...(options.marts ?? [])];
  const store = await open({ ...options, marts });
  const own = new SharedStore(store, options, marts);
  shared.set(path, own);
  return own.join();
}

/** Joins a warehouse that this process shares. @returns undefined if it shares none at the path */
export function joinStore(path: string, { network, marts = [], setAside }: StoreOptions): Store | undefined {
  const own = shared.get(path);
  // A repair sets entries aside, which the other users would no longer see.
  if (own === undefined || (setAside?.size ?? 0) > 0) return undefined;
  requireNetwork(path, own.network, network);
  own.declare(marts);
  return own.join();
}

/** A warehouse with several users in one process. For each of them, the entries of the others are those of rivals. */
class SharedStore {
  readonly network: string;
  readonly #store: Store;
  readonly #marts: TableDef[];
  /** Ids of the entries of rivals, by user. */
  readonly #users = new Set<Set<string>>();
  readonly #commits = new PQueue({ concurrency: 1 });

  constructor(store: Store, { network }: StoreOptions, marts: TableDef[]) {
    this.#store = store;
    this.network = network;
    this.#marts = marts;
  }

  join(): Store {
    const rivals = new Set<string>();
    this.#users.add(rivals);
    const commitTogether: Store['commitTogether'] = (parts) => this.#commit(parts, rivals);
    return {
      ...this.#store,
      rivals,
      commit: (staged, draft) => commitOne(commitTogether, { staged, draft }),
      commitTogether,
      close: () => this.#leave(rivals),
    };
  }

  /** Allows commits of more marts. */
  declare(marts: readonly TableDef[]): void {
    const isNew = ({ name }: TableDef): boolean => !this.#marts.some((known) => known.name === name);
    this.#marts.push(...marts.filter(isNew));
  }

  #commit(parts: readonly CommitPart[], rivals: ReadonlySet<string>): Promise<readonly LedgerEntry[]> {
    return this.#commits.add(async () => {
      try {
        const entries = await this.#store.commitTogether(parts, rivals);
        for (const user of this.#users) if (user !== rivals) for (const { id } of entries) user.add(id);
        return entries;
      } finally {
        // Entries of commits that seemed to fail.
        for (const user of this.#users) for (const id of this.#store.rivals ?? []) user.add(id);
      }
    });
  }

  async #leave(user: Set<string>): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    shared.delete(this.#store.path);
    await this.#store.close();
  }
}
