import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError, usage } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import { writeAtomically } from '../../files/atomic-write.ts';
import { type Confinement, requireQueries } from '../../sql/confined-sql.ts';
import { lakeFileNotes } from '../../sql/lake-files.ts';
import type { RowStream } from '../../sql/query-result.ts';
import { type RelationSource, type RelationTarget, type Selection, writeRelation } from '../../sql/relation-writer.ts';
import { type ResultTable, storeResult } from '../../sql/result-table.ts';
import { shippedFolder } from '../../sql/shipped-queries.ts';
import { placeOf, sqlFault } from '../../sql/sql-fault.ts';
import { requireStatement } from '../../sql/statements.ts';
import { type Dialect, translateTrino } from '../../sql/trino/translate.ts';
import { missingDeclaration } from '../ledger/declarations.ts';
import { hasRows } from '../ledger/done-spans.ts';
import type { Reader, ReaderTraffic } from '../reader.ts';
import { requireCopiesOutside } from './copy-targets.ts';
import { defineBodies } from './define-bodies.ts';
import { formNotes } from './form-notes.ts';
import { QueryCoverage } from './query-coverage.ts';
import type { Parameters } from './scans.ts';
import { addStatesIn } from './state-relations.ts';
import { openWarehouse } from './warehouse-registry.ts';

export interface QueryOptions {
  /** When given, the warehouse must hold it. */
  readonly network?: string | undefined;
  /** Refuses a query that reads what is missing or stale, instead of warning. */
  readonly strict?: boolean | undefined;
  /** Values of named parameters, `$account` in the query: bound, and never part of its text. They are texts; the query casts them. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** SQL of the queries. Default: DuckDB's. */
  readonly dialect?: Dialect | undefined;
  /** File with layouts of bodies, by name. Default: that of the project. */
  readonly layouts?: string | undefined;
  /** File that the query was read from, which errors name together with the line. */
  readonly file?: string | undefined;
  /** Refuses whatever is more than a query of the warehouse. Default: as the user of this process may do. */
  readonly confinement?: Confinement | undefined;
  /** Counts requests to an object store. Default false. */
  readonly countsTraffic?: boolean | undefined;
  /** Told of what the query reads that is missing or stale. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The rows of a query; they stay when others write the warehouse. */
export interface KeptQuery extends ResultTable {
  /** Reads the table `RESULT_TABLE`. */
  readonly source: RelationSource;
}

/** A warehouse opened for the queries of one user, who is told what is missing. */
export interface Queries {
  /** True if nobody can write the warehouse while it is open. */
  readonly blocksWriters: boolean;
  /**
   * Writes the rows of a query to a file, which appears under its name when it is whole, or to a stream of text.
   *
   * @returns how many rows
   * @throws {UsageError} `no-query` when there is no statement; `unknown-parameter` when the query does not name a parameter that was given
   * @throws {StoreError} when the query is wrong
   * @throws {AuditError} `missing` with `strict`, when the query reads what is missing or stale
   */
  write(sql: string, target: RelationTarget): Promise<number>;
  /**
   * Hands over the rows of a query as they are made.
   *
   * @param params instead of those of the options, of any type
   * @throws as `write`
   */
  read<T>(sql: string, use: (rows: RowStream) => Promise<T>, params?: Parameters): Promise<T>;
  /**
   * Runs a query once, confined, and keeps its rows until `close`: at most `limit`.
   *
   * @throws as `write`; {StoreError} `not-a-query` when it is more than that
   */
  keep(sql: string, limit: number): Promise<KeptQuery>;
  /** Requests since the last call, or the start of the process; absent if the warehouse is not in an object store, or nothing is counted. */
  readonly traffic?: (() => Promise<ReaderTraffic>) | undefined;
  /** Cancels the query that runs, which throws then. */
  interrupt(): void;
  close(): Promise<void>;
}

/** Each query sees what is committed when it begins. @throws {StoreError} `no-warehouse`; {UsageError} `other-network` */
export function openQueries(warehouse: string, options: QueryOptions = {}): Promise<Queries> {
  return open(warehouse, options, (reader) => reader.refresh());
}

/** @param begin awaited before each query */
async function open(
  warehouse: string,
  options: QueryOptions,
  begin: (reader: Reader) => Promise<void>,
): Promise<Queries> {
  const { network, confinement, countsTraffic } = options;
  // Pinned, because a query and what it lacks take several calls.
  const { registry, reader } = await openWarehouse(warehouse, { network, confinement, countsTraffic, isPinned: true });
  const coverage = new QueryCoverage(reader, registry);
  const answer = async <T>(
    given: string,
    work: (selection: Selection) => Promise<T>,
    params: Parameters = options.params,
  ): Promise<T> => {
    requireStatement(given);
    await requireCopiesOutside(reader.path, given);
    await begin(reader);
    const called = await defineBodies(coverage, given, { layouts: options.layouts });
    const sql = options.dialect === 'trino' ? await translateTrino(reader.query, called) : called;
    await addStatesIn(sql, reader, registry);
    const lacks = await coverage.lacks(sql, params, options.strict);
    const result = await work({ sql, parameters: boundIn(sql, params) }).catch(async (error: unknown) => {
      await requireDeclared(reader, error);
      throw explainFault(error, { sql, file: options.file });
    });
    const notes = await formNotes(reader.query, registry, { sql, parameters: params });
    for (const warning of [...lacks, ...notes, ...lakeFileNotes(sql)]) options.onWarning?.(warning);
    return result;
  };
  return {
    blocksWriters: reader.blocksWriters,
    write: (sql, target) =>
      answer(sql, (selection) =>
        'out' in target
          ? writeRelation(reader, selection, target)
          : writeAtomically(target.file, (draft) => writeRelation(reader, selection, { ...target, file: draft })),
      ),
    read: (given, use, params) => answer(given, ({ sql, parameters }) => reader.stream(sql, parameters, use), params),
    keep: async (sql, limit) => {
      requireQueries(sql);
      const kept = await answer(sql, (selection) =>
        storeResult(reader.query, selection, { limit, require: (statement) => reader.requireQuery(statement) }),
      );
      await reader.release();
      return { ...kept, source: { query: reader.query, stream: reader.stream } };
    },
    traffic: reader.traffic,
    interrupt: () => reader.interrupt(),
    close: async () => {
      await coverage.close();
      await reader.close();
    },
  };
}

/** Opens a warehouse for queries of what is committed now. */
export async function withQueries<T>(
  warehouse: string,
  options: QueryOptions,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const queries = await open(warehouse, options, async () => {});
  try {
    return await work(queries);
  } finally {
    await queries.close();
  }
}

/** The parameters of a query. @throws {UsageError} `unknown-parameter` for one that it does not name */
export function boundIn(sql: string, params: Parameters): Parameters {
  if (params === undefined || Object.keys(params).length === 0) return undefined;
  for (const name of Object.keys(params)) {
    if (new RegExp(`\\$${name}\\b`).test(sql)) continue;
    throw usage('a parameter of the query', name, {
      code: 'unknown-parameter',
      hint: `use $${name} in the query`,
    });
  }
  return params;
}

interface GivenQuery {
  readonly sql: string;
  /** File that it was read from. */
  readonly file?: string | undefined;
}

/** The error of a query, with its place and a hint: DuckDB says neither in which file it is, nor where the names are. */
export function explainFault(error: unknown, { sql, file }: GivenQuery): unknown {
  if (!(error instanceof StoreError) || error.hint !== undefined || error.code === 'closed') return error;
  const fault = sqlFault(error);
  const [, address] = NO_ADDRESS.exec(fault.text) ?? [];
  if (address !== undefined)
    return usage('an address with its checksum', address, {
      ...{ code: 'bad-address', hint: 'try_raw_address(text) is null for a text that is no address', cause: error },
    });
  const line = fault.line !== undefined && sql.trim().includes('\n') ? `line ${fault.line}` : undefined;
  const place = file === undefined ? line : placeOf(file, fault);
  const message = `store: query: ${fault.text}${place === undefined ? '' : ` (${place})`}`;
  return new StoreError(message, { code: error.code, ...hintOf(fault.text), cause: error.cause });
}

/** What `raw_address` says of a text. */
const NO_ADDRESS = /\bnot an address: (.*)$/;
const NO_TABLE = /Table with name (\w+) does not exist/;

/** @throws {StoreError} `bad-declaration` if an error is about a table that has rows, but whose declaration is gone */
async function requireDeclared(reader: Reader, error: unknown): Promise<void> {
  const [, table] = NO_TABLE.exec(error instanceof Error ? error.message : '') ?? [];
  if (table !== undefined && hasRows(await reader.ledger(), table)) {
    throw missingDeclaration(`declaration of table ${table} in ${reader.path}`);
  }
}

/** What to do about a fault; nothing where DuckDB's words are all there is to say. */
function hintOf(fault: string): { readonly hint?: string } {
  if (/\bparameters\b/.test(fault)) return { hint: 'set each $name of the query with --param name=value' };
  if (/\bvalues of type ANY\b/.test(fault))
    return {
      hint: 'pass a text, number, bigint or boolean; a date as text, a list as JSON and cast: $names::JSON::VARCHAR[]',
    };
  if (/Overflow in HUGEINT/.test(fault))
    return { hint: 'exact_sum(x) adds up to 38 digits, exact_sum_text(x) any number' };
  const [, table = ''] = NO_TABLE.exec(fault) ?? [];
  if (existsSync(join(shippedFolder('marts'), `${table}.sql`))) return { hint: suggest('build', table) };
  const isName = /^Catalog Error: (Table|View)\b|^Binder Error: .*\b(column|table)\b/i.test(fault);
  return isName ? { hint: `${suggest('show')} shows tables and columns` } : {};
}
