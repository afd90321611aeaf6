import { extname } from 'node:path';
import { type UsageError, usage } from '../core/errors.ts';
import { isLocalPath, requireLocalPath } from './local-path.ts';

/** File extensions of all commands, and the formats that each can mean. */
const FORMATS_BY_EXTENSION: Readonly<Record<string, readonly string[]>> = {
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
export interface OutputRequest<Format extends string> {
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
 * @throws {UsageError} if the extension belongs to another format than the requested one, or to no supported format
 */
export function formatOf<Format extends string>(request: OutputRequest<Format>): Format | undefined {
  const { output, format, formats } = request;
  if (output !== undefined && !isLocalPath(output)) {
    if (request.refuse === undefined) requireLocalPath(output, '--output');
    throw refusal(request, 'a local path, or s3://bucket/path', 'write to a local folder, and copy it from there');
  }
  if (output === undefined || extname(output) === '') return format;
  if (format === undefined) return formatOfPath(output, formats) ?? requireEnding(request);
  const possible = formatsOf(output);
  if (possible === undefined || possible.includes(format)) return format;
  throw refusal(request, `a path that fits the format ${format}`, 'leave the format out, or choose another path');
}

/** As `formatOf`, but one of the two is required. @throws {UsageError} */
export function requireFormatOf<Format extends string>(request: OutputRequest<Format>): Format {
  return formatOf(request) ?? requireEnding(request);
}

/** The first of the formats that a file extension can mean. */
export function formatOfPath<Format extends string>(path: string, formats: readonly Format[]): Format | undefined {
  return formats.find((format) => formatsOf(path)?.includes(format));
}

/** The file extensions of formats. */
export function endingsOf(formats: readonly string[]): readonly string[] {
  return formats.flatMap((format) =>
    Object.keys(FORMATS_BY_EXTENSION).filter((ending) => FORMATS_BY_EXTENSION[ending]?.includes(format)),
  );
}

function formatsOf(path: string): readonly string[] | undefined {
  return FORMATS_BY_EXTENSION[extname(path).toLowerCase()];
}

function requireEnding<Format extends string>(request: OutputRequest<Format>): never {
  throw refusal(
    request,
    `a path that ends in ${endingsOf(request.formats).join(', ')}`,
    'choose another path, or set the format as well',
  );
}

function refusal<Format extends string>(
  { output, refuse }: OutputRequest<Format>,
  expected: string,
  hint: string,
): UsageError {
  if (refuse !== undefined) return refuse(expected, hint);
  return usage(expected, output, hint);
}
