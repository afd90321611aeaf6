import { extname } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { isLocalPath, requireLocalPath } from './local-path.ts';

/** Endings of names, and the formats that each may mean; all that any command writes, so that none is taken for another. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  '.parquet': ['parquet'],
  '.csv': ['csv'],
  '.json': ['json'],
  '.jsonl': ['rows'],
  '.ndjson': ['rows'],
  '.html': ['html'],
  '.md': ['md'],
  '.txt': ['text', 'box'],
};

/** A file that is to be written, and what is known of its format. */
export interface Asked<Format extends string> {
  /** Its path; none for standard output. */
  readonly output: string | undefined;
  /** The format that was asked for beside the path. */
  readonly format: Format | undefined;
  /** Those that can be written. */
  readonly formats: readonly Format[];
  /** Makes the error; default: one of the command line. */
  readonly refuse?: ((expected: string, hint: string) => UsageError) | undefined;
}

/**
 * The format of an output: the one that was asked for, or else what the ending of its path says.
 *
 * @returns nothing where neither says one: there is no path, or it has no ending
 * @throws {UsageError} `wrong-ending` when the path ends like another format than the one asked for, or than those that can be
 *   written, or like nothing known and no format was asked for
 */
export function formatOf<Format extends string>(asked: Asked<Format>): Format | undefined {
  const { output, format, formats } = asked;
  if (output !== undefined && !isLocalPath(output)) {
    if (asked.refuse === undefined) requireLocalPath(output, '--output');
    throw refusal(asked, 'a local path, not a URL', 'write to a folder of this machine, and copy it from there');
  }
  const ending = output === undefined ? '' : extname(output).toLowerCase();
  if (ending === '') return format;
  const said = SAID[ending];
  if (format === undefined) return formats.find((each) => said?.includes(each)) ?? requireEnding(asked);
  if (said === undefined || said.includes(format)) return format;
  throw refusal(asked, `a path that fits the format ${format}`, 'leave the format out, or choose another path');
}

/** As `formatOf`, where the ending must say the format if nothing else does. @throws {UsageError} `wrong-ending` */
export function requireFormatOf<Format extends string>(asked: Asked<Format>): Format {
  return formatOf(asked) ?? requireEnding(asked);
}

function requireEnding<Format extends string>(asked: Asked<Format>): never {
  const endings = asked.formats.flatMap((format) =>
    Object.keys(SAID).filter((ending) => SAID[ending]?.includes(format)),
  );
  throw refusal(asked, `a path that ends in ${endings.join(', ')}`, 'choose another path, or say the format as well');
}

function refusal<Format extends string>({ output, refuse }: Asked<Format>, expected: string, hint: string): UsageError {
  if (refuse !== undefined) return refuse(expected, hint);
  return new UsageError(`usage: expected ${expected}, got ${output}`, { code: 'wrong-ending', hint });
}
