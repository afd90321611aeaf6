import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { quoteName, quoteText } from './canonical-text.ts';
import { describeSelect } from './describe.ts';
import type { Query, Stream } from './query-result.ts';
import { type TextFormat, textOfRows } from './row-text.ts';
import { splitStatements, withoutEnd } from './statements.ts';

export const RELATION_FORMATS = ['csv', 'json', 'jsonl', 'parquet'] as const;
export type RelationFormat = (typeof RELATION_FORMATS)[number];

/** Runs selects: a warehouse opened for reading, or a database. */
export interface RelationSource {
  readonly query: Query;
  readonly stream: Stream;
}

/** A select, possibly after statements that it depends on; parameter names without `$`. */
export interface Selection {
  readonly sql: string;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

/** Where rows go: a new file, or a text stream. */
export type RelationTarget =
  | { readonly file: string; readonly format: RelationFormat }
  | { readonly out: Writable; readonly format: TextFormat };

/**
 * Writes the rows of a select: the only way from SQL to a file. Rows are written as DuckDB produces them, so memory does not grow with
 * their number. Line numbers in errors refer to `sql`.
 *
 * @returns how many rows
 * @throws as `source` does, and what writing throws
 */
export async function writeRelation(
  source: RelationSource,
  selection: Selection,
  target: RelationTarget,
): Promise<number> {
  if (target.format === 'parquet') return writeParquet(source, selection, target.file);
  if ('out' in target) return writeText(source, selection, target.format, target.out);
  const out = createWriteStream(target.file, { flags: 'wx' });
  const done = finished(out);
  const written = writeText(source, selection, target.format, out).finally(() => void out.end());
  const [ended] = await Promise.allSettled([written, done]);
  if (ended.status === 'rejected') throw ended.reason;
  await done;
  return ended.value;
}

async function writeText(
  { stream }: RelationSource,
  { sql, parameters }: Selection,
  format: TextFormat,
  out: Writable,
): Promise<number> {
  let count = 0;
  let failure: { readonly error: unknown } | undefined;
  await stream(sql, parameters, async (rows) => {
    const text = textOfRows(rows, format, (more) => {
      count += more;
    });
    for await (const piece of text) {
      // Not an error of the query.
      failure = await write(out, piece).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (failure !== undefined) return;
    }
  });
  if (failure !== undefined) throw failure.error;
  return count;
}

/** @throws what the stream failed with, also before this text */
export async function write(out: Writable, text: string): Promise<void> {
  // A failed stream emits no further event.
  if (out.errored !== null) throw out.errored;
  if (!out.write(text)) await once(out, 'drain');
}

async function writeParquet(source: RelationSource, selection: Selection, file: string): Promise<number> {
  const { query } = source;
  const { parameters } = selection;
  const statements = parameters === undefined ? splitStatements(selection.sql) : [selection.sql];
  const select = withoutEnd(statements.at(-1) ?? '');
  // The SELECT lets DuckDB refuse earlier statements that return rows.
  if (statements.length > 1) await query([...statements.slice(0, -1), 'SELECT 1'].join(';\n'));
  const columns = await describeSelect(source, select, parameters);
  const casts = columns.flatMap(({ name: column, type }) => {
    const [name, portable] = [quoteName(column), portableType(type)];
    return portable === type ? [] : [`${name}::${portable} AS ${name}`];
  });
  const replaced = casts.length === 0 ? '' : ` REPLACE (${casts.join(', ')})`;
  const { rows } = await query(
    `COPY (SELECT *${replaced} FROM (${select}\n)) TO ${quoteText(file)} (FORMAT parquet, COMPRESSION zstd)`,
    parameters,
  );
  return Number(rows[0]?.[0] ?? 0);
}

/** Types that Parquet lacks: DuckDB would write them as floats, truncate them, or refuse them. */
const PORTABLE: Readonly<Record<string, string>> = {
  HUGEINT: 'DECIMAL(38,0)',
  UHUGEINT: 'DECIMAL(38,0)',
  BIGNUM: 'VARCHAR',
  VARINT: 'VARCHAR',
  BIT: 'VARCHAR',
  INTERVAL: 'VARCHAR',
  TIME: 'VARCHAR',
  'TIME WITH TIME ZONE': 'VARCHAR',
  TIMESTAMP_NS: 'TIMESTAMP',
  UUID: 'VARCHAR',
};

/** The type of a column in Parquet, also within lists, structs and maps. No number becomes a float. */
export function portableType(type: string): string {
  return type.replace(
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|\b(TIMESTAMP WITH TIME ZONE|TIME WITH TIME ZONE|\w+)\b/g,
    (word, name: string | undefined) => (name === undefined ? word : (PORTABLE[name] ?? word)),
  );
}
