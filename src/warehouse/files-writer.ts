import { closeAll } from '../files/file-failure.ts';
import type { Lock } from '../files/writer-lock.ts';
import type { Backend, Writes } from './backend.ts';
import { DeclarationFolder } from './ledger/declarations.ts';
import { badLedger, entryName, parseEntry } from './ledger/entries.ts';
import { filesIn } from './ledger/entries-in.ts';
import {
  LEDGER,
  type LedgerFolder,
  putIdentity,
  readIdentity,
  requireNetwork,
  requireOwnEntries,
} from './ledger/ledger-folder.ts';
import { filesOf } from './ledger/pruned-entries.ts';
import { entryRows } from './parquet-store/entry-rows.ts';
import { requireDeclared, schemaOf } from './relations/table-schema.ts';
import { WarehouseViews } from './relations/warehouse-views.ts';
import type { LedgerEntry, SideConnection, Store } from './store.ts';
import { type StoreOptions, stepOf } from './store-options.ts';
import type { DeclaredPart, DraftedEntry, Writer } from './writer.ts';

/** Bounds of the pause after the first lost entry number, and after many. */
const PAUSE_MS = { first: 25, most: 2000 } as const;

/**
 * Opens a warehouse of Parquet files for writing, and removes what a killed run left.
 * @throws {StoreError} if another process holds its lock, it is of another network, cannot be read or written, its tables need a migration,
 * or its object store ignores conditions
 */
export async function openFilesWriter(backend: Backend, options: StoreOptions): Promise<Writer> {
  const { network, effects, tables, command = 'tonlake' } = options;
  const { path, objects } = backend;
  await Promise.all([backend.requireWritable(effects), backend.requireQueries()]);
  const lock = await backend.lock(command, effects);
  try {
    const before = await readIdentity(objects);
    const identity = before ?? (await putIdentity(objects, network, effects.now()));
    requireNetwork(path, identity.network, network);
    const ledger = backend.ledger();
    requireOwnEntries(path, network, await ledger.refresh());
    ledger.entries.setAside(options.setAside ?? []);
    ledger.requireWritable(tables, path);
    const writes = await backend.openWrites(ledger, options);
    const writer = new FilesWriter({ backend, options, ledger, writes, lock });
    await writes
      .open(before === undefined, () => writer.refresh())
      .catch(async (error) => {
        if (backend.isShared) await writes.close();
        throw error;
      });
    return writer;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface Opened {
  readonly backend: Backend;
  readonly options: StoreOptions;
  readonly ledger: LedgerFolder;
  readonly writes: Writes;
  readonly lock: Lock;
}

interface IdleConnection extends SideConnection {
  readonly closeIdle: () => void;
}

class FilesWriter implements Writer {
  readonly kind = 'parquet';
  readonly path: string;
  readonly staging: Store['staging'];
  readonly entries: LedgerFolder['entries'];
  readonly instance: Writer['instance'];
  readonly rows: Store['rows'];
  readonly rivals = new Set<string>();
  readonly stage: NonNullable<Writer['stage']>;
  readonly #opened: Opened;
  readonly #ledger: LedgerFolder;
  readonly #writes: Writes;
  readonly #declarations: DeclarationFolder;
  readonly #views: IdleConnection;
  /** Ids of entries whose put failed. They may be in the ledger nevertheless. */
  readonly #failedPuts = new Set<string>();
  /** Entry numbers that this commit has lost to other writers. */
  #lostNumbers = 0;

  constructor(opened: Opened) {
    const { backend, ledger, writes } = opened;
    this.#opened = opened;
    this.#ledger = ledger;
    this.#writes = writes;
    const { stagingPath, pathOf, instance } = writes;
    this.path = backend.path;
    this.staging = { form: 'final', stagingPath };
    this.entries = ledger.entries;
    this.instance = instance;
    this.rows = entryRows(backend, ledger, { pathOf, refresh: () => this.refresh() });
    this.stage = (files, span) => this.#writes.stage?.(files, span) ?? files;
    this.#declarations = new DeclarationFolder(backend.objects);
    this.#views = this.#openViews();
  }

  readonly query: Store['query'] = (sql, parameters) => this.#views.query(sql, parameters);
  readonly log: Store['log'] = (after, most) => this.#ledger.log(after, most);
  readonly connect: Store['connect'] = async () => this.#openViews(this.#opened.options.effects.freshId());

  #openViews(beside?: string): IdleConnection {
    const { path } = this;
    const { options, backend } = this.#opened;
    const { tables } = options;
    const { pathOf } = this.#writes;
    const { close, ...reads } = this.#writes.openReads(beside);
    const views = new WarehouseViews({
      ...reads,
      path,
      ledger: this.#ledger,
      tables,
      pathOf,
      relocation: backend.relocation,
      isWidened: true,
    });
    return {
      query: (sql, parameters) => this.#writes.readBy(() => views.query(sql, parameters)),
      define: (functions) => views.define(functions),
      interrupt: () => views.interrupt(),
      closeIdle: () => views.closeIdle(),
      close: () => closeAll([() => views.close(), close]),
    };
  }

  requireKnown(): void {
    if (this.rivals.size > 0) this.#ledger.requireWritable(this.#opened.options.tables, this.path);
  }

  async place(parts: readonly DeclaredPart[]): Promise<void> {
    const { tables, marts = [] } = this.#opened.options;
    const step = stepOf(this.#opened.options);
    this.#lostNumbers = 0;
    await step('write declaration');
    for (const { declared } of parts) {
      if (declared !== undefined) await this.#declarations.put(declared, this.entries.nextNumber);
    }
    await step('write schemas');
    for (const { staged, draft } of parts) {
      for (const [name, { schema }] of Object.entries(staged.tables)) {
        const table = requireDeclared([...tables, ...marts], name, schema, draft.without);
        await this.#ledger.schemas.put(schemaOf(table));
      }
    }
    await this.#writes.place(filesIn(parts.map(({ staged }) => staged)));
  }

  async put(drafted: readonly DraftedEntry[]): Promise<number> {
    const step = stepOf(this.#opened.options);
    for (const [count, { entry }] of drafted.entries()) {
      this.#writes.requireYoung?.();
      await step('put entry');
      const text = Buffer.from(`${JSON.stringify(entry)}\n`);
      const other = await this.#opened.backend.objects
        .putOrGet(`${LEDGER}/${entryName(entry.number)}`, text)
        .catch((error: unknown) => this.#failPut(entry, error));
      if (other !== undefined) {
        await this.#yieldNumber(entry, Buffer.from(other).toString('utf8'));
        return count;
      }
      this.entries.add(entry);
    }
    return drafted.length;
  }

  /** Reads the entry if it is in the ledger although its put failed. If that fails too, the next commit finds its number taken. */
  async #failPut({ id }: LedgerEntry, error: unknown): Promise<never> {
    this.#failedPuts.add(id);
    if (!this.#opened.backend.isShared) await this.refresh().catch(() => {});
    throw error;
  }

  /** Another writer, or a failed commit of this one, has taken the number: reads its entry, after back-off with full jitter. */
  async #yieldNumber({ number }: LedgerEntry, other: string): Promise<void> {
    const isOwn = (): boolean => this.#failedPuts.has(parseEntry(other, this.#ledger.entryPath(number), number).id);
    if (!this.#opened.backend.isShared && !isOwn()) {
      throw badLedger(`another process has written entry ${number} of ${this.#ledger.path}`);
    }
    this.#ledger.preload(number, other);
    const { effects } = this.#opened.options;
    const boundMs = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** this.#lostNumbers++);
    await effects.sleep(effects.random() * boundMs);
    await this.refresh();
  }

  async settle(drafted: readonly DraftedEntry[]): Promise<void> {
    const superseded = new Set(drafted.flatMap(({ entry }) => entry.supersedes));
    const retired = superseded.size === 0 ? [] : this.entries.all.filter(({ id }) => superseded.has(id));
    const named = new Set(drafted.flatMap(({ entry }) => filesOf(entry)));
    await this.#writes.settle(
      drafted.map(({ staged }) => staged),
      retired.flatMap(filesOf).filter((path) => !named.has(path)),
    );
    if (!this.#ledger.isCheckpointDue) return;
    await stepOf(this.#opened.options)('write checkpoint');
    // The commit is done. If the checkpoint fails, the next commit tries again.
    await this.#ledger.writeCheckpoint().catch(() => {});
  }

  /** Files that cannot be removed now are collected later. */
  async abandon(staged: Parameters<Writer['abandon']>[0]): Promise<void> {
    await this.#opened.backend.objects.remove(filesIn(staged).map(({ path }) => path)).catch(() => {});
  }

  clear(): Promise<number> {
    return this.#writes.clear(() => this.refresh());
  }

  closeIdle(): Promise<void> {
    this.#views.closeIdle();
    return this.instance.closeIdle();
  }

  async close(): Promise<void> {
    await closeAll([() => this.#views.close(), () => this.#writes.close(), () => this.#opened.lock.release()]);
  }

  /** Reads the commits of other writers, and those of this one that seemed to fail. */
  async refresh(): Promise<void> {
    const fresh = await this.#ledger.refresh();
    requireOwnEntries(this.path, this.#opened.options.network, fresh);
    const ids = new Set(fresh.map(({ id }) => id));
    // Includes earlier entries of a commit that its last entry has just put in force.
    const isRival = ({ id, commitWith }: LedgerEntry): boolean => ids.has(id) || ids.has(commitWith ?? '');
    for (const { id } of this.entries.all.filter(isRival)) this.rivals.add(id);
  }
}
