import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError, usage } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import { writeAtomically } from '../../files/atomic-write.ts';
import { type Confinement, requireQueries } from '../../sql/confined-sql.ts';
import { lakeFileNotes } from '../../sql/lake-files.ts';
import { boundIn, type Parameters } from '../../sql/parameters.ts';
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
import { addStatesIn } from './state-relations.ts';
import { openWarehouse } from './warehouse-registry.ts';

export interface QueryOptions {
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** Refuses a query that reads what is missing or stale, instead of warning. */
  readonly strict?: boolean | undefined;
  /** Values of named parameters, such as `$account`. They are bound as texts, never inserted into the SQL; the query casts them. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** SQL of the queries. Default: DuckDB's. */
  readonly dialect?: Dialect | undefined;
  /** File with layouts of bodies, by name. Default: that of the project. */
  readonly layouts?: string | undefined;
  /** File of the query, which errors name together with the line. */
  readonly file?: string | undefined;
  /** Refuses everything but queries of the warehouse. Default: unconfined, with the rights of this process. */
  readonly confinement?: Confinement | undefined;
  /** Counts requests to an object store. Default false. */
  readonly countsTraffic?: boolean | undefined;
  /** Called with a line for each missing or stale input of the query. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The stored rows of a query, which later commits do not change. */
export interface MaterializedQuery extends ResultTable {
  /** Reads the table `RESULT_TABLE`. */
  readonly source: RelationSource;
}

/** A warehouse opened for the queries of one user, with warnings about missing data. */
export interface Queries {
  /** True if nobody can write the warehouse while it is open. */
  readonly blocksWriters: boolean;
  /**
   * Writes the rows of a query to a file, which appears under its name when it is complete, or to a stream of text.
   *
   * @param params instead of those of the options
   * @returns how many rows
   * @throws {UsageError} when there is no statement, or the query does not name a parameter that was given
   * @throws {StoreError} when the query is wrong
   * @throws {AuditError} `missing` with `strict`, when the query reads what is missing or stale
   */
  write(sql: string, target: RelationTarget, params?: Parameters): Promise<number>;
  /**
   * Streams the rows of a query.
   *
   * @param params instead of those of the options, of any type
   * @throws as `write`
   */
  read<T>(sql: string, use: (rows: RowStream) => Promise<T>, params?: Parameters): Promise<T>;
  /**
   * Runs a query once, confined, and stores at most `limit` rows until `close`.
   *
   * @throws as `write`; {StoreError} `not-a-query` if the statement does more than query
   */
  materialize(sql: string, limit: number): Promise<MaterializedQuery>;
  /** Requests since the last call, or the start of the process; absent for a local warehouse, and without `countsTraffic`. */
  readonly traffic?: (() => Promise<ReaderTraffic>) | undefined;
  /** Cancels the running query, which throws. */
  interrupt(): void;
  close(): Promise<void>;
}

/** Opens a warehouse for queries, of which each sees the commits before it begins. @throws {StoreError} `no-warehouse`; {UsageError} */
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
  // Pinned, because a query and its coverage take several calls.
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
    write: (sql, target, params) =>
      answer(
        sql,
        (selection) =>
          'out' in target
            ? writeRelation(reader, selection, target)
            : writeAtomically(target.file, (draft) => writeRelation(reader, selection, { ...target, file: draft })),
        params,
      ),
    read: (given, use, params) => answer(given, ({ sql, parameters }) => reader.stream(sql, parameters, use), params),
    materialize: async (sql, limit) => {
      requireQueries(sql);
      const stored = await answer(sql, (selection) =>
        storeResult(reader.query, selection, { limit, require: (statement) => reader.requireQuery(statement) }),
      );
      await reader.release();
      return { ...stored, source: { query: reader.query, stream: reader.stream } };
    },
    traffic: reader.traffic,
    interrupt: () => {
      coverage.interrupt();
      reader.interrupt();
    },
    close: async () => {
      await coverage.close();
      await reader.close();
    },
  };
}

/** Opens a warehouse for queries of its present state. */
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

interface GivenQuery {
  readonly sql: string;
  /** File that it was read from. */
  readonly file?: string | undefined;
}

/** Adds place and hint to the error of a query: DuckDB knows neither the file nor where names are listed. */
export function explainFault(error: unknown, { sql, file }: GivenQuery): unknown {
  if (!(error instanceof StoreError) || error.hint !== undefined || error.code === 'closed') return error;
  const fault = sqlFault(error);
  const [, address] = NO_ADDRESS.exec(fault.text) ?? [];
  if (address !== undefined)
    return usage(
      'an address with its checksum',
      address,
      'try_raw_address(text) is null for a text that is no address',
      { cause: error },
    );
  const line = fault.line !== undefined && sql.trim().includes('\n') ? `line ${fault.line}` : undefined;
  const place = file === undefined ? line : placeOf(file, fault);
  const command = commandFor(fault.text);
  // DuckDB guesses another table.
  const text = command === undefined ? fault.text : fault.text.replace(/\s*\bDid you mean "[^"]*"\?/, '');
  const hint = command === undefined ? hintOf(fault.text) : { hint: command };
  const message = `store: query: ${text}${place === undefined ? '' : ` (${place})`}`;
  return new StoreError(message, { code: error.code, ...hint, cause: error.cause });
}

/** The error of `raw_address`. */
const NO_ADDRESS = /\bnot an address: (.*)$/;
/** The table of the rows that break the rules of checks. */
const CHECK_FAILURES = 'check_failures';
const NO_TABLE = /Table with name (\w+) does not exist/;

/** @throws {StoreError} if an error is about a table that has rows, but whose declaration is gone */
async function requireDeclared(reader: Reader, error: unknown): Promise<void> {
  const [, table] = NO_TABLE.exec(error instanceof Error ? error.message : '') ?? [];
  if (table !== undefined && hasRows(await reader.ledger(), table)) {
    throw missingDeclaration(`declaration of table ${table} in ${reader.path}`);
  }
}

/** The command that makes the table that a fault misses: a mart, or the rows that checks found. */
function commandFor(fault: string): string | undefined {
  const [, table = ''] = NO_TABLE.exec(fault) ?? [];
  if (table === CHECK_FAILURES) return suggest('test');
  return existsSync(join(shippedFolder('marts'), `${table}.sql`)) ? suggest('build', table) : undefined;
}

/** The hint for a fault, if there is one. */
function hintOf(fault: string): { readonly hint?: string } {
  if (/\bparameters\b/.test(fault)) return { hint: 'set each $name of the query with --param name=value' };
  if (/\bvalues of type ANY\b/.test(fault))
    return {
      hint: 'pass a text, number, bigint or boolean; a date as text, a list as JSON and cast: $names::JSON::VARCHAR[]',
    };
  if (/Overflow in HUGEINT/.test(fault))
    return { hint: 'exact_sum(x) adds up to 38 digits, exact_sum_text(x) any number' };
  const isName = /^Catalog Error: (Table|View)\b|^Binder Error: .*\b(column|table)\b/i.test(fault);
  return isName ? { hint: `${suggest('show')} shows tables and columns` } : {};
}
