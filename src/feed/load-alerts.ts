import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { choicesFor } from '../core/did-you-mean.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { type PlacedYaml, readYaml, type YamlPath } from '../core/yaml.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { yamlFiles } from '../files/yaml-files.ts';
import { noticeTarget } from '../jobs/delivery-target.ts';
import type { PlacedQuery } from '../jobs/job.ts';
import { noticeFields, noticeKeys, oneOfKeys } from '../jobs/job-schema.ts';
import { nameOfFile } from '../jobs/parse-job.ts';
import { queryFault } from '../jobs/query-fault.ts';
import { readReferences } from '../marts/sql-references.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { withoutEnd } from '../sql/statements.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { type Alert, withNewRows } from './alert.ts';
import { columnsIn } from './alert-message.ts';
import { type FollowedTables, followedTables } from './followed-tables.ts';

/** The schema of alert files; docs/alert.schema.json is generated from it. {@link loadAlerts} checks names and the select. */

const textSchema = z.string().min(1);

const noticeSchema = z
  .strictObject(noticeFields('alert'))
  .meta({ description: 'Where alerts are sent.', oneOf: oneOfKeys(...noticeKeys) });

export const alertSchema = z
  .strictObject({
    doc: textSchema.optional().describe('What the alert is for.'),
    select: textSchema.describe(
      'A select over the rows of a commit, which are `new_<table>`; other tables are as in `tonlake sql`.',
    ),
    key: z
      .array(textSchema)
      .min(1)
      .optional()
      .describe(
        'Columns of the select; rows with the same values get one alert. Default: the key of the first table that the select reads.',
      ),
    message: textSchema.describe('The text of the alert, with columns of the select in braces.'),
    escape: z
      .enum(['html', 'none'])
      .optional()
      .describe(
        'How values are written into the message. `html`: &, < and > as entities, and no mentions. Default: html for URLs, none for commands.',
      ),
    notify: z.array(noticeSchema).min(1).describe('Where alerts are sent.'),
  })
  .meta({ title: 'tonlake alert', description: 'An alert: which new rows to report, how, and where.' });

/** The contents of an alert file. */
type AlertFields = Readonly<z.output<typeof alertSchema>>;

/** The project and command of an alert. */
export interface AlertContext {
  readonly registry: Registry;
  /** Exported pipelines, reduced to the exported tables and columns. */
  readonly exported: readonly PipelineDef[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ParsedAlert {
  readonly name: string;
  readonly fields: AlertFields;
  readonly yaml: PlacedYaml;
}

/** Reads and checks the alerts of a folder, or of one file. @throws {UsageError} with line and column */
export async function loadAlerts(path: string, context: AlertContext): Promise<readonly Alert[]> {
  const files = await alertFiles(path);
  const scratch = await EmptyDatabase.open(context.registry);
  try {
    scratch.declareViews(context.registry.tables);
    const alerts: Alert[] = [];
    for (const file of files) {
      const parsed = parseAlert(await readFile(file, 'utf8'), file);
      if (alerts.some(({ name }) => name === parsed.name)) {
        throw bad(`alerts with different names, got two of ${parsed.name} (${file})`, 'rename one of the files');
      }
      alerts.push(await checkAlert(parsed, context, scratch));
    }
    return alerts;
  } finally {
    await scratch.close();
  }
}

function alertFiles(path: string): Promise<readonly string[]> {
  return yamlFiles(path, (why, cause) =>
    usage(`files of alerts, ${why} ${path}`, undefined, 'they end in .yaml: see docs/consumers.md', { cause }),
  );
}

function parseAlert(content: string, file: string): ParsedAlert {
  const origin = { file, line: 1, what: 'alert', docs: 'docs/consumers.md' };
  const name = nameOfFile(origin);
  const { value: fields, yaml } = readYaml(content, origin, alertSchema);
  return { name, fields, yaml };
}

async function checkAlert(parsed: ParsedAlert, context: AlertContext, scratch: EmptyDatabase): Promise<Alert> {
  const { name, fields, yaml } = parsed;
  const select = withoutEnd(fields.select);
  const query = { sql: select, lines: yaml.linesAt(['select']) };
  const followed = await followedIn(parsed, query, context, scratch);
  const columns = await columnsOf(query, followed, scratch);
  for (const column of columnsIn(fields.message)) {
    if (!columns.includes(column)) throw unknownColumn(yaml, ['message'], column, columns);
  }
  for (const [at, column] of (fields.key ?? []).entries()) {
    if (!columns.includes(column)) throw unknownColumn(yaml, ['key', at], column, columns);
  }
  const key = fields.key ?? keyOf(yaml, followed, columns);
  const targets = fields.notify.map((notice, at) => {
    yaml.requireOne(['notify', at], noticeKeys);
    return yaml.placed(['notify', at], () => noticeTarget(notice, context.env));
  });
  return { name, select, message: fields.message, escape: fields.escape, key, followed, targets };
}

/** The tables that a select names as `new_<table>`, reduced to the exported columns. */
async function followedIn(
  parsed: ParsedAlert,
  query: PlacedQuery,
  { registry, exported }: AlertContext,
  scratch: EmptyDatabase,
): Promise<FollowedTables> {
  const named = (await referencesIn(parsed, query, scratch)).filter(({ name }) => /^new_/i.test(name));
  const [first] = named;
  if (first === undefined) {
    throw parsed.yaml.wrongValue(
      ['select'],
      'a select over new rows',
      'read new_<table>, the rows of a commit',
      'none',
    );
  }
  const names = [...new Set(named.map(({ name }) => name.toLowerCase().slice('new_'.length)))];
  const where = lineOf(query, first.line);
  const found = parsed.yaml.placed(['select'], () => followedTables(registry, names), where);
  if (found.length > 1) {
    const got = found.map(({ pipeline }) => pipeline.name).join(' and ');
    throw bad(`new rows of one pipeline, got those of ${got} (${where})`, 'join the table itself, without new_');
  }
  const own = exported.find(({ name }) => name === found[0]?.pipeline.name);
  const tables = names.flatMap((name) => own?.tables.find((table) => table.name === name) ?? []);
  if (own !== undefined && tables.length === names.length) return { pipeline: own, tables };
  const got = names.map((name) => `new_${name}`).join(', ');
  throw bad(
    `new rows of tables that this command exports, got ${got} (${where})`,
    `add ${found[0]?.pipeline.name} to its pipelines, or remove the alert`,
  );
}

async function referencesIn(parsed: ParsedAlert, query: PlacedQuery, scratch: EmptyDatabase) {
  const { sql, lines } = query;
  try {
    return await readReferences(scratch.query, { sql, path: lines.file });
  } catch {
    await scratch.query(`DESCRIBE ${sql}`).catch((error: unknown) => {
      throw badSelect(error, query);
    });
    throw parsed.yaml.wrongValue(['select'], 'one select', 'an alert is one select', 'something else');
  }
}

async function columnsOf(query: PlacedQuery, { tables }: FollowedTables, scratch: EmptyDatabase) {
  const relations = tables.map(({ name, columns }): readonly [string, string] => {
    const list = columns.map((column) => quoteName(column.name)).join(', ');
    return [name, `SELECT ${list} FROM ${quoteName(name)}`];
  });
  const statement = withNewRows(query.sql, Object.fromEntries(relations));
  const { rows } = await scratch.query(`DESCRIBE ${statement}`).catch((error: unknown) => {
    throw badSelect(error, query);
  });
  return rows.map(([column]) => String(column));
}

/** The key of the first table, if the select contains it. */
function keyOf(yaml: PlacedYaml, { tables }: FollowedTables, columns: readonly string[]): readonly string[] {
  const key = tables[0]?.key ?? [];
  if (key.every((column) => columns.includes(column))) return key;
  throw yaml.wrongValue(
    ['select'],
    `a select with ${key.join(', ')}, which identify a row`,
    'select them as well, or name other columns by key',
    columns.join(', '),
  );
}

function lineOf({ lines }: PlacedQuery, line: number): string {
  return `${lines.file}:${lines.line + (lines.isFolded ? 0 : line - 1)}`;
}

function badSelect(error: unknown, query: PlacedQuery): UsageError {
  const { text, place } = queryFault(error, query);
  return bad(`a valid select, got an error: ${text} (${place})`, `${suggest('show')} shows tables and columns`);
}

function unknownColumn(yaml: PlacedYaml, path: YamlPath, got: string, columns: readonly string[]): UsageError {
  return yaml.wrongValue(path, 'a column of the select', choicesFor(got, columns), got);
}

function bad(message: string, hint: string): UsageError {
  return usage(message, undefined, hint);
}
