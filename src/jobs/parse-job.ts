import { basename, dirname } from 'node:path';
import { usage } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { suggest } from '../core/suggest.ts';
import { type PlacedYaml, readYaml, type YamlOrigin } from '../core/yaml.ts';
import { readNamedFile } from '../files/named-file.ts';
import { type JobFields, jobSchema } from './job-schema.ts';

/** A well-formed job file, whose names are not checked yet. */
export interface ParsedJob {
  /** The file's name without its ending. */
  readonly name: string;
  readonly file: string;
  readonly fields: JobFields;
  readonly yaml: PlacedYaml;
}

/**
 * Parses a job.
 *
 * @param file its path, for messages; the name of the job is taken from it
 * @throws {UsageError} with line and column
 */
export function parseJob(text: string, file: string): ParsedJob {
  const origin = { file, line: 1, what: 'job', docs: 'docs/jobs.md' };
  const name = nameOfFile(origin);
  const { value: fields, yaml } = readYaml(text, origin, jobSchema);
  return { name, file, fields, yaml };
}

/** Names of jobs and alerts; none leads to another folder. */
export const JOB_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** The name of a job or an alert is that of its file. @throws {UsageError} */
export function nameOfFile({ file, what }: YamlOrigin): string {
  const name = basename(file).replace(/\.ya?ml$/, '');
  if (JOB_NAME.test(name)) return name;
  const expected = `a file of ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what} named with letters, digits, - and _`;
  throw usage(expected, basename(file), `the file name is the name of the ${what}`);
}

/** Reads and parses a job file. @throws {UsageError} */
export function readJob(file: string): ParsedJob {
  const hint = `${suggest('job list', shellWord(dirname(file)))} shows the jobs there`;
  return parseJob(readNamedFile(file, 'a job file', hint), file);
}
