import { createHash } from 'node:crypto';
import * as z from 'zod';
import { didYouMean } from '../core/did-you-mean.ts';
import { UsageError } from '../core/errors.ts';
import { formatSpans, intersectSpans, type Span, shortSpans } from '../core/span.ts';
import { isWithin, WHOLE } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { LookupWalk, ParentsDef } from '../declare/walk.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { relationsOf } from '../warehouse/query/coverage-gaps.ts';
import { lacks, leftOutGaps, readsOf } from '../warehouse/query/left-out-gaps.ts';
import type { SpanSink, WalkContext } from './walk-context.ts';

/** One key that is looked up. */
export interface Key {
  /** Tells it from all others; a long one is shortened to its hash. */
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Longest key that is kept as it is. */
const LONG_KEY = 300;

/** The keys that a query finds and that were not read since they changed. */
export async function findKeys(
  { sink, pipeline }: WalkContext,
  walk: LookupWalk,
  query: string,
  span: Span,
): Promise<readonly Key[]> {
  const parameters = { ...boundOf(query, span), pipeline: pipeline.name };
  const { columns } = await sink.query(`SELECT * FROM (${bare(query)}) LIMIT 0`, boundOf(query, span));
  const isDated = columns.some(({ name }) => name === 'seqno');
  const names = [...walk.keys, ...walk.carried];
  const allowed = await sufficientReadings(sink, pipeline);
  const found = await sink.query(
    `SELECT ${names.map((name) => `wanted.${quoteName(name)}::VARCHAR`).join(', ')}
     FROM (${bare(query)}) AS wanted
     LEFT JOIN (SELECT "key", max(_as_of_seqno) AS as_of FROM lookups
       WHERE pipeline = $pipeline AND (left_out IS NULL OR left_out IN (${allowed})) GROUP BY ALL) AS held
       ON held."key" = ${keySql(walk)}
     WHERE held.as_of IS NULL${isDated ? ' OR held.as_of < wanted.seqno' : ''}`,
    parameters,
  );
  const keys = new Map<string, Key>();
  for (const row of found.rows) {
    const values = Object.fromEntries(
      names.flatMap((name, at) => (row[at] === null ? [] : [[name, String(row[at])] as const])),
    );
    if (walk.keys.some((name) => values[name] === undefined || values[name] === '')) continue;
    const text = keyText(walk.keys.map((name) => values[name] ?? ''));
    keys.set(text, { text, values });
  }
  return [...keys.values()];
}

/** How many of the keys that a query finds were read or refused, counted by the last time; with the reason of one refusal. */
export async function countRefused(
  { sink, pipeline }: WalkContext,
  walk: LookupWalk,
  query: string,
  span: Span,
): Promise<{ readonly keys: number; readonly refused: number; readonly message: string | undefined }> {
  const { rows } = await sink.query(
    `SELECT count(*), count(error), first(error ORDER BY "key") FILTER (error IS NOT NULL)
     FROM (SELECT DISTINCT ${keySql(walk)} AS "key" FROM (${bare(query)}) AS wanted)
     JOIN (SELECT "key", error FROM lookups WHERE pipeline = $pipeline
       QUALIFY row_number() OVER (PARTITION BY "key" ORDER BY _read_at DESC) = 1) USING ("key")`,
    { ...boundOf(query, span), pipeline: pipeline.name },
  );
  const [keys, refused, message] = rows[0] ?? [];
  return { keys: Number(keys), refused: Number(refused), message: message === null ? undefined : String(message) };
}

/** SQL list of what earlier readings left out and this one leaves out, too: their keys need no other reading. */
async function sufficientReadings({ query }: Pick<SpanSink, 'query'>, { name, leftOut }: PipelineDef): Promise<string> {
  const { rows } = await query(
    'SELECT DISTINCT left_out FROM lookups WHERE pipeline = $pipeline AND left_out IS NOT NULL ORDER BY ALL',
    { pipeline: name },
  );
  const held = rows
    .map(([text]) => String(text))
    .filter((text) => isWithin(leftOutSchema.parse(JSON.parse(text)), leftOut));
  return held.length === 0 ? 'NULL' : held.map(quoteText).join(', ');
}

const leftOutSchema = z.record(z.string(), z.array(z.string()));

/** SQL for what `keyText` gives. */
function keySql({ keys }: LookupWalk): string {
  const text = `concat_ws(' ', ${keys.map((name) => `wanted.${quoteName(name)}::VARCHAR`).join(', ')})`;
  return `CASE WHEN length(${text}) <= ${LONG_KEY} THEN ${text} ELSE sha256(${text}) END`;
}

function bare(query: string): string {
  return query.replace(/;\s*$/, '');
}

/** The ends of the range, as far as a query names them. */
export function boundOf(query: string, { from, to }: Span): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries({ from, to }).filter(([name]) => query.includes(`$${name}`)));
}

function keyText(values: readonly string[]): string {
  const text = values.join(' ');
  return text.length <= LONG_KEY ? text : createHash('sha256').update(text).digest('hex');
}

function requireColumns(pipeline: string, { keys, carried }: LookupWalk, names: readonly string[]): void {
  const known = [...keys, ...carried, 'seqno'];
  const missing = [...keys, ...carried].filter((name) => !names.includes(name));
  const foreign = names.filter((name) => !known.includes(name));
  if (missing.length === 0 && foreign.length === 0) return;
  const [wrong] = foreign;
  const hint = wrong === undefined ? '' : didYouMean(wrong, known);
  throw new UsageError(
    `usage ${pipeline}: expected a query with the columns ${known.slice(0, -1).join(', ')}, got ${names.join(', ')}`,
    { code: 'wrong-keys', hint: `${hint}a further column seqno tells when a key changed last` },
  );
}

/**
 * Refuses keys that cannot be before anything is asked: for a pipeline that takes none, over tables that hold nothing and that no
 * pipeline of the run brings, of other columns, or none at all.
 *
 * @param coming pipelines that the run brings in before
 * @throws {UsageError}
 */
export async function requireGivenKeys(run: Sources, query: string, coming: readonly string[]): Promise<void> {
  const { pipeline, sink, asked } = run;
  const { walk } = pipeline;
  const isListed = walk.kind === 'snapshot' && walk.parents !== undefined;
  if (walk.kind !== 'lookup' && !isListed) {
    const lookups = run.registry.pipelines.filter(takesKeys).map(({ name }) => name);
    throw new UsageError(`usage ${pipeline.name}: expected a lookup for --from, got ${pipeline.name}`, {
      code: 'no-lookup',
      hint: `${didYouMean(pipeline.name, lookups)}There are: ${lookups.join(', ')}`,
    });
  }
  if (walk.kind === 'lookup') await requireKeys(run, walk, query, coming);
  else await requireParents(run, walk.parents, query, coming);
  if (await readsComing(run, query, coming)) return;
  const range = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
  const { rows } = await sink.query(`SELECT 1 FROM (${bare(query)}) LIMIT 1`, boundOf(query, range));
  if (rows.length > 0) return;
  throw new UsageError(`usage ${pipeline.name}: expected a query that finds keys, got none`, {
    code: 'no-keys',
    hint: 'tonlake sql shows what a query finds',
  });
}

function takesKeys({ walk }: PipelineDef): boolean {
  return walk.kind === 'lookup' || (walk.kind === 'snapshot' && walk.parents !== undefined);
}

/** Refuses a query that does not give parents of lists in one column, named like the parameter. @throws {UsageError} */
async function requireParents(
  run: Sources,
  parents: ParentsDef | undefined,
  query: string,
  coming: readonly string[],
): Promise<void> {
  await requireSources(run, query, coming);
  const names = await columnsOf(run, query);
  const choices = parents === undefined ? [] : [parents.parameter, ...(parents.others ?? [])];
  const [name = ''] = names;
  if (names.length === 1 && choices.includes(name)) return;
  throw new UsageError(
    `usage ${run.pipeline.name}: expected a query with one column, ${choices.join(' or ')}, got ${names.join(', ')}`,
    { code: 'wrong-keys', hint: `${didYouMean(name, choices)}There are: ${choices.join(', ')}` },
  );
}

async function readsComing(
  { sink, registry }: Pick<Sources, 'sink' | 'registry'>,
  query: string,
  coming: readonly string[],
): Promise<boolean> {
  const relations = await relationsOf(sink.query, query, []);
  return relations.some((name) => coming.includes(sourceOf(registry, name)?.name ?? ''));
}

function sourceOf(registry: Registry, relation: string): PipelineDef | undefined {
  const held = registry.tableOf(relation)?.name;
  return registry.pipelines.find(({ tables }) => tables.some((table) => table.name === held));
}

/** Refuses a query over tables that hold nothing yet, or of other columns. @throws {UsageError} */
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
  const { columns } = await sink.query(`SELECT * FROM (${bare(query)}) LIMIT 0`, boundOf(query, { from: 0, to: 0 }));
  return columns.map(({ name }) => name);
}

async function requireSources(run: Sources, query: string, coming: readonly string[]): Promise<void> {
  const { sink, registry, pipeline } = run;
  const relations = await relationsOf(sink.query, query, []);
  const ledger = sink.ledger();
  for (const name of relations) {
    const source = sourceOf(registry, name);
    if (source === undefined || coming.includes(source.name)) continue;
    if (ledger.some((entry) => entry.pipeline === source.name)) continue;
    throw new UsageError(`usage ${pipeline.name}: expected table ${name} to be exported before, got nothing of it`, {
      code: 'no-source',
      hint: `tonlake run ${source.name} with the same range`,
    });
  }
  await requireColumnsOfSources(run, query);
}

/** Refuses a selection that leaves out what the keys, or parents, of another pipeline of the run are taken from. @throws {UsageError} */
export async function requireKeyColumns(run: Omit<Sources, 'pipeline'>): Promise<void> {
  for (const pipeline of run.pipelines) {
    const query = queryOf(pipeline);
    if (query === undefined) continue;
    for (const [table, columns] of await readsOf(run.sink.query, run.registry, query)) {
      const source = run.pipelines.find(({ leftOut }) => leftOut?.[table] !== undefined);
      const lost = lacks(source?.leftOut, table, columns);
      if (source === undefined || lost.length === 0) continue;
      const what = lost.includes(WHOLE) ? table : lost.map((column) => `${table}.${column}`).join(', ');
      throw new UsageError(`usage ${pipeline.name}: expected ${what} to be exported, got it left out`, {
        code: 'left-out',
        hint: `the keys of ${pipeline.name} are taken from it`,
      });
    }
  }
}

/** The declared select of keys or parents. */
function queryOf({ walk }: PipelineDef): string | undefined {
  if (walk.kind === 'lookup') return walk.query;
  return walk.kind === 'snapshot' ? walk.parents?.query : undefined;
}

/** Refuses keys, or parents, that a selection left out of the range: null would be taken for none. @throws {UsageError} */
export async function requireColumnsOfSources(
  { sink, registry, pipeline, pipelines, asked }: Sources,
  query: string,
): Promise<void> {
  const reads = await readsOf(sink.query, registry, query);
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
  throw new UsageError(
    `usage ${pipeline.name}: expected ${what} in ${shortSpans(missing)}, where its keys come from, got rows without it`,
    {
      code: 'left-out',
      hint: `${isOwn ? 'select it, or ' : ''}tonlake run ${gap.pipeline} --range ${formatSpans(missing)} adds it`,
    },
  );
}

/** Where keys are looked for. */
type Sources = Pick<WalkContext, 'registry' | 'pipeline' | 'pipelines' | 'asked'> & {
  readonly sink: Pick<SpanSink, 'query' | 'ledger'>;
};
