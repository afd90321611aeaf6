import type { Effects } from '../../core/effects.ts';
import { StoreError, shortMessage } from '../../core/errors.ts';
import { greatest, hullOf, type Span, unionSpans } from '../../core/span.ts';
import { serializePipeline } from '../../declare/stored-declaration.ts';
import type { TableDef } from '../../declare/table.ts';
import { statIfAny } from '../../files/disk.ts';
import type { WarehouseObjects } from '../../objects/object-store.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import type { Backend } from '../backend.ts';
import {
  type DamagedStore,
  type FillOptions,
  type LedgerFault,
  type LostEntry,
  surveyLedger,
  voidEntry,
} from '../damaged-store.ts';
import { foreignFiles } from '../garbage/collect-garbage.ts';
import { CHECKPOINTS } from '../ledger/checkpoints.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { type Entries, entryName } from '../ledger/entries.ts';
import { IDENTITY, LEDGER, type LedgerFolder, layoutOf, putIdentity, readIdentity } from '../ledger/ledger-folder.ts';
import { type ProvenLedger, readSince } from '../ledger/proven-ledger.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { COMMITS } from '../relations/commits-view.ts';
import type { Schema } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import { checkFiles, LaterLedger } from './check-files.ts';
import { selectEachFile, selectEntries } from './entry-files.ts';
import { findSchemas } from './lost-schemas.ts';

/**
 * Opens whatever can be read of a warehouse of Parquet files.
 * @throws {StoreError} `no-warehouse`; `bad-ledger` if neither its description nor its entries name one network
 */
export async function openDamagedFiles(
  backend: Backend,
  database: Database,
  tables: readonly TableDef[],
  proven?: ProvenLedger,
): Promise<DamagedStore> {
  const { path, objects, pathOf, relocation } = backend;
  const identity = await findIdentity(objects);
  await backend.access()(database);
  if (relocation !== undefined) database.relocateWith(relocation);
  // The catalog before the ledger, so that a commit in between does not look lost.
  const catalog = backend.isShared ? new Map() : await readCatalog(path, database);
  const { ledger, broken, unread, faults, since } = await readLedger(backend, proven);
  const schemas = await findSchemas(unread, { entries: ledger.entries.all, tables, pathOf, query: database.query });
  for (const schema of schemas) ledger.schemas.know(schema);
  const { network, unnamed } = networkOf(identity, ledger.entries);
  const known = new Set(ledger.entries.all.map(({ number }) => number));
  const commits: Catalog = new Map([...catalog].filter(([number]) => number > since || known.has(number)));
  const lost = await findLost(ledger, broken, commits, objects);
  const unknown = lost.length === 0 ? unknownCommits(ledger, commits) : [];
  const wrong = since === 0 ? await wrongCheckpoints(ledger) : [];
  const foreign = backend.isShared ? [] : await foreignFiles(path);
  const later = new LaterLedger(backend.ledger());
  const withLock = async (options: FillOptions, change: () => Promise<void>): Promise<void> => {
    const lock = await backend.lock(options.command, options.effects);
    await change().finally(() => lock.release());
  };
  return {
    ...surveyLedger(ledger.entries, network, lost, [
      ...unnamed,
      ...faults,
      ...unknown,
      ...wrong,
      ...foreign.map(foreignFault),
    ]),
    ...{ kind: 'parquet', path, database },
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    selectEach: (table, entries) => selectEachFile(pathOf, ledger, table, entries),
    checkBytes: (part, query) => checkFiles(backend, part, query, later),
    declarations: new DeclarationFolder(objects),
    fillLedger: (options) => withLock(options, () => fillLedger(backend, { network, lost, schemas }, options.effects)),
    restoreDeclarations: (gone, options) =>
      withLock(options, async () => {
        const folder = new DeclarationFolder(objects);
        for (const { pipeline, number } of gone) await folder.replace(serializePipeline(pipeline), number);
      }),
    close: () => database.close(),
  };
}

/** A file that is not ours, in the folder of a table. */
function foreignFault(file: string): LedgerFault {
  return { kind: 'file-foreign', pipeline: '', file, expected: 'only files that the ledger names', got: 'another one' };
}

/** Checkpoints that differ from the entries. */
async function wrongCheckpoints(ledger: LedgerFolder): Promise<readonly LedgerFault[]> {
  return (await ledger.findWrongCheckpoints()).map((entry) => {
    const expected = `a checkpoint of the ledger up to entry ${entry}`;
    return { kind: 'checkpoint-wrong', pipeline: '', entry, expected, got: 'one that differs from the entries' };
  });
}

/** {@link readDamaged}, if possible without the proven entries. `since`: number of the last entry that was not read from its file; 0 if all were. */
async function readLedger(
  backend: Backend,
  proven: ProvenLedger | undefined,
): Promise<DamagedLedger & { readonly since: number }> {
  const ledger = backend.ledger();
  if (proven === undefined || !(await readSince(ledger, proven)))
    return { ...(await readDamaged(backend.ledger())), since: 0 };
  return { ledger, broken: new Set(), unread: [], faults: [], since: proven.entry };
}

/** The readable entries of a ledger, and what is missing or unreadable. */
interface DamagedLedger {
  readonly ledger: LedgerFolder;
  /** Numbers of entries. */
  readonly broken: ReadonlySet<number>;
  /** Identifiers of schemas. */
  readonly unread: readonly string[];
  readonly faults: readonly LedgerFault[];
}

async function readDamaged(ledger: LedgerFolder): Promise<DamagedLedger> {
  const broken = new Set<number>();
  const unread: string[] = [];
  const faults: LedgerFault[] = [];
  await ledger.refresh(({ number, schema, error }) => {
    if (number !== undefined) broken.add(number);
    if (schema === undefined) return;
    unread.push(schema);
    faults.push({ kind: 'schema-broken', pipeline: '', expected: 'a readable schema', got: shortMessage(error) });
  });
  return { ledger, broken, unread, faults };
}

/** Entries that are missing or unreadable. */
async function findLost(
  ledger: LedgerFolder,
  broken: ReadonlySet<number>,
  catalog: Catalog,
  objects: WarehouseObjects,
): Promise<LostEntry[]> {
  const known = new Set(ledger.entries.all.map(({ number }) => number));
  const highest = greatest(known, 0);
  const gone = [...new Set([...broken, ...catalog.keys()])].filter((number) => !known.has(number));
  const lost: LostEntry[] = [];
  for (const number of gone.sort((a, b) => a - b)) {
    const { pipeline, span, spans } = catalog.get(number) ?? {};
    const isBroken = (await objects.get(`${LEDGER}/${entryName(number)}`)) !== undefined;
    // Readers do not see files that no entry names.
    lost.push({ number, isBroken, isGap: isBroken || number < highest, hasRows: false, pipeline, span, spans });
  }
  return lost;
}

/** Commits with rows in the catalog that the ledger does not have. */
function unknownCommits(ledger: LedgerFolder, catalog: Catalog): readonly LedgerFault[] {
  const known = new Set(ledger.entries.all.map(({ id }) => id));
  return [...catalog]
    .filter(([, { id, hasRows }]) => hasRows && !known.has(id))
    .map(([entry, { id, pipeline, span }]) => {
      const expected = 'a catalog of commits in the ledger';
      return { kind: 'commit-unknown', pipeline, span, entry, expected, got: `files of another one, ${id}` };
    });
}

/** A commit in the catalog. */
interface CatalogCommit {
  readonly id: string;
  readonly pipeline: string;
  readonly span: Span | undefined;
  /** Present if there are several. */
  readonly spans: readonly Span[] | undefined;
  readonly hasRows: boolean;
}

/** Commits in the catalog, by number. */
type Catalog = ReadonlyMap<number, CatalogCommit>;

/** The commits in the catalog; none if it cannot be read, which is harmless: it can be written again. */
async function readCatalog(path: string, database: Database): Promise<Catalog> {
  const { catalog } = layoutOf(path);
  if ((await statIfAny(catalog)) === undefined) return new Map();
  try {
    await database.run(`ATTACH ${quoteText(catalog)} AS catalog_before (READ_ONLY)`);
    const { rows } = await database.query(
      `SELECT number, id, pipeline, span_from, span_to, rows::VARCHAR FROM catalog_before.${COMMITS}`,
    );
    await database.run('DETACH catalog_before');
    const parts = new Map<number, (readonly unknown[])[]>();
    for (const row of rows) {
      const own = parts.get(Number(row[0])) ?? [];
      parts.set(Number(row[0]), own);
      own.push(row);
    }
    return new Map([...parts].map(([number, own]) => [number, commitOf(own)]));
  } catch {
    // Truncated, or not ours.
    return new Map();
  }
}

/** A commit from its rows in the catalog, one per span. */
function commitOf(rows: readonly (readonly unknown[])[]): CatalogCommit {
  const [, id, pipeline] = rows[0] ?? [];
  const spans = unionSpans(rows.map(([, , , from, to]) => ({ from: Number(from), to: Number(to) })));
  return {
    id: String(id),
    pipeline: String(pipeline),
    span: hullOf(spans),
    spans: spans.length > 1 ? spans : undefined,
    hasRows: rows.some((row) => Object.values(JSON.parse(String(row[5]))).some((count) => Number(count) > 0)),
  };
}

/** Lost entries to fill, and schemas to restore. */
interface Fill {
  readonly network: string;
  readonly lost: readonly LostEntry[];
  readonly schemas: readonly Schema[];
}

/** {@link DamagedStore.fillLedger}, under the lock if there is one. */
async function fillLedger(backend: Backend, { network, lost, schemas }: Fill, effects: Effects): Promise<void> {
  const { objects } = backend;
  await restoreIdentity(objects, network, effects.now());
  const { ledger, broken } = await readDamaged(backend.ledger());
  for (const schema of schemas) await ledger.schemas.restore(schema);
  for (const each of lost.filter(({ isGap, number }) => isGap && broken.has(number))) {
    await fillEntry(objects, voidEntry(network, each, effects), each.isBroken);
  }
  const filled = await readDamaged(backend.ledger());
  await backend.restore?.(filled.ledger.entries.effective.flatMap(filesOf));
  if (filled.broken.size > 0 || (await filled.ledger.findWrongCheckpoints()).length === 0) return;
  await objects.remove((await objects.names(CHECKPOINTS)).map((name) => `${CHECKPOINTS}/${name}`));
  await filled.ledger.writeCheckpoint();
}

/** Puts an entry under the number of a lost one, after a broken one was renamed. Does nothing if another process has filled the number. */
async function fillEntry(objects: WarehouseObjects, entry: LedgerEntry, isBroken: boolean): Promise<void> {
  const key = `${LEDGER}/${entryName(entry.number)}`;
  const text = Buffer.from(`${JSON.stringify(entry)}\n`);
  const broken = isBroken ? await objects.get(key) : undefined;
  if (broken === undefined) {
    await objects.putOrGet(key, text);
    return;
  }
  await objects.put(`${LEDGER}/.broken-${entry.number}-${entry.id}.json`, broken);
  // Another process may have repaired it meanwhile.
  await objects.putInPlaceOf(key, broken, text);
}

/** The network that a warehouse says it holds, or why its description cannot be read. */
type FoundIdentity = { readonly network: string } | StoreError;

/** @throws {StoreError} `no-warehouse`, `newer-tonlake` */
async function findIdentity(objects: WarehouseObjects): Promise<FoundIdentity> {
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
function networkOf(found: FoundIdentity, entries: Entries) {
  if (!(found instanceof StoreError)) return { network: found.network, unnamed: [] };
  const [network, ...others] = new Set(entries.all.map((entry) => entry.network));
  if (network === undefined || others.length > 0) throw found;
  const expected = `${IDENTITY} that names ${network}, as the ledger does`;
  const fault: LedgerFault = { kind: 'identity-lost', pipeline: '', expected, got: 'none that can be read' };
  return { network, unnamed: [fault] };
}

/** Describes a warehouse again whose description is lost. */
async function restoreIdentity(objects: WarehouseObjects, network: string, now: number): Promise<void> {
  if (!((await findIdentity(objects)) instanceof StoreError)) return;
  await objects.remove([IDENTITY]);
  await putIdentity(objects, network, now);
}
