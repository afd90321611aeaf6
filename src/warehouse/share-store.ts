import PQueue from 'p-queue';
import type { TableDef } from '../declare/table.ts';
import { requireNetwork } from './ledger/ledger-folder.ts';
import { requireUnrivalled } from './ledger/rival-entries.ts';
import type { CommitDraft, CommitPart, LedgerEntry, Store } from './store.ts';
import type { StoreOptions } from './store-options.ts';

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

/** A warehouse with several users in one process. */
class SharedStore {
  readonly network: string;
  readonly store: Store;
  readonly #pipelines: StoreOptions['pipelines'];
  readonly #marts: TableDef[];
  readonly #users = new Set<SharingStore>();
  readonly #commits = new PQueue({ concurrency: 1 });

  constructor(store: Store, { network, pipelines }: StoreOptions, marts: TableDef[]) {
    this.store = store;
    this.network = network;
    this.#pipelines = pipelines;
    this.#marts = marts;
  }

  join(): Store {
    const user = new SharingStore(this);
    this.#users.add(user);
    return user;
  }

  /** Allows commits of more marts. */
  declare(marts: readonly TableDef[]): void {
    const isNew = ({ name }: TableDef): boolean => !this.#marts.some((known) => known.name === name);
    this.#marts.push(...marts.filter(isNew));
  }

  commit(parts: readonly CommitPart[], by: SharingStore): Promise<readonly LedgerEntry[]> {
    return this.#commits.add(async () => {
      for (const { draft, staged } of parts) this.#requireUnrivalled(draft, staged.id, by.rivals);
      const entries = await this.store.commitTogether(parts);
      for (const user of this.#users) if (user !== by) for (const { id } of entries) user.rivals.add(id);
      return entries;
    });
  }

  async leave(user: SharingStore): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    shared.delete(this.store.path);
    await this.store.close();
  }

  #requireUnrivalled(draft: CommitDraft, id: string, ids: ReadonlySet<string>): void {
    if (ids.size === 0) return;
    const ledger = this.store.ledger();
    const inForce = new Set(ledger.map((entry) => entry.id));
    requireUnrivalled({
      ...{ draft, id, pipelines: this.#pipelines },
      rivals: ledger.filter((entry) => ids.has(entry.id)),
      isReplaced: (each) => !inForce.has(each),
    });
  }
}

/** A shared warehouse as one of its users sees it, for whom the entries of the others are those of rivals. */
class SharingStore implements Store {
  readonly rivals = new Set<string>();
  readonly #shared: SharedStore;
  readonly #store: Store;
  readonly kind: Store['kind'];
  readonly path: string;
  readonly staging: Store['staging'];
  readonly query: Store['query'];
  readonly rows: Store['rows'];

  constructor(own: SharedStore) {
    const { store } = own;
    this.#shared = own;
    this.#store = store;
    this.kind = store.kind;
    this.path = store.path;
    this.staging = store.staging;
    this.query = store.query;
    this.rows = store.rows;
  }

  readonly stage: Store['stage'] = (pipeline, span) => this.#store.stage(pipeline, span);
  readonly scratch: Store['scratch'] = () => this.#store.scratch();
  readonly ledger: Store['ledger'] = () => this.#store.ledger();
  readonly forgotten: Store['forgotten'] = () => this.#store.forgotten();
  readonly log: Store['log'] = (after, most) => this.#store.log(after, most);
  readonly requireKnown: Store['requireKnown'] = () => this.#store.requireKnown();
  readonly connect: Store['connect'] = () => this.#store.connect();
  readonly clearSuperseded: Store['clearSuperseded'] = () => this.#store.clearSuperseded();
  readonly closeIdle: Store['closeIdle'] = () => this.#store.closeIdle();
  readonly commitTogether: Store['commitTogether'] = (parts) => this.#shared.commit(parts, this);
  readonly close: Store['close'] = () => this.#shared.leave(this);

  readonly commit: Store['commit'] = async (staged, draft) => {
    const [entry] = await this.commitTogether([{ staged, draft }]);
    if (entry === undefined) throw new Error('no entry was committed');
    return entry;
  };
}
