import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shortMessage } from '../../core/errors.ts';
import { greatest, hullOf, type Span, unionSpans } from '../../core/span.ts';
import { makeFolder, putText, statIfAny } from '../../files/disk.ts';
import { takeLock } from '../../files/writer-lock.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import {
  type DamagedStore,
  type FillOptions,
  type LedgerFault,
  type LostDeclaration,
  type LostEntry,
  surveyLedger,
  voidEntry,
} from '../damaged-store.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { folderFiles, LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { findIdentity, networkOf, restoreIdentity } from '../ledger/lost-identity.ts';
import { COMMITS } from '../relations/commits-view.ts';
import { checkFiles, probeIn } from './check-files.ts';
import { pathsIn, selectEachFile, selectEntries } from './entry-files.ts';

/**
 * Opens whatever can be read of a folder of Parquet files.
 * @throws {StoreError} `no-warehouse`; `bad-ledger` if neither its description nor its entries name one network
 */
export async function openDamagedFolder(path: string, database: Database): Promise<DamagedStore> {
  const identity = await findIdentity(path);
  // The catalog before the ledger, so that a commit in between does not look lost.
  const catalog = await readCatalog(path, database);
  const { ledger, broken, faults } = await readDamaged(new LedgerFolder(path));
  const { network, unnamed } = networkOf(identity, ledger.entries);
  const lost = await findLost(ledger, broken, catalog, async (number) => {
    return (await statIfAny(ledger.entryPath(number))) !== undefined;
  });
  const unknown = lost.length === 0 ? unknownCommits(ledger, catalog) : [];
  const wrong = await wrongCheckpoints(ledger);
  return {
    ...surveyLedger(ledger.entries, network, lost, [...unnamed, ...faults, ...unknown, ...wrong]),
    ...{ kind: 'parquet', path, database },
    select: (table, entries) => selectEntries(pathsIn(path), ledger, table, entries),
    selectEach: (table, entries) => selectEachFile(pathsIn(path), ledger, table, entries),
    checkBytes: (part, query) => checkFiles(probeIn(path), part, query),
    declarations: new DeclarationFolder(path),
    fillLedger: (options) => fillFolder(path, network, lost, options),
    restoreDeclarations: (gone, options) => restoreDeclarations(path, gone, options),
    close: () => database.close(),
  };
}

/** Checkpoints that differ from the entries. */
export async function wrongCheckpoints(ledger: LedgerFolder): Promise<readonly LedgerFault[]> {
  return (await ledger.findWrongCheckpoints()).map((entry) => {
    const expected = `a checkpoint of the ledger up to entry ${entry}`;
    return { kind: 'checkpoint-wrong', pipeline: '', entry, expected, got: 'one that differs from the entries' };
  });
}

/** The readable entries of the ledger, and the numbers of those that are missing or unreadable. */
export async function readDamaged(ledger: LedgerFolder) {
  const broken = new Set<number>();
  const faults: LedgerFault[] = [];
  await ledger.refresh(({ number, error }) => {
    if (number !== undefined) broken.add(number);
    else faults.push({ kind: 'schema-broken', pipeline: '', expected: 'a readable schema', got: shortMessage(error) });
  });
  return { ledger, broken, faults } as const;
}

/** Entries that are missing or unreadable. `isThere`: whether something has the name of an entry. */
export async function findLost(
  ledger: LedgerFolder,
  broken: ReadonlySet<number>,
  catalog: Catalog,
  isThere: (number: number) => Promise<boolean>,
): Promise<LostEntry[]> {
  const known = new Set(ledger.entries.all.map(({ number }) => number));
  const highest = greatest(known, 0);
  const gone = [...new Set([...broken, ...catalog.keys()])].filter((number) => !known.has(number));
  const lost: LostEntry[] = [];
  for (const number of gone.sort((a, b) => a - b)) {
    const { pipeline, span, spans } = catalog.get(number) ?? {};
    const isBroken = await isThere(number);
    // Files that no entry names do not exist for readers.
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
      return { kind: 'file-unknown', pipeline, span, entry, expected, got: `files of another one, ${id}` };
    });
}

/** A commit that the catalog shows. */
interface ShownCommit {
  readonly id: string;
  readonly pipeline: string;
  readonly span: Span | undefined;
  /** Present if there are several. */
  readonly spans: readonly Span[] | undefined;
  readonly hasRows: boolean;
}

/** Commits that the catalog shows, by number. */
type Catalog = ReadonlyMap<number, ShownCommit>;

/** The commits in the catalog; none if it cannot be read, because it can be written again. */
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
    return new Map([...parts].map(([number, own]) => [number, shownCommit(own)]));
  } catch {
    // Truncated, or not ours.
    return new Map();
  }
}

/** One commit of the catalog, which has a row for each of its spans. */
function shownCommit(rows: readonly (readonly unknown[])[]): ShownCommit {
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

/** {@link DamagedStore.fillLedger} of a folder. */
async function fillFolder(
  path: string,
  network: string,
  lost: readonly LostEntry[],
  options: FillOptions,
): Promise<void> {
  await underLock(path, options, async () => {
    const { stage, checkpoints } = layoutOf(path);
    const { ledger, broken } = await readDamaged(new LedgerFolder(path));
    await makeFolder(stage);
    await restoreIdentity(folderFiles(path), network, options.effects.now());
    for (const each of lost.filter(({ isGap, number }) => isGap && broken.has(number))) {
      const entry = voidEntry(network, each, options.effects);
      const to = ledger.entryPath(each.number);
      if (each.isBroken) await rename(to, join(ledger.path, `.broken-${each.number}-${entry.id}.json`));
      await putText(to, `${JSON.stringify(entry)}\n`, stage, entry.id);
    }
    const filled = await readDamaged(new LedgerFolder(path));
    if (filled.broken.size === 0 && (await filled.ledger.findWrongCheckpoints()).length > 0) {
      await rm(checkpoints, { recursive: true });
      await filled.ledger.writeCheckpoint(stage);
    }
  });
}

/** {@link DamagedStore.restoreDeclarations} of a folder. */
async function restoreDeclarations(
  path: string,
  lost: readonly LostDeclaration[],
  options: Omit<FillOptions, 'tables'>,
): Promise<void> {
  await underLock(path, options, async () => {
    const folder = new DeclarationFolder(path);
    for (const { pipeline, number } of lost) await folder.replace(pipeline, number);
  });
}

async function underLock(
  path: string,
  { effects, command }: Omit<FillOptions, 'tables'>,
  change: () => Promise<void>,
): Promise<void> {
  const lock = await takeLock({ path: layoutOf(path).lock, subject: `warehouse ${path}`, command, effects });
  try {
    await change();
  } finally {
    await lock.release();
  }
}
