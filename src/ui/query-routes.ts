import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Hono } from 'hono';
import * as z from 'zod';
import { usage } from '../core/errors.ts';
import { failedWith } from '../core/failed-with.ts';
import { listFolder, makeFolder, writeSynced } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { requireQueries } from '../sql/confined-sql.ts';
import { guardedSource } from '../sql/formula-guard.ts';
import { RELATION_FORMATS, writeRelation } from '../sql/relation-writer.ts';
import { RESULT_TABLE } from '../sql/result-table.ts';
import { shippedFolder } from '../sql/shipped-queries.ts';
import { CellNotes } from '../targets/cell-notes.ts';
import { classOf } from '../targets/column-class.ts';
import type { ExportedRows } from '../targets/exported-rows.ts';
import type { FinishedQuery, QueryRuns } from './query-runs.ts';
import type { SharedReader } from './shared-reader.ts';
import { cellsOf, columnIn, resultColumns, sortSchema } from './table-routes.ts';
import type { UiEnvironment, UiOptions } from './ui-options.ts';
import type { RunResult, SavedQuery } from './ui-types.ts';
import { valid } from './valid-request.ts';

const MAX_SQL = 200_000;
/** Rows of one response. */
const MAX_PAGE = 1_000;
/** Points of a chart. */
const MAX_POINTS = 5_000;

const runSchema = z.strictObject({
  sql: z.string().min(1).max(MAX_SQL),
  params: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
  dialect: z.enum(['duckdb', 'trino']).default('duckdb'),
});
const savedSchema = z.strictObject({
  name: z.string().regex(/^[\w-]{1,80}$/, 'letters, digits, _ and -'),
  sql: z.string().trim().min(1).max(MAX_SQL),
});
const rowsSchema = z.strictObject({
  from: z.coerce.number().int().min(0).default(0),
  count: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
  ...sortSchema,
});
const pointsSchema = z.strictObject({ columns: z.string().min(1) });
const DOWNLOADS = [...RELATION_FORMATS, 'xlsx'] as const;
type DownloadFormat = (typeof DOWNLOADS)[number];
const downloadSchema = z.strictObject({ format: z.enum(DOWNLOADS) });
const TYPES: Readonly<Partial<Record<DownloadFormat, string>>> = {
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** Runs queries, and serves their rows. */
export function addQueryRoutes(
  app: Hono<UiEnvironment>,
  shared: SharedReader,
  runs: QueryRuns,
  options: UiOptions,
): void {
  // A query is cancelled when its request is aborted.
  app.post('/api/runs', valid('json', runSchema), async (c) => {
    const { sql, ...how } = c.req.valid('json');
    const result = await runs.run(sql, how, c.req.raw.signal);
    const finished: RunResult = { ...result, columns: await resultColumns(shared, result.columns) };
    return c.json(finished);
  });
  app.get('/api/results/:id/rows', valid('query', rowsSchema), async (c) => {
    const { result, source } = runs.result(c.req.param('id'));
    const { from, count, sort, order } = c.req.valid('query');
    const to = Math.min(from + count, result.count);
    const sql =
      sort === undefined
        ? `SELECT * FROM ${RESULT_TABLE} WHERE rowid >= ${from} AND rowid < ${to}`
        : `SELECT * FROM ${RESULT_TABLE} WHERE rowid < ${result.count} ORDER BY ${columnIn(result.columns, sort)} ${order} NULLS LAST, rowid LIMIT ${to - from} OFFSET ${from}`;
    const { rows } = await source.query(sql);
    return c.json({ from, rows: rows.map(cellsOf) });
  });
  app.get('/api/results/:id/points', valid('query', pointsSchema), async (c) => {
    const { result, source } = runs.result(c.req.param('id'));
    const names = c.req
      .valid('query')
      .columns.split('\n')
      .map((name) => columnIn(result.columns, name));
    const { rows } = await source.query(
      `SELECT ${names.join(', ')} FROM ${RESULT_TABLE} WHERE rowid < ${Math.min(MAX_POINTS, result.count)}`,
    );
    return c.json({ from: 0, rows: rows.map(cellsOf) });
  });
  app.get('/api/results/:id/download', valid('query', downloadSchema), async (c) => {
    const { format } = c.req.valid('query');
    const body = await download(runs, c.req.param('id'), format);
    c.header('Content-Type', TYPES[format] ?? `text/${format}; charset=utf-8`);
    c.header('Content-Disposition', `attachment; filename="result.${format}"`);
    return c.body(body);
  });
  app.get('/api/saved', async (c) => c.json(await readSavedQueries(options.queriesFolder)));
  app.post('/api/saved', valid('json', savedSchema), async (c) => {
    await saveQuery(options, c.req.valid('json'));
    return c.json(c.req.valid('json'));
  });
  app.get('/api/questions', async (c) => c.json(await readSavedQueries(shippedFolder('questions'))));
}

/** Adds a query to the folder. @throws {UsageError}; {StoreError} for SQL that does more than read */
async function saveQuery({ queriesFolder, savesQueries }: UiOptions, { name, sql }: SavedQuery): Promise<void> {
  if (!savesQueries) {
    const hint = 'start tonlake ui with --queries <folder>, or set queries in tonlake.yaml';
    throw usage('a folder that the page may write', 'none', hint);
  }
  requireQueries(sql);
  const file = join(queriesFolder, `${name}.sql`);
  await guarded(`file ${file}`, async () => {
    await makeFolder(queriesFolder);
    await writeSynced(file, `${sql}\n`).catch((error: unknown) => {
      if (!failedWith(error, 'EEXIST')) throw error;
      throw usage('a name that no query has', name, 'choose another name');
    });
  });
}

async function download(runs: QueryRuns, id: string, format: DownloadFormat): Promise<ReadableStream> {
  const finished = runs.result(id);
  const { result, source } = finished;
  const file = runs.scratchFile(format);
  const sql = `SELECT * FROM ${RESULT_TABLE} LIMIT ${result.count}`;
  if (format === 'xlsx') await writeWorkbook(finished, sql, file);
  // People open the CSV of a page in a spreadsheet.
  else await writeRelation(format === 'csv' ? guardedSource(source) : source, { sql }, { file, format });
  const stream = createReadStream(file);
  stream.once('close', () => void rm(file, { force: true }));
  return Readable.toWeb(stream) as ReadableStream;
}

/** What a spreadsheet cannot hold becomes text: docs/export.md says what. */
async function writeWorkbook({ result, source }: FinishedQuery, sql: string, file: string): Promise<void> {
  const { writeXlsx } = await import('../targets/xlsx-file.ts');
  const columns = result.columns.map(({ name, type }) => ({
    name,
    type,
    classed: classOf(type),
    doc: undefined,
    isNullable: true,
  }));
  const read: ExportedRows['read'] = (_day, use, expressions = []) =>
    source.stream(`SELECT ${expressions.join(', ')} FROM (${sql})`, undefined, use);
  await writeXlsx({ columns, read }, file, { name: 'result', notes: new CellNotes() });
}

/** The queries of a folder, `NAME.sql`, by name; none if there is no folder. */
async function readSavedQueries(folder: string): Promise<readonly SavedQuery[]> {
  const names = (await listFolder(folder)).filter((name) => /^[\w-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({
      name: name.slice(0, -'.sql'.length),
      sql: await readFile(join(folder, name), 'utf8'),
    })),
  );
}
