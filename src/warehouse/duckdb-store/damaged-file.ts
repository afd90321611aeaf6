import { isNewer } from '../../core/newer-tonlake.ts';
import { greatest, type Span } from '../../core/span.ts';
import { serializePipeline } from '../../declare/stored-declaration.ts';
import type { TableDef } from '../../declare/table.ts';
import { busyError, readLockHolder, takeLock } from '../../files/writer-lock.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import { Database } from '../../sql/database.ts';
import {
  type DamagedOptions,
  type DamagedStore,
  type FillOptions,
  type LedgerFault,
  type LostDeclaration,
  type LostEntry,
  type StrayOwner,
  surveyLedger,
  voidEntry,
} from '../damaged-store.ts';
import { Entries, parseEntry } from '../ledger/entries.ts';
import { rowsOf } from '../relations/declared-relations.ts';
import type { LedgerEntry } from '../store.ts';
import {
  declarationsIn,
  insertDeclaration,
  insertEntry,
  pathsOf,
  readColumns,
  readNetwork,
  requireDatabase,
  selectEachRow,
  selectRows,
} from './database-file.ts';

/** Name under which the file is attached to the database of an audit. */
const ATTACHED = 'w';

/** Opens a possibly damaged DuckDB file. @throws {StoreError} `busy`; `bad-ledger` if its network is unknown */
export async function openDamagedFile(
  path: string,
  database: Database,
  { ownerOf }: Pick<DamagedOptions, 'ownerOf'>,
): Promise<DamagedStore> {
  const { lock } = pathsOf(path);
  const holder = await readLockHolder(lock);
  if (holder !== undefined) throw busyError(`warehouse ${path}`, holder, lock);
  await requireDatabase(path);
  await database.run(`ATTACH ${quoteText(path)} AS ${ATTACHED} (READ_ONLY)`);
  const { network, columns } = await readAttached(database, path);
  const { entries, broken } = await readLedger(database, `${ATTACHED}._ledger`);
  const strays = await readStrays(database, columns, ownerOf, entries);
  const lost = findLost(entries, broken, strays);
  const select = (table: TableDef, some: readonly LedgerEntry[], more: readonly string[]): string =>
    selectRows(table, some, columns.get(table.name) ?? new Set(), { rows: `${ATTACHED}.${rowsOf(table.name)}`, more });
  return {
    ...surveyLedger(entries, network, lost, unknownRows(entries, strays)),
    ...{ kind: 'duckdb', path, database },
    select: (table, some) => select(table, some, []),
    selectEach: (table, some) => selectEachRow(select(table, some, ['_entry'])),
    // Rows have no separate files, so only their values can be compared.
    checkBytes: async () => ({ trust: 'plain', isShareable: true, faults: [] }),
    declarations: declarationsIn(database, `${ATTACHED}.main`),
    fillLedger: (options) => fillFile(path, network, lost, options),
    restoreDeclarations: (gone, options) => restoreDeclarations(path, gone, options),
    close: () => database.close(),
  };
}

/** The network of the file, and the columns of its tables. @throws {StoreError} */
async function readAttached(database: Database, path: string) {
  await database.run(`USE ${ATTACHED}`);
  const network = await readNetwork(database, path);
  const columns = await readColumns(database);
  await database.run('USE memory');
  const names = [...columns].map(([table, own]) => [table, new Set(own.map(({ name }) => name))] as const);
  return { network, columns: new Map<string, ReadonlySet<string>>(names) } as const;
}

/** The readable entries of the ledger, and the numbers of the others. */
async function readLedger(
  database: Database,
  table: string,
): Promise<{ readonly entries: Entries; readonly broken: ReadonlySet<number> }> {
  const { rows } = await database.query(`SELECT number::INTEGER, entry FROM ${table} ORDER BY number`);
  const entries = new Entries();
  const broken = new Set<number>();
  for (const [number, text] of rows) {
    try {
      entries.add(parseEntry(String(text), `row ${String(number)} of _ledger`, Number(number)));
    } catch (error) {
      if (isNewer(error)) throw error;
      broken.add(Number(number));
    }
  }
  return { entries, broken };
}

/** Rows whose entry is not in force. */
interface Stray {
  readonly pipeline: string;
  readonly span: Span | undefined;
}

/** Rows that belong to no entry in force, by entry number. */
async function readStrays(
  database: Database,
  tables: ReadonlyMap<string, ReadonlySet<string>>,
  ownerOf: DamagedOptions['ownerOf'],
  entries: Entries,
): Promise<ReadonlyMap<number, Stray>> {
  const effective = new Set(entries.effective.map(({ number }) => number));
  const strays = new Map<number, Stray>();
  for (const [table, columns] of tables) {
    const { pipeline, column, days } = ownerOf(table);
    const ends = column === undefined ? 'NULL, NULL' : `min(${quoteName(column)}), max(${quoteName(column)})`;
    const { rows } = await database.query(
      `SELECT _entry::INTEGER, ${ends} FROM ${ATTACHED}.${rowsOf(table)} GROUP BY _entry`,
    );
    for (const [number, ...found] of rows) {
      if (effective.has(Number(number))) continue;
      const isDaily = columns.has('block_date');
      const [from, to] = days === undefined ? found : await endsOfDays(database, table, Number(number), days, isDaily);
      const before = strays.get(Number(number))?.span;
      const span =
        from === null
          ? before
          : { from: Math.min(Number(from), before?.from ?? Infinity), to: Math.max(Number(to), before?.to ?? 0) };
      strays.set(Number(number), { pipeline, span });
    }
  }
  return strays;
}

/** First and last block of the days of a mart's rows, or of all days. */
async function endsOfDays(
  database: Database,
  mart: string,
  entry: number,
  { table, column }: NonNullable<StrayOwner['days']>,
  isDaily: boolean,
): Promise<readonly unknown[]> {
  const own = `SELECT block_date FROM ${ATTACHED}.${rowsOf(mart)} WHERE _entry = ${entry}`;
  const { rows } = await database.query(
    `SELECT min(${quoteName(column)}), max(${quoteName(column)}) FROM ${ATTACHED}.${rowsOf(table)}
      ${isDaily ? `WHERE block_date IN (${own})` : ''}`,
  );
  return rows[0] ?? [null, null];
}

function findLost(
  entries: Entries,
  broken: ReadonlySet<number>,
  strays: ReadonlyMap<number, Stray>,
): readonly LostEntry[] {
  const known = new Set(entries.all.map(({ number }) => number));
  const highest = greatest([...known, ...broken], 0);
  const expected = Array.from({ length: highest }, (_, at) => at + 1);
  const later = [...strays.keys()].filter((number) => number > highest);
  return [...expected, ...later]
    .filter((number) => !known.has(number))
    .map((number) => {
      const { pipeline, span } = strays.get(number) ?? {};
      const [isBroken, isGap] = [broken.has(number), number <= highest];
      return { number, isBroken, isGap, hasRows: strays.has(number), pipeline, span };
    });
}

/** Rows of known entries that are not in force. */
function unknownRows(entries: Entries, strays: ReadonlyMap<number, Stray>): readonly LedgerFault[] {
  const known = new Set(entries.all.map(({ number }) => number));
  return [...strays]
    .filter(([number]) => known.has(number))
    .map(([entry, { pipeline, span }]) => {
      const expected = 'rows of entries in force only';
      return { kind: 'rows-unknown', pipeline, span, entry, expected, got: 'rows of one that is not' };
    });
}

/** {@link DamagedStore.fillLedger} of a file. */
async function fillFile(
  path: string,
  network: string,
  lost: readonly LostEntry[],
  { effects, command }: FillOptions,
): Promise<void> {
  await changeFile(path, { effects, command }, async (database) => {
    const { entries } = await readLedger(database, '_ledger');
    const known = new Set(entries.all.map(({ number }) => number));
    for (const each of lost.filter(({ number }) => !known.has(number))) {
      await database.run('DELETE FROM _ledger WHERE number = $number', { number: BigInt(each.number) });
      if (each.isGap) await insertEntry(database, voidEntry(network, each, effects));
    }
    await removeStrays(database, entries);
  });
}

/** {@link DamagedStore.restoreDeclarations} of a file. */
async function restoreDeclarations(
  path: string,
  lost: readonly LostDeclaration[],
  options: FillOptions,
): Promise<void> {
  await changeFile(path, options, async (database) => {
    for (const { pipeline, number } of lost) {
      await insertDeclaration(database, serializePipeline(pipeline), number, true);
    }
  });
}

/** Changes a file in one transaction, under its lock. */
async function changeFile(
  path: string,
  { effects, command }: FillOptions,
  change: (database: Database) => Promise<void>,
): Promise<void> {
  const lock = await takeLock({ path: pathsOf(path).lock, subject: `warehouse ${path}`, command, effects });
  try {
    const database = await Database.open(path);
    try {
      await database.transaction(() => change(database));
    } finally {
      database.close();
    }
  } finally {
    await lock.release();
  }
}

async function removeStrays(database: Database, entries: Entries): Promise<void> {
  const numbers = entries.effective.map(({ number }) => number).join(', ') || '-1';
  for (const name of (await readColumns(database)).keys()) {
    await database.run(`DELETE FROM ${rowsOf(name)} WHERE _entry IS NULL OR _entry NOT IN (${numbers})`);
  }
}
