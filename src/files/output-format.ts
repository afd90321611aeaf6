import { extname } from 'node:path';
import { type UsageError, usage } from '../core/errors.ts';
import { isLocalPath, requireLocalPath } from './local-path.ts';

/** File extensions of all commands, and the formats that each can mean. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  '.parquet': ['parquet'],
  '.csv': ['csv'],
  '.json': ['json'],
  '.jsonl': ['jsonl'],
  '.ndjson': ['jsonl'],
  '.arrow': ['arrow'],
  '.xlsx': ['xlsx'],
  '.sqlite': ['sqlite'],
  '.db': ['sqlite'],
  '.html': ['html'],
  '.md': ['md'],
  '.txt': ['text', 'box'],
};

/** A file to write, and what is known about its format. */
export interface Asked<Format extends string> {
  /** Its path; undefined for standard output. */
  readonly output: string | undefined;
  /** The requested format. */
  readonly format: Format | undefined;
  /** The supported formats. */
  readonly formats: readonly Format[];
  /** Creates the error; default: one for the command line. */
  readonly refuse?: ((expected: string, hint: string) => UsageError) | undefined;
}

/**
 * The format of an output: the requested one, or that of the file extension.
 *
 * @returns undefined if there is neither
 * @throws {UsageError} `wrong-ending` if the extension belongs to another format than the requested one, or to no supported format
 */
export function formatOf<Format extends string>(asked: Asked<Format>): Format | undefined {
  const { output, format, formats } = asked;
  if (output !== undefined && !isLocalPath(output)) {
    if (asked.refuse === undefined) requireLocalPath(output, '--output');
    throw refusal(asked, 'a local path, or s3://bucket/path', 'write to a local folder, and copy it from there');
  }
  if (output === undefined || extname(output) === '') return format;
  if (format === undefined) return formatOfPath(output, formats) ?? requireEnding(asked);
  const said = saidBy(output);
  if (said === undefined || said.includes(format)) return format;
  throw refusal(asked, `a path that fits the format ${format}`, 'leave the format out, or choose another path');
}

/** As `formatOf`, but one of the two is required. @throws {UsageError} `wrong-ending` */
export function requireFormatOf<Format extends string>(asked: Asked<Format>): Format {
  return formatOf(asked) ?? requireEnding(asked);
}

/** The first of the formats that a file extension can mean. */
export function formatOfPath<Format extends string>(path: string, formats: readonly Format[]): Format | undefined {
  return formats.find((format) => saidBy(path)?.includes(format));
}

/** The file extensions of formats. */
export function endingsOf(formats: readonly string[]): readonly string[] {
  return formats.flatMap((format) => Object.keys(SAID).filter((ending) => SAID[ending]?.includes(format)));
}

function saidBy(path: string): readonly string[] | undefined {
  return SAID[extname(path).toLowerCase()];
}

function requireEnding<Format extends string>(asked: Asked<Format>): never {
  throw refusal(
    asked,
    `a path that ends in ${endingsOf(asked.formats).join(', ')}`,
    'choose another path, or set the format as well',
  );
}

function refusal<Format extends string>({ output, refuse }: Asked<Format>, expected: string, hint: string): UsageError {
  if (refuse !== undefined) return refuse(expected, hint);
  return usage(expected, output, { code: 'wrong-ending', hint });
}
