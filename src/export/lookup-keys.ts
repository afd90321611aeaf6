import * as z from 'zod';
import { canonicalText } from '../core/address.ts';
import { choicesFor, didYouMean } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { formatSpans, hullOf, intersectSpans, type Span, shortSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { isWithin, WHOLE } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { LookupWalk, ParentsDef } from '../declare/walk.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { type Parameters, usedParameters } from '../sql/parameters.ts';
import { withoutEnd } from '../sql/statements.ts';
import { lacks, leftOutGaps } from '../warehouse/query/coverage.ts';
import { readsOf } from '../warehouse/query/left-out-gaps.ts';
import type { SpanSink, WalkContext } from './walk-context.ts';

/** A key to look up. */
export interface Key {
  /** Unique text; a long one is replaced by its hash. */
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
}

/** A query with its range filled in, ready to be typed. */
function withRange(query: string, { from, to }: Span): string {
  return query.replace(/\$from\b/g, String(from)).replace(/\$to\b/g, String(to));
}

/** Range for planning a query without running it. */
const NO_RANGE = { from: 0, to: 0 };

/** Maximum length of a key that is not hashed. */
const LONG_KEY = 300;

/** The keys of a query that were not read since their last change. */
export async function findKeys(
  { sink, pipeline }: WalkContext,
  walk: LookupWalk,
  query: string,
  span: Span,
): Promise<readonly Key[]> {
  const parameters = { ...boundOf(query, span), pipeline: pipeline.name };
  const { columns } = await sink.query(`SELECT * FROM (${withoutEnd(query)}) LIMIT 0`, boundOf(query, span));
  const isDated = columns.some(({ name }) => name === 'seqno');
  const names = [
    ...walk.keys,
    ...walk.carried,
    ...columns.map(({ name }) => name).filter((name) => name === walk.match),
  ];
  const allowed = await sufficientReadings(sink, pipeline);
  const found = await sink.query(
    `SELECT ${keySql(walk)}, ${names.map((name) => `wanted.${quoteName(name)}::VARCHAR`).join(', ')}
     FROM (${withoutEnd(query)}) AS wanted
     LEFT JOIN (SELECT "key", max(_as_of_seqno) AS as_of FROM lookups
       WHERE pipeline = $pipeline AND (left_out IS NULL OR left_out IN (${allowed})) GROUP BY ALL) AS known
       ON known."key" = ${keySql(walk)}
     WHERE known.as_of IS NULL${isDated ? ' OR known.as_of < wanted.seqno' : ''}
     ORDER BY ALL`,
    parameters,
  );
  const keys = new Map<string, Key>();
  for (const [text, ...row] of found.rows) {
    const values = Object.fromEntries(
      names.flatMap((name, at) => (row[at] === null ? [] : [[name, String(row[at])] as const])),
    );
    if (walk.keys.some((name) => values[name] === undefined || values[name] === '')) continue;
    // Rows have the raw form of an address, whatever the user wrote.
    const listed = walk.keys.at(-1) ?? '';
    if (walk.columns.length > 0) values[listed] = canonicalText(values[listed] ?? '');
    keys.set(String(text), { text: String(text), values });
  }
  return [...keys.values()];
}

/** Counts the keys of a query that were read, and those that the source refused the last time, with the first reason. */
export async function countRefused(
  { sink, pipeline }: WalkContext,
  walk: LookupWalk,
  query: string,
  span: Span,
): Promise<{ readonly keys: number; readonly refused: number; readonly message: string | undefined }> {
  const { rows } = await sink.query(
    `SELECT count(*), count(error), first(error ORDER BY "key") FILTER (error IS NOT NULL)
     FROM (SELECT DISTINCT ${keySql(walk)} AS "key" FROM (${withoutEnd(query)}) AS wanted)
     JOIN (SELECT "key", error FROM lookups WHERE pipeline = $pipeline
       QUALIFY row_number() OVER (PARTITION BY "key" ORDER BY _read_at DESC) = 1) USING ("key")`,
    { ...boundOf(query, span), pipeline: pipeline.name },
  );
  const [keys, refused, message] = rows[0] ?? [];
  return { keys: Number(keys), refused: Number(refused), message: message === null ? undefined : String(message) };
}

/** SQL list of the column selections of earlier readings that include this one: their keys need not be read again. */
async function sufficientReadings({ query }: Pick<SpanSink, 'query'>, { name, leftOut }: PipelineDef): Promise<string> {
  const { rows } = await query(
    'SELECT DISTINCT left_out FROM lookups WHERE pipeline = $pipeline AND left_out IS NOT NULL ORDER BY ALL',
    { pipeline: name },
  );
  const sufficient = rows
    .map(([text]) => String(text))
    .filter((text) => isWithin(leftOutSchema.parse(JSON.parse(text)), leftOut));
  return sufficient.length === 0 ? 'NULL' : sufficient.map(quoteText).join(', ');
}

const leftOutSchema = z.record(z.string(), z.array(z.string()));

/** SQL for the text of a key. */
function keySql({ keys }: LookupWalk): string {
  const text = `concat_ws(' ', ${keys.map((name) => `wanted.${quoteName(name)}::VARCHAR`).join(', ')})`;
  return `CASE WHEN length(${text}) <= ${LONG_KEY} THEN ${text} ELSE sha256(${text}) END`;
}

/** The ends of a range as parameters, if a query uses them. */
export function boundOf(query: string, { from, to }: Span): Parameters {
  return usedParameters(query, { from, to });
}

function requireColumns(pipeline: string, { keys, carried, match }: LookupWalk, names: readonly string[]): void {
  const known = [...keys, ...carried, ...(match === undefined ? [] : [match]), 'seqno'];
  const missing = [...keys, ...carried].filter((name) => !names.includes(name));
  const foreign = names.filter((name) => !known.includes(name));
  if (missing.length === 0 && foreign.length === 0) return;
  const [wrong] = foreign;
  const hint = wrong === undefined ? '' : didYouMean(wrong, known);
  throw usage(
    `a query with the columns ${[...keys, ...carried].join(', ')}`,
    names.join(', '),
    `${hint}an optional column seqno has the block of the last change of a key`,
    { of: pipeline },
  );
}

/**
 * Checks the query of `from` before the first request.
 *
 * @param coming pipelines that the run exports first
 * @throws {UsageError} if the pipeline takes no keys, the tables of the query are empty, or it has other columns or no rows
 */
export async function requireGivenKeys(run: Sources, query: string, coming: readonly string[]): Promise<void> {
  const { pipeline, sink, asked } = run;
  const { walk } = pipeline;
  if (queryOf(pipeline) === undefined) {
    const lookups = run.registry.pipelines.filter((each) => queryOf(each) !== undefined).map(({ name }) => name);
    throw usage('a lookup for --from', pipeline.name, choicesFor(pipeline.name, lookups), { of: pipeline.name });
  }
  if (walk.kind === 'lookup') await requireKeys(run, walk, query, coming);
  else if (walk.kind === 'snapshot') await requireParents(run, walk.parents, query, coming);
  if (await readsComing(run, query, coming)) return;
  const range = hullOf(asked) ?? { from: 0, to: 0 };
  const { rows } = await sink.query(`SELECT 1 FROM (${withoutEnd(query)}) LIMIT 1`, boundOf(query, range));
  if (rows.length > 0) return;
  throw usage(
    'a query that finds keys',
    'none',
    `${suggest('sql', shellWord(withRange(withoutEnd(query), range)))} shows what it finds`,
    { of: pipeline.name },
  );
}

/** @throws {UsageError} unless a query gives parents of lists in one column, named like the parameter */
async function requireParents(
  run: Sources,
  parents: ParentsDef | undefined,
  query: string,
  coming: readonly string[],
): Promise<void> {
  await requireSources(run, query, coming);
  const names = await columnsOf(run, query);
  const choices = parents === undefined ? [] : [parents.parameter, ...Object.keys(parents.others ?? {})];
  const [name = ''] = names;
  if (names.length === 1 && choices.includes(name)) return;
  throw usage(`a query with one column, ${choices.join(' or ')}`, names.join(', '), choicesFor(name, choices), {
    of: run.pipeline.name,
  });
}

async function readsComing(
  { registry }: Pick<Sources, 'registry'>,
  query: string,
  coming: readonly string[],
): Promise<boolean> {
  const reads = await readsOf(registry, query, NO_RANGE);
  return [...reads.keys()].some((name) => coming.includes(sourceOf(registry, name)?.name ?? ''));
}

function sourceOf(registry: Registry, relation: string): PipelineDef | undefined {
  return registry.writerOf(registry.tableOf(relation)?.name);
}

/** @throws {UsageError} if the tables of a query are empty, or it has other columns */
export async function requireKeys(
  run: Sources,
  walk: LookupWalk,
  query: string,
  coming: readonly string[] = [],
): Promise<void> {
  await requireSources(run, query, coming);
  requireColumns(run.pipeline.name, walk, await columnsOf(run, query));
}

async function columnsOf({ sink }: Pick<Sources, 'sink'>, query: string): Promise<readonly string[]> {
  const { columns } = await sink.query(
    `SELECT * FROM (${withoutEnd(query)}) LIMIT 0`,
    boundOf(query, { from: 0, to: 0 }),
  );
  return columns.map(({ name }) => name);
}

async function requireSources(run: Sources, query: string, coming: readonly string[]): Promise<void> {
  const { sink, registry, pipeline } = run;
  const reads = await readsOf(registry, query, NO_RANGE);
  const ledger = sink.ledger();
  for (const name of reads.keys()) {
    const source = sourceOf(registry, name);
    if (source === undefined || coming.includes(source.name)) continue;
    if (ledger.some((entry) => entry.pipeline === source.name)) continue;
    throw usage(`rows in table ${name}`, 'none', suggest('run', source.name, { range: formatSpans(run.asked) }), {
      of: pipeline.name,
    });
  }
  await requireColumnsOfSources(run, query);
}

/** @throws {UsageError} if the selection leaves out columns with the keys, or parents, of another pipeline of the run */
export async function requireKeyColumns(run: Omit<Sources, 'pipeline'>): Promise<void> {
  for (const pipeline of run.pipelines) {
    const query = queryOf(pipeline);
    if (query === undefined) continue;
    for (const [table, columns] of await readsOf(run.registry, query, NO_RANGE)) {
      const source = run.pipelines.find(({ leftOut }) => leftOut?.[table] !== undefined);
      const lost = lacks(source?.leftOut, table, columns);
      if (source === undefined || lost.length === 0) continue;
      const what = lost.includes(WHOLE) ? table : lost.map((column) => `${table}.${column}`).join(', ');
      throw usage(`${what} in the selection`, 'it left out', `${pipeline.name} takes its keys from there`, {
        of: pipeline.name,
      });
    }
  }
}

/** The declared query of keys or parents; undefined for pipelines without. */
export function queryOf({ walk }: PipelineDef): string | undefined {
  if (walk.kind === 'lookup') return walk.query;
  return walk.kind === 'snapshot' ? walk.parents?.query : undefined;
}

/** @throws {UsageError} if rows of the range lack columns with keys, or parents: they would look like rows without keys */
export async function requireColumnsOfSources(
  { sink, registry, pipeline, pipelines, asked }: Sources,
  query: string,
): Promise<void> {
  const reads = await readsOf(registry, query, NO_RANGE);
  const ledger = sink.ledger();
  const isRanged = query.includes('$from') || query.includes('$to');
  const gaps = leftOutGaps(ledger, registry, reads)
    .map((gap) => ({ ...gap, missing: isRanged ? intersectSpans(gap.missing, asked) : gap.missing }))
    .filter(({ missing }) => missing.length > 0);
  const [gap] = gaps;
  if (gap === undefined) return;
  const { table, columns, missing } = gap;
  const what = columns.includes(WHOLE) ? table : columns.map((column) => `${table}.${column}`).join(', ');
  const isOwn = pipelines.some(({ name, leftOut }) => name === gap.pipeline && leftOut !== undefined);
  throw usage(
    `${what} in ${shortSpans(missing)} to take keys from`,
    'rows without it',
    `${isOwn ? 'select it, or ' : ''}${suggest('run', gap.pipeline, { range: formatSpans(missing) })} adds it`,
    { of: pipeline.name },
  );
}

/** Where keys are read from. */
type Sources = Pick<WalkContext, 'registry' | 'pipeline' | 'pipelines' | 'asked'> & {
  readonly sink: Pick<SpanSink, 'query' | 'ledger'>;
};
