import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { YamlPath as Path } from '../core/yaml.ts';
import { requireFormatOf } from '../files/output-format.ts';
import { isObjectUrl, parseLocation } from '../objects/s3-location.ts';
import { bindParams } from '../reports/bind-params.ts';
import { openReport } from '../reports/find-report.ts';
import { REPORT_FORMATS } from '../reports/report-format.ts';
import { withoutEnd } from '../sql/statements.ts';
import { parseTarget, uselessOption, WHOLE_FORMATS } from '../targets/target.ts';
import {
  type DatabaseTarget,
  fillIn,
  type Job,
  type OutputTarget,
  type RowsSource,
  SAMPLE,
  unknownPlaceholders,
} from './job.ts';
import type { ExportTarget, ReportTarget } from './job-schema.ts';
import { outputPath } from './output-files.ts';
import type { ParsedJob } from './parse-job.ts';

/**
 * The files that a job publishes, reports first, and the databases that it writes.
 *
 * @param tables tables and marts that can be exported
 * @throws {UsageError} with line and column
 */
export async function checkTargets(
  parsed: ParsedJob,
  tables: readonly string[],
): Promise<Pick<Job, 'outputs' | 'databases'>> {
  const { reports, exports } = parsed.fields;
  const written: { readonly path: Path; readonly output: OutputTarget }[] = [];
  const databases: DatabaseTarget[] = [];
  for (const [at, target] of reports.entries()) {
    written.push({ path: ['reports', at], output: await reportTarget(parsed, target, at) });
  }
  for (const [at, target] of exports.entries()) {
    const path = ['exports', at];
    parsed.yaml.requireOne(path, ['output', 'to']);
    const { output, to } = target;
    if (output === undefined) {
      databases.push(await databaseTarget(parsed, { ...target, to: to ?? '' }, path, tables));
      continue;
    }
    written.push({ path, output: await fileTarget(parsed, { ...target, output }, path, tables) });
  }
  requireDistinct(parsed, written);
  return { outputs: written.map(({ output }) => output), databases };
}

async function reportTarget(parsed: ParsedJob, target: ReportTarget, at: number): Promise<OutputTarget> {
  const path = ['reports', at];
  const { yaml } = parsed;
  const { report, params, output } = target;
  const def = await openReport(report).catch((error: unknown) => yaml.fail([...path, 'report'], error));
  const format = outputFormat(parsed, path, target, REPORT_FORMATS);
  const filled: Record<string, string> = {};
  for (const [key, text] of Object.entries(params)) {
    requirePlaceholders(parsed, [...path, 'params', key], text);
    filled[key] = fillIn(text, SAMPLE);
  }
  yaml.placed([...path, 'params'], () => bindParams(def, filled));
  return { kind: 'report', report, params, format, output };
}

async function fileTarget(
  parsed: ParsedJob,
  target: ExportTarget & { readonly output: string },
  path: Path,
  tables: readonly string[],
): Promise<OutputTarget> {
  const { output } = target;
  const format = outputFormat(parsed, path, target, WHOLE_FORMATS);
  const uselessAs = (as: string | undefined) => uselessOption({ kind: 'file', format, path: output }, { as });
  const useless = uselessAs(target.as);
  if (useless !== undefined) throw parsed.yaml.wrongValue([...path, 'as'], `${useless.needed} with as`, 'leave it out');
  const source = await sourceOf(parsed, target, path, tables);
  const as = target.as ?? ('table' in source ? source.table : undefined);
  return { kind: 'rows', source, format, output, as: uselessAs(as) === undefined ? as : undefined };
}

async function databaseTarget(
  parsed: ParsedJob,
  target: ExportTarget & { readonly to: string },
  path: Path,
  tables: readonly string[],
): Promise<DatabaseTarget> {
  const { to, format } = target;
  const refuse = (key: string, expected: string, hint: string) =>
    parsed.yaml.wrongValue([...path, key], expected, hint);
  if (format !== undefined) throw refuse('format', 'no format of rows in a database', 'leave it out');
  requirePlaceholders(parsed, [...path, 'to'], to);
  const where = parsed.yaml.placed([...path, 'to'], () => parseTarget(fillIn(to, SAMPLE)));
  if (where.kind === 'file' && where.format !== 'sqlite')
    throw refuse(
      'to',
      'a database: postgres://user@host/database, https://user@host:8443/database, or a path that ends in .sqlite or .db',
      'files are outputs',
    );
  const source = await sourceOf(parsed, target, path, tables);
  const as = target.as ?? ('table' in source ? source.table : undefined);
  if (as === undefined) throw refuse('to', 'a name for the rows of a query', 'as: name of the table in the database');
  return { source, to, as };
}

/** The table or select of an export. */
async function sourceOf(
  parsed: ParsedJob,
  target: ExportTarget,
  path: Path,
  tables: readonly string[],
): Promise<RowsSource> {
  parsed.yaml.requireOne(path, ['table', 'query', 'file']);
  if (target.table !== undefined) {
    parsed.yaml.requireName([...path, 'table'], 'a table or mart', tables);
    return { table: target.table };
  }
  const { query, file = '' } = target;
  const sql = query ?? (await readQuery(parsed, path, file));
  const lines = query === undefined ? { file, line: 1, isFolded: false } : parsed.yaml.linesAt([...path, 'query']);
  return { sql: withoutEnd(sql), lines };
}

async function readQuery({ yaml }: ParsedJob, path: Path, file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw yaml.wrongValue([...path, 'file'], 'a file with a query', 'paths are relative to the working folder');
  });
}

function outputFormat<Format extends string>(
  parsed: ParsedJob,
  path: Path,
  { output, format }: { readonly output: string; readonly format?: Format | undefined },
  formats: readonly Format[],
): Format {
  const refuse = (expected: string, hint: string) => parsed.yaml.wrongValue([...path, 'output'], expected, hint);
  requirePlaceholders(parsed, [...path, 'output'], output);
  if (!isObjectUrl(output)) return requireFormatOf({ output, format, formats, refuse });
  try {
    parseLocation(fillIn(output, SAMPLE));
  } catch (error) {
    if (error instanceof UsageError) throw refuse('s3://bucket/path of a file', error.hint ?? '');
    throw error;
  }
  return requireFormatOf({ output: basename(output), format, formats, refuse });
}

function requirePlaceholders({ yaml }: ParsedJob, path: Path, text: string): void {
  const [unknown] = unknownPlaceholders(text);
  if (unknown !== undefined)
    throw yaml.wrongValue(path, '{date}, {first_date} or {job} in braces', 'there are no other placeholders');
}

function requireDistinct(
  parsed: ParsedJob,
  written: readonly { readonly path: Path; readonly output: OutputTarget }[],
): void {
  const paths = written.map(({ output }) => outputPath(output.output));
  written.forEach(({ path, output: { output } }, at) => {
    if (paths.indexOf(outputPath(output)) !== at) {
      throw parsed.yaml.wrongValue(
        [...path, 'output'],
        'a different path for every output',
        'two outputs cannot share a file',
      );
    }
  });
}
