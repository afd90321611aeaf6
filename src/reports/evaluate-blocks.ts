import { ReportError, UsageError } from '../core/errors.ts';
import { formatCount } from '../core/format.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { Query, QueryResult } from '../sql/query-result.ts';
import type { SqlNode } from '../sql/sql-tree.ts';
import type { ReadPart } from '../warehouse/query/coverage-gaps.ts';
import { partsOf, scansWithViews, treeOf } from '../warehouse/query/query-gaps.ts';
import type { Scan } from '../warehouse/query/sql-scans.ts';
import { analyseBlock, blockFault } from './analyse-block.ts';
import type { ReportDef, SqlBlock } from './report-definition.ts';

/** Maximum number of rows of a shown block, because they are kept in memory. */
const MAX_ROWS = 50_000;

/** Results of the blocks of a report. */
export interface Evaluation {
  /** Rows of shown blocks, by id. */
  readonly results: ReadonlyMap<string, QueryResult>;
  /** Relations read by blocks, without other blocks. */
  readonly relations: readonly string[];
}

/**
 * Runs the selects of a report from top to bottom. Each becomes a temporary table or view named by its id, which later ones can
 * read.
 * @param values of all parameters; `taken`: names that blocks must not have
 * @throws {ReportError} `bad-sql` with file and line; `too-many-rows`
 */
export async function evaluateBlocks(
  query: Query,
  report: ReportDef,
  { values, taken }: { readonly values: Readonly<Record<string, unknown>>; readonly taken: readonly string[] },
): Promise<Evaluation> {
  const shown = shownIds(report);
  const ids = report.blocks.map(({ id }) => id);
  const results = new Map<string, QueryResult>();
  const relations = new Set<string>();
  for (const block of report.blocks) {
    requireFree(block, report, taken);
    const analysis = await analyseBlock(query, report, block, Object.keys(values));
    for (const name of analysis.relations) if (!ids.includes(name)) relations.add(name);
    const bound = Object.fromEntries(analysis.params.map((name) => [name, values[name]]));
    // A view costs nothing, and filters are pushed down through it to the files; but it cannot have parameters.
    const isView = !shown.has(block.id) && !block.isVariables && analysis.params.length === 0;
    const create = `CREATE TEMP ${isView ? 'VIEW' : 'TABLE'} ${quoteName(block.id)} AS\n${withoutEnd(block.sql)}`;
    await query(create, bound).catch((error: unknown) => {
      throw blockFault(error, report.path, block);
    });
    if (block.isVariables) await setVariables(query, report, block);
    if (shown.has(block.id)) results.set(block.id, await readRows(query, report, block));
  }
  return { results, relations: [...relations] };
}

/** Selects whose rows are shown, or compared with shown ones. */
function shownIds({ parts }: ReportDef): ReadonlySet<string> {
  const ids = parts.flatMap((part) =>
    part.kind === 'prose' ? [] : [part.of, part.kind === 'figures' ? part.def.before : undefined],
  );
  return new Set(ids.filter((id) => id !== undefined));
}

async function setVariables(query: Query, { path }: ReportDef, { id, line }: SqlBlock): Promise<void> {
  const { columns, rows } = await query(`SELECT * FROM ${quoteName(id)} LIMIT 2`);
  if (rows.length !== 1) {
    throw new ReportError(
      `report: expected one row of ${id}, got ${rows.length === 0 ? 'none' : 'more'} (${path}:${line})`,
      {
        code: 'bad-sql',
        hint: 'its single row becomes the variables',
      },
    );
  }
  for (const { name } of columns) {
    await query(`SET VARIABLE ${quoteName(name)} = (SELECT ${quoteName(name)} FROM ${quoteName(id)})`);
  }
}

async function readRows(query: Query, { path }: ReportDef, { id, line }: SqlBlock): Promise<QueryResult> {
  const result = await query(`SELECT * FROM ${quoteName(id)} LIMIT ${MAX_ROWS + 1}`);
  if (result.rows.length <= MAX_ROWS) return result;
  throw new ReportError(`report: expected at most ${formatCount(MAX_ROWS)} rows of ${id}, got more (${path}:${line})`, {
    code: 'too-many-rows',
    hint: 'group or limit the rows; tonlake sql --format csv has no limit',
  });
}

/** A block must not have the name of a table, which it would hide. */
function requireFree({ id, line }: SqlBlock, { path }: ReportDef, taken: readonly string[]): void {
  if (!taken.includes(id)) return;
  throw new UsageError(`usage: expected an id that is not a table name, got ${id} (${path}:${line})`, {
    code: 'bad-report',
    hint: `rename it, for example to ${id}_shown`,
  });
}

function withoutEnd(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}

/** The parts of relations read by blocks that are shown or set variables. Other blocks are read through these. */
export async function readPartsOf(
  query: Query,
  registry: Registry,
  report: ReportDef,
  values: Readonly<Record<string, unknown>>,
): Promise<readonly ReadPart[]> {
  const shown = new Set(report.parts.flatMap((part) => (part.kind === 'prose' ? [] : [part.of])));
  const trees = new Map<string, SqlNode>();
  const scans: Scan[] = [];
  for (const { id, sql, isVariables } of report.blocks) {
    const tree = await treeOf(query, sql);
    if (tree === undefined) continue;
    if (shown.has(id) || isVariables)
      scans.push(...(await scansWithViews(query, registry, tree, (name) => trees.get(name))));
    trees.set(id, tree);
  }
  return partsOf(query, scans, values);
}
