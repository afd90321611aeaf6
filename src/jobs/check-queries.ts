import { choicesFor, didYouMean } from '../core/did-you-mean.ts';
import { StoreError, type UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { failuresTable } from '../marts/check-failures.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { unknownParameter, usedParameters } from '../sql/parameters.ts';
import { shippedNames } from '../sql/shipped-queries.ts';
import { openReader, type Reader } from '../warehouse/index.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { ownRelations } from '../warehouse/query/state-relations.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { type Job, type PlacedQuery, SAMPLE } from './job.ts';
import { queryFault } from './query-fault.ts';

/**
 * Checks that DuckDB can parse the queries of a job, and that their tables and columns exist: each is planned over empty tables.
 * There are no network requests, and nothing is written.
 *
 * @throws {UsageError} with the file and line of the first wrong query
 */
export async function checkQueries(job: Job): Promise<void> {
  const rows = [...job.outputs.filter((output) => output.kind === 'rows'), ...job.databases];
  const queries = rows.flatMap(({ source }) => ('sql' in source ? [source] : []));
  if (queries.length === 0) return;
  const [registry, marts] = await Promise.all([warehouseRegistry(job.warehouse), shippedNames('marts')]);
  const isNamed = (name: string): boolean => queries.some(({ sql }) => sql.toLowerCase().includes(name));
  // Finding the columns of marts takes longer than everything else.
  const shipped = marts.some(isNamed) ? (await loadMarts(registry)).map(({ table }) => table) : [];
  const built = job.marts ?? marts;
  const stored = await readStoredMarts(job.warehouse, registry);
  const relations = [...shipped, failuresTable, ...(stored ?? []).filter(({ name }) => !built.includes(name))];
  const scratch = await EmptyDatabase.open(registry);
  try {
    for (const table of relations) scratch.declare(table);
    scratch.declareViews(registry.tables);
    const views = registry.tables.flatMap((table) => table.views);
    const own = [...registry.tables, ...views, ...relations, ...ownRelations].map(({ name }) => name);
    const names = [...own, ...marts];
    for (const query of queries) await checkQuery(scratch, query, { job, names, isComplete: stored !== undefined });
  } finally {
    await scratch.close();
  }
}

/** The marts of a warehouse, with their current columns; undefined if it cannot be read now. */
async function readStoredMarts(warehouse: string, registry: Registry): Promise<readonly TableDef[] | undefined> {
  let reader: Reader | undefined;
  try {
    reader = await openReader(warehouse, registry.tables);
    return await reader.marts();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.code === 'no-warehouse' ? [] : undefined;
  } finally {
    await reader?.close();
  }
}

/** Names that the queries of a job may use. */
interface Known {
  readonly job: Job;
  readonly names: readonly string[];
  /** False if the warehouse may have more names. */
  readonly isComplete: boolean;
}

async function checkQuery(scratch: EmptyDatabase, target: PlacedQuery, known: Known): Promise<void> {
  const { sql } = target;
  const values = { from: 1, to: 1, ...SAMPLE };
  requireKnownParameters(target, Object.keys(values));
  await scratch.query(`EXPLAIN COPY (${sql}\n) TO 'rows.csv'`, usedParameters(sql, values)).catch((error: unknown) => {
    const fault = queryFault(error, target);
    if (isMistake(fault.text, known)) throw wrongQuery(fault, known.names);
  });
}

function requireKnownParameters({ sql, lines }: PlacedQuery, known: readonly string[]): void {
  const unknown = unknownParameter(sql, known);
  if (unknown === undefined) return;
  const line = lines.line + (lines.isFolded ? 0 : unknown.line - 1);
  throw badQuery(
    `a parameter that jobs bind, got ${unknown.written} (${lines.file}:${line})`,
    choicesFor(
      unknown.written,
      known.map((name) => `$${name}`),
    ),
  );
}

/** True if a query can never succeed. Files that it reads may appear later, and values may differ. */
function isMistake(text: string, { isComplete }: Known): boolean {
  return (isComplete ? /^(Parser|Catalog|Binder|Invalid Input|Missing Extension) Error/ : /^Parser Error/).test(text);
}

function wrongQuery({ text, place }: ReturnType<typeof queryFault>, names: readonly string[]): UsageError {
  const [, table] = /^Catalog Error: Table with name (\S+) does not exist/.exec(text) ?? [];
  if (table !== undefined) {
    return badQuery(
      `a table or mart, got ${table} (${place})`,
      didYouMean(table, names).trimEnd() || `${suggest('show')} lists all tables`,
    );
  }
  return badQuery(`a valid query, got an error: ${text} (${place})`, `${suggest('show')} shows tables and columns`);
}

function badQuery(message: string, hint: string): UsageError {
  return usage(message, undefined, hint);
}
