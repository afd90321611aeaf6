import { StoreError } from '../core/errors.ts';
import { greatest, hullOf, type Span, unionSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { statIfAny } from '../files/disk.ts';
import { busyError, readLockHolder } from '../files/writer-lock.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { Database } from '../sql/database.ts';
import {
  declarationsIn,
  openFile,
  pathsOf,
  readColumns,
  readNetwork,
} from '../warehouse/duckdb-store/database-file.ts';
import { DeclarationFolder, type Declarations } from '../warehouse/ledger/declarations.ts';
import { FORGOTTEN } from '../warehouse/ledger/done-spans.ts';
import { Entries, isNewer, parseEntry } from '../warehouse/ledger/entries.ts';
import { LedgerFolder, layoutOf, readIdentity } from '../warehouse/ledger/ledger-folder.ts';
import { detectStoreKind } from '../warehouse/open-store.ts';
import { steadyPath } from '../warehouse/parquet-store/pinned-files.ts';
import { readFiles, selectFiles } from '../warehouse/relations/table-relation.ts';
import { schemaOf } from '../warehouse/relations/table-schema.ts';
import type { LedgerEntry, Store, TableFile } from '../warehouse/store.ts';
import { warehousePath } from '../warehouse/store-options.ts';
import { boundColumn } from './bound-column.ts';
import type { Finding } from './finding.ts';

/** An entry of the ledger that is gone or broken, and what other places tell of it. */
export interface LostEntry {
  readonly number: number;
  readonly isBroken: boolean;
  /** Whether the ledger cannot be read beyond it. */
  readonly isGap: boolean;
  readonly pipeline: string | undefined;
  readonly span: Span | undefined;
  /** As in an entry. */
  readonly spans?: readonly Span[] | undefined;
}

/** What an entry covered that is not in force any more. */
export type RemovedEntry = Pick<LedgerEntry, 'number' | 'pipeline' | 'span' | 'spans'>;

/** A warehouse as it lies there: whatever can be read of it, by itself. */
export interface Held {
  readonly kind: Store['kind'];
  /** Absolute. */
  readonly path: string;
  readonly network: string;
  /** Entries in force, in order of commit. */
  readonly entries: readonly LedgerEntry[];
  readonly lost: readonly LostEntry[];
  /** What lost entries held whose numbers a repair has filled. */
  readonly filled: readonly RemovedEntry[];
  /** What was removed on purpose. */
  readonly forgotten: readonly RemovedEntry[];
  /** Declarations that made the rows. */
  readonly declarations: Declarations;
  /** What is wrong with the ledger itself. */
  readonly findings: readonly Finding[];
  /** Where the audits run; bounded memory. */
  readonly database: Database;
  /** SQL of the declared columns of a table's rows of some entries. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** As `select`, with one more column, which tells the entry of each row. */
  selectEach(table: TableDef, entries: readonly LedgerEntry[]): SelectEach;
  close(): void;
}

export interface SelectEach {
  readonly sql: string;
  /** Name of the column. */
  readonly by: string;
  /** The number of the entry that a value of it stands for. */
  entryOf(value: unknown): number | undefined;
}

export interface HeldOptions {
  readonly path: string;
  readonly registry: Registry;
  /** Folder that DuckDB may spill to. */
  readonly spill: string;
  /** Bound of DuckDB's memory in megabytes. */
  readonly memoryMb: number;
}

/** @throws {StoreError} `no-warehouse`, `busy`, or `bad-ledger` when it does not even say which network it holds */
export async function openHeld(options: HeldOptions): Promise<Held> {
  const path = warehousePath(options.path);
  const { kind, exists } = await detectStoreKind(path);
  const identity = kind === 'parquet' && exists ? await readIdentity(path) : undefined;
  if (!exists || (kind === 'parquet' && identity === undefined)) {
    throw new StoreError(`store: no warehouse at ${path}`, {
      code: 'no-warehouse',
      hint: 'choose one with --warehouse, or create one with tonlake run',
    });
  }
  const database = await Database.open(':memory:', {
    threads: '2',
    memory_limit: `${options.memoryMb}MB`,
    temp_directory: options.spill,
    enable_external_file_cache: 'false',
    preserve_insertion_order: 'false',
  });
  try {
    return kind === 'parquet'
      ? await holdFolder(path, identity?.network ?? '', database)
      : await holdFile(path, options.registry, database);
  } catch (error) {
    database.close();
    throw error;
  }
}

interface Witness {
  readonly pipeline: string;
  readonly span: Span | undefined;
  readonly spans?: readonly Span[] | undefined;
}

async function holdFolder(path: string, network: string, database: Database): Promise<Held> {
  // The catalog before the ledger: a commit in between must not look lost.
  const catalog = await readCatalog(path, database);
  const ledger = new LedgerFolder(path);
  const broken = new Map<number, unknown>();
  const findings: Finding[] = [];
  await ledger.refresh(({ number, error }) => {
    if (number !== undefined) broken.set(number, error);
    else findings.push({ kind: 'schema-broken', pipeline: '', expected: 'a readable schema', got: messageOf(error) });
  });
  const known = new Set(ledger.entries.all.map(({ number }) => number));
  const highest = greatest(known, 0);
  const gone = [...new Set([...broken.keys(), ...catalog.commits.keys()])].filter((number) => !known.has(number));
  const lost: LostEntry[] = [];
  for (const number of gone.sort((a, b) => a - b)) {
    const isBroken = (await statIfAny(ledger.entryPath(number))) !== undefined;
    const isGap = isBroken || number < highest;
    lost.push({ number, isBroken, isGap, pipeline: undefined, span: undefined, ...catalog.commits.get(number) });
  }
  const named = new Set(
    ledger.entries.all
      .flatMap(({ tables }) => Object.values(tables))
      .flatMap(({ files }) => files.map((file) => file.path)),
  );
  if (lost.length === 0) {
    for (const file of catalog.files.filter((name) => !named.has(name))) {
      findings.push({
        kind: 'file-unknown',
        pipeline: '',
        file,
        expected: 'a catalog of files in the ledger',
        got: 'one more',
      });
    }
  }
  const place = (file: TableFile): string => steadyPath(path, file.path);
  const select = (table: TableDef, entries: readonly LedgerEntry[], isNamed: boolean): string => {
    const groups = new Map<string, string[]>();
    for (const { tables } of entries) {
      const part = tables[table.name];
      if (part === undefined) continue;
      const paths = groups.get(part.schema) ?? [];
      groups.set(part.schema, paths);
      paths.push(...part.files.map(place));
    }
    const filled = [...groups].map(([schema, paths]) => ({ columns: ledger.schema(schema).columns, paths }));
    return selectFiles(table, filled, readFiles, isNamed);
  };
  return held(
    {
      ...{ kind: 'parquet', path, network, database, all: ledger.entries, lost, findings },
      declarations: new DeclarationFolder(path),
    },
    (table, entries) => select(table, entries, false),
    (table, entries) => {
      const owners = new Map(
        entries.flatMap(({ number, tables }) =>
          (tables[table.name]?.files ?? []).map((file) => [place(file), number] as const),
        ),
      );
      return {
        sql: select(table, entries, true),
        by: 'filename',
        entryOf: (value) => owners.get(String(value)),
      };
    },
  );
}

/** What the catalog shows; nothing where it cannot be read, because it can be made again. */
async function readCatalog(path: string, database: Database) {
  const commits = new Map<number, Witness>();
  const files: string[] = [];
  const { catalog } = layoutOf(path);
  if ((await statIfAny(catalog)) === undefined) return { commits, files };
  try {
    await database.run(`ATTACH ${quoteText(catalog)} AS catalog_before (READ_ONLY)`);
    const { rows } = await database.query('SELECT number, pipeline, span_from, span_to FROM catalog_before._commits');
    const spans = new Map<number, Span[]>();
    for (const [number, , from, to] of rows) {
      const own = spans.get(Number(number)) ?? [];
      spans.set(Number(number), own);
      own.push({ from: Number(from), to: Number(to) });
    }
    for (const [number, pipeline] of rows) {
      const own = unionSpans(spans.get(Number(number)) ?? []);
      commits.set(Number(number), {
        pipeline: String(pipeline),
        span: hullOf(own),
        spans: own.length > 1 ? own : undefined,
      });
    }
    const views = await database.query("SELECT sql FROM duckdb_views() WHERE database_name = 'catalog_before'");
    for (const [sql] of views.rows) {
      for (const [, name] of String(sql).matchAll(
        /(?:tables|pinned)\/([a-z_]+\/(?:block_date=[^/']+\/)?\d+-\d+-[0-9a-z]+\.parquet)/g,
      )) {
        files.push(`tables/${name}`);
      }
    }
    await database.run('DETACH catalog_before');
  } catch {
    // A catalog that is torn or foreign tells nothing.
  }
  return { commits, files };
}

async function holdFile(path: string, registry: Registry, database: Database): Promise<Held> {
  const { tables } = registry;
  const { lock } = pathsOf(path);
  const holder = await readLockHolder(lock);
  if (holder !== undefined) throw busyError(`warehouse ${path}`, holder, lock);
  // Tells a file that is no DuckDB file, or another network's, with a message of its own.
  const file = await openFile(path, { access_mode: 'READ_ONLY' });
  let network: string;
  const present = new Map<string, ReadonlySet<string>>();
  try {
    network = await readNetwork(file, path);
    for (const [name, columns] of await readColumns(file))
      present.set(name, new Set(columns.map((column) => column.name)));
  } finally {
    file.close();
  }
  await database.run(`ATTACH ${quoteText(path)} AS w (READ_ONLY)`);
  const { entries, broken } = await readRows(database, 'w._ledger');
  const witnesses = await readStrayRows(
    database,
    registry,
    tables.filter(({ name }) => (present.get(name)?.size ?? 0) > 0),
    entries,
  );
  const numbers = new Set(entries.all.map(({ number }) => number));
  const highest = greatest([...numbers, ...broken], 0);
  const lost: LostEntry[] = [];
  const expected = Array.from({ length: highest }, (_, at) => at + 1);
  const later = [...witnesses.keys()].filter((number) => number > highest);
  for (const number of [...expected, ...later].filter((each) => !numbers.has(each))) {
    const isGap = number <= highest;
    const isBroken = broken.has(number);
    lost.push({ number, isBroken, isGap, pipeline: undefined, span: undefined, ...witnesses.get(number) });
  }
  const findings: Finding[] = [...witnesses]
    .filter(([number]) => numbers.has(number))
    .map(([entry, { pipeline, span }]) => {
      return {
        kind: 'rows-unknown',
        pipeline,
        span,
        entry,
        expected: 'rows of entries in force only',
        got: 'rows of one that is not',
      };
    });
  const select = (table: TableDef, some: readonly LedgerEntry[], more: readonly string[]): string => {
    const columns = schemaOf(table).columns.map(({ name, type }) =>
      present.get(table.name)?.has(name) === true ? quoteName(name) : `NULL::${type} AS ${quoteName(name)}`,
    );
    const list = some.map(({ number }) => number).join(', ') || '-1';
    const which = some.length === 1 ? `= ${list}` : `IN (${list})`;
    return `SELECT ${[...columns, ...more].join(', ')} FROM w._rows.${quoteName(table.name)} WHERE _entry ${which}`;
  };
  return held(
    {
      ...{ kind: 'duckdb', path, network, database, all: entries, lost, findings },
      declarations: declarationsIn(database, 'w.main'),
    },
    (table, some) => select(table, some, []),
    (table, some) => ({ sql: select(table, some, ['_entry']), by: '_entry', entryOf: Number }),
  );
}

/** The ledger of a one-file warehouse: what can be read of it, and the numbers of what cannot. */
export async function readRows(
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

/** Rows in a one-file warehouse that belong to no entry in force, by the number they carry. */
async function readStrayRows(
  database: Database,
  registry: Registry,
  tables: readonly TableDef[],
  entries: Entries,
): Promise<ReadonlyMap<number, Witness>> {
  const effective = new Set(entries.effective.map(({ number }) => number));
  const stray = new Map<number, Witness>();
  for (const table of tables) {
    const column = boundColumn(registry, table);
    const ends = column === undefined ? 'NULL, NULL' : `min(${quoteName(column)}), max(${quoteName(column)})`;
    const { rows } = await database.query(
      `SELECT _entry::INTEGER, ${ends} FROM w._rows.${quoteName(table.name)} GROUP BY _entry`,
    );
    const pipeline = registry.pipelines.find((each) => each.tables.includes(table))?.name ?? '';
    for (const [number, from, to] of rows) {
      if (effective.has(Number(number))) continue;
      const before = stray.get(Number(number))?.span;
      const span =
        column === undefined
          ? before
          : { from: Math.min(Number(from), before?.from ?? Infinity), to: Math.max(Number(to), before?.to ?? 0) };
      stray.set(Number(number), { pipeline, span });
    }
  }
  return stray;
}

function held(
  base: Pick<Held, 'kind' | 'path' | 'network' | 'database' | 'declarations' | 'lost' | 'findings'> & {
    readonly all: Entries;
  },
  select: Held['select'],
  selectEach: Held['selectEach'],
): Held {
  const { all, findings, network, lost, ...rest } = base;
  const foreign = all.all.filter((entry) => entry.network !== network);
  return {
    ...rest,
    network,
    lost,
    select,
    selectEach,
    entries: all.effective,
    filled: all.all.filter(({ id, supersedes, scope }) => supersedes.includes(id) && scope !== FORGOTTEN),
    forgotten: all.forgotten,
    findings: [
      ...findings,
      ...lost.map(({ number, isBroken, pipeline, span }): Finding => {
        const kind = isBroken ? 'entry-broken' : 'entry-lost';
        const got = isBroken ? 'one that cannot be read' : 'none';
        return { kind, pipeline: pipeline ?? '', span, entry: number, expected: `entry ${number} in the ledger`, got };
      }),
      ...foreign.map(({ number, pipeline, span, network: got }): Finding => {
        return {
          kind: 'entry-foreign',
          pipeline,
          span,
          entry: number,
          expected: `entries of ${network}`,
          got: `one of ${got}`,
        };
      }),
    ],
    close: () => rest.database.close(),
  };
}

export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 200);
}
