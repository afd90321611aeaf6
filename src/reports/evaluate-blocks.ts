import { ReportError, usage } from '../core/errors.ts';
import { formatCount } from '../core/format.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { usedParameters } from '../sql/parameters.ts';
import type { Query, QueryResult } from '../sql/query-result.ts';
import { withoutEnd } from '../sql/statements.ts';
import { bodyCalls } from '../warehouse/query/define-bodies.ts';
import type { QueryCoverage } from '../warehouse/query/query-coverage.ts';
import type { Scan } from '../warehouse/query/scans.ts';
import { analyseBlock, blockFault } from './analyse-block.ts';
import type { ReportDef, SqlBlock } from './report-definition.ts';

/** Maximum number of rows of a shown block, because they are kept in memory. */
const MAX_ROWS = 50_000;

/** Results of the blocks of a report. */
interface Evaluation {
  /** Rows of shown blocks, by id. */
  readonly results: ReadonlyMap<string, QueryResult>;
  /** Blocks that were not run, and the optional marts that they read and that were never built. */
  readonly unbuilt: ReadonlyMap<string, readonly string[]>;
  /** Relations read by blocks, without other blocks. */
  readonly relations: readonly string[];
  /** Relations read by shown blocks and by those that set variables, directly or through other blocks. */
  readonly scans: readonly Scan[];
}

/** Names in blocks. */
interface BlockNames {
  /** Values of all parameters. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Names that blocks must not have. */
  readonly taken: readonly string[];
  /** Optional marts that were never built. */
  readonly absent: readonly string[];
}

/** Where blocks run, and where they are planned. */
interface BlockPlaces {
  readonly query: Query;
  readonly coverage: QueryCoverage;
}

/**
 * Runs the selects of a report from top to bottom. Each becomes a temporary table or view named by its id, which later ones can
 * read.
 * @throws {ReportError} if a select fails, with file and line, or has too many rows
 */
export async function evaluateBlocks(
  places: BlockPlaces,
  report: ReportDef,
  { values, taken, absent }: BlockNames,
): Promise<Evaluation> {
  const { query, coverage } = places;
  const shown = shownIds(report);
  const ids = report.blocks.map(({ id }) => id);
  const results = new Map<string, QueryResult>();
  const unbuilt = new Map<string, readonly string[]>();
  const relations = new Set<string>();
  const scans: Scan[] = [];
  const compared = comparedIds(report);
  for (const block of report.blocks) {
    requireFree(block, report, taken);
    const read = await analyseBlock(query, report, block, Object.keys(values));
    const lacking = read.flatMap((name) => unbuilt.get(name) ?? absent.filter((mart) => mart === name));
    if (lacking.length > 0) {
      unbuilt.set(block.id, [...new Set(lacking)]);
      if (shown.has(block.id)) results.set(block.id, { columns: [], rows: [] });
      continue;
    }
    for (const name of read) if (!ids.includes(name)) relations.add(name);
    const bound = usedParameters(block.sql, values);
    // Filters are pushed down through a view to the files; but it cannot have parameters, or call functions over bodies.
    const { sql, functions } = await bodyCalls(block.sql, { path: `${report.path}:${block.line}` });
    await coverage.define(functions);
    const isPlain = bound === undefined && functions.length === 0;
    const isView = !shown.has(block.id) && !block.isVariables && isPlain;
    const create = `CREATE TEMP ${isView ? 'VIEW' : 'TABLE'} ${quoteName(block.id)} AS\n${withoutEnd(sql)}`;
    await query(create, bound).catch((error: unknown) => {
      throw blockFault(error, report.path, block);
    });
    const scanned = await coverage.scans(create, bound);
    if (!compared.has(block.id)) scans.push(...scanned);
    if (block.isVariables) await setVariables(places, report, block);
    if (shown.has(block.id)) results.set(block.id, await readRows(query, report, block));
  }
  return { results, unbuilt, relations: [...relations], scans };
}

/** Selects whose rows are shown, or compared with shown ones. */
function shownIds({ parts }: ReportDef): ReadonlySet<string> {
  const ids = parts.flatMap((part) =>
    part.kind === 'prose' ? [] : [part.of, part.kind === 'figures' ? part.def.before : undefined],
  );
  return new Set(ids.filter((id) => id !== undefined));
}

/** Selects of previous periods: gaps in them are not gaps of the report. */
function comparedIds({ parts }: ReportDef): ReadonlySet<string> {
  const shown = new Set(parts.flatMap((part) => (part.kind === 'prose' ? [] : [part.of])));
  const before = parts.flatMap((part) => (part.kind === 'figures' ? (part.def.before ?? []) : []));
  return new Set(before.filter((id) => !shown.has(id)));
}

async function setVariables(
  { query, coverage }: BlockPlaces,
  { path }: ReportDef,
  { id, line }: SqlBlock,
): Promise<void> {
  const { columns, rows } = await query(`SELECT * FROM ${quoteName(id)} LIMIT 2`);
  if (rows.length !== 1) {
    throw new ReportError(
      `report: expected one row of ${id}, got ${rows.length === 0 ? 'none' : 'more'} (${path}:${line})`,
      {
        hint: 'its single row becomes the variables',
      },
    );
  }
  for (const { name } of columns) {
    await query(`SET VARIABLE ${quoteName(name)} = (SELECT ${quoteName(name)} FROM ${quoteName(id)})`);
    const { rows } = await query(`SELECT getvariable($name)::VARCHAR, typeof(getvariable($name))`, { name });
    const [value, type] = rows[0] ?? [];
    const constant = value === null ? 'NULL' : quoteText(String(value));
    await (await coverage.empty()).setVariable(name, `CAST(${constant} AS ${String(type)})`);
  }
}

async function readRows(query: Query, { path }: ReportDef, { id, line }: SqlBlock): Promise<QueryResult> {
  const result = await query(`SELECT * FROM ${quoteName(id)} LIMIT ${MAX_ROWS + 1}`);
  if (result.rows.length <= MAX_ROWS) return result;
  throw new ReportError(`report: expected at most ${formatCount(MAX_ROWS)} rows of ${id}, got more (${path}:${line})`, {
    hint: 'group or limit the rows; the sql command with --format csv has no limit',
  });
}

/** A block must not have the name of a table, which it would hide. */
function requireFree({ id, line }: SqlBlock, { path }: ReportDef, taken: readonly string[]): void {
  if (!taken.includes(id)) return;
  throw usage('an id that is not a table name', `${id} (${path}:${line})`, `rename it, for example to ${id}_shown`);
}
