import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { YamlPath as Path } from '../core/yaml.ts';
import { statIfAny } from '../files/disk.ts';
import { requireFormatOf } from '../files/output-format.ts';
import { REPORT_FORMATS } from '../reports/report-format.ts';
import { RELATION_FORMATS } from '../sql/relation-writer.ts';
import { type OutputTarget, unknownPlaceholders } from './job.ts';
import { wrongName, wrongValue } from './job-fault.ts';
import type { ExportTarget, ReportTarget } from './job-schema.ts';
import type { JobNames } from './known-names.ts';
import type { ParsedJob } from './parse-job.ts';

/** The files that a job publishes, reports first. @throws {UsageError} with line and column */
export async function checkTargets(parsed: ParsedJob, names: JobNames): Promise<readonly OutputTarget[]> {
  const { reports, exports } = parsed.fields;
  const outputs = await Promise.all([
    ...reports.map((target, at) => reportTarget(parsed, target, at, names)),
    ...exports.map((target, at) => exportTarget(parsed, target, at, names)),
  ]);
  requireDistinct(parsed, outputs);
  return outputs;
}

async function reportTarget(
  parsed: ParsedJob,
  target: ReportTarget,
  at: number,
  names: JobNames,
): Promise<OutputTarget> {
  const path = ['reports', at];
  const isPath = target.report.includes('/') || target.report.endsWith('.md');
  if (isPath && (await statIfAny(target.report)) === undefined) {
    throw wrongValue(
      parsed.yaml,
      [...path, 'report'],
      'an existing report',
      'paths are relative to the working folder',
    );
  }
  if (!isPath && !names.reports.includes(target.report)) {
    throw wrongName(parsed.yaml, [...path, 'report'], 'report', names.reports);
  }
  const format = outputFormat(parsed, path, target, REPORT_FORMATS);
  for (const key of Object.keys(target.params))
    requirePlaceholders(parsed, [...path, 'params', key], target.params[key] ?? '');
  return { kind: 'report', report: target.report, params: target.params, format, output: target.output };
}

async function exportTarget(
  parsed: ParsedJob,
  target: ExportTarget,
  at: number,
  names: JobNames,
): Promise<OutputTarget> {
  const path = ['exports', at];
  requireOne(parsed, path, target, ['table', 'query', 'file']);
  const format = outputFormat(parsed, path, target, RELATION_FORMATS);
  const { output } = target;
  if (target.table !== undefined) {
    const known = [...names.tables, ...names.marts];
    if (!known.includes(target.table)) throw wrongName(parsed.yaml, [...path, 'table'], 'table or mart', known);
    return { kind: 'table', table: target.table, format, output };
  }
  const { query, file = '' } = target;
  const sql = query ?? (await readQuery(parsed, path, file));
  const lines = query === undefined ? { file, line: 1, isFolded: false } : parsed.yaml.linesAt([...path, 'query']);
  return { kind: 'query', sql: sql.replace(/[\s;]+$/, ''), lines, format, output };
}

async function readQuery({ yaml }: ParsedJob, path: Path, file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw wrongValue(yaml, [...path, 'file'], 'a file with a query', 'paths are relative to the working folder');
  });
}

/** @throws {UsageError} unless exactly one of some keys is given. */
export function requireOne(
  { yaml }: ParsedJob,
  path: Path,
  target: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): void {
  const given = keys.filter((key) => target[key] !== undefined);
  if (given.length === 1) return;
  const got = given.length === 0 ? 'none' : given.join(' and ');
  throw new UsageError(`usage: expected one of ${keys.join(', ')}, got ${got} (${yaml.placeOf(path)})`, {
    code: 'bad-job',
    hint: `${path.join('.')} is one thing`,
  });
}

function outputFormat<Format extends string>(
  { yaml }: ParsedJob,
  path: Path,
  { output, format }: { readonly output: string; readonly format?: Format | undefined },
  formats: readonly Format[],
): Format {
  const refuse = (expected: string, hint: string) => wrongValue(yaml, [...path, 'output'], expected, hint);
  return requireFormatOf({ output, format, formats, refuse });
}

function requirePlaceholders({ yaml }: ParsedJob, path: Path, text: string): void {
  const [unknown] = unknownPlaceholders(text);
  if (unknown !== undefined)
    throw wrongValue(yaml, path, '{date}, {first_date} or {job} in braces', 'there are no other placeholders');
}

function requireDistinct(parsed: ParsedJob, outputs: readonly OutputTarget[]): void {
  const paths = outputs.map(({ output }) => resolve(output));
  const { fields } = parsed;
  outputs.forEach(({ output }, at) => {
    const path = at < fields.reports.length ? ['reports', at] : ['exports', at - fields.reports.length];
    requirePlaceholders(parsed, [...path, 'output'], output);
    if (paths.indexOf(resolve(output)) !== at) {
      throw wrongValue(
        parsed.yaml,
        [...path, 'output'],
        'a different path for every output',
        'two outputs cannot share a file',
      );
    }
  });
}
