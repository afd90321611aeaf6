import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MartError } from '../core/errors.ts';
import { failedWith } from '../core/failed-with.ts';
import type { SelectedColumn } from '../declare/selected-table.ts';
import { shippedFolder, shownPath } from './shipped-queries.ts';

/** A file with one select and a header of comments. */
export interface SqlFile {
  /** File name without `.sql`. */
  readonly name: string;
  /** As shown in messages. */
  readonly path: string;
  readonly sql: string;
  /** First line of the header. */
  readonly title: string;
  /** `-- key: value` of the header; further lines are indented. */
  readonly header: ReadonlyMap<string, readonly string[]>;
}

interface HeaderKeys {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Keys of the header of a mart. */
export const martKeys: HeaderKeys = {
  required: ['question', 'grain', 'key', 'inputs', 'units'],
  optional: ['optional', 'incremental', 'before', 'merge', 'columns'],
};

/**
 * Reads the shipped marts or checks and those of a user's folder, each folder sorted by name. A user's file replaces the shipped one
 * of the same name.
 *
 * @throws {MartError} when a key is not one of `keys` or one of `required` is missing
 */
export async function readSqlFiles(
  kind: 'marts' | 'checks',
  folder: string | undefined,
  keys: HeaderKeys,
): Promise<readonly SqlFile[]> {
  const files = new Map<string, SqlFile>();
  for (const each of [shippedFolder(kind), ...(folder === undefined ? [] : [folder])]) {
    for (const name of (await listSql(each)).sort()) {
      const path = join(each, name);
      const file = parseSqlFile(name, shownPath(path), await readFile(path, 'utf8'), keys);
      files.set(file.name, file);
    }
  }
  return [...files.values()];
}

/** Reads the shipped files of a kind, sorted by name. @throws {MartError} as {@link readSqlFiles} */
export function readShippedSql(kind: 'ton' | 'marts', keys: HeaderKeys): readonly SqlFile[] {
  const folder = shippedFolder(kind);
  const names = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return names
    .sort()
    .map((name) => parseSqlFile(name, `sql/${kind}/${name}`, readFileSync(join(folder, name), 'utf8'), keys));
}

async function listSql(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => file.endsWith('.sql'));
  } catch (cause) {
    if (!failedWith(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    throw new MartError(`mart: expected a folder of .sql files, got ${folder}`, { cause });
  }
}

function parseSqlFile(file: string, path: string, sql: string, { required, optional }: HeaderKeys): SqlFile {
  const name = basename(file, '.sql');
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new MartError(`mart: expected a file name of lower-case letters, digits and _, got ${file} (${path})`);
  }
  const header = new Map<string, string[]>();
  let title = '';
  let open: string[] | undefined;
  for (const [at, line] of sql.split('\n').entries()) {
    const [, text] = /^--\s?(.*)$/.exec(line) ?? [];
    if (text === undefined) break;
    const [, key, value = ''] = /^([a-z]+):\s*(.*)$/.exec(text) ?? [];
    if (at === 0) title = text.trim();
    else if (key !== undefined) {
      if (!required.includes(key) && !optional.includes(key)) {
        const known = [...required, ...optional].join(', ');
        throw badHeader(path, at + 1, `one of ${known}`, key);
      }
      open = value === '' ? [] : [value];
      header.set(key, open);
    } else if (open !== undefined && text.startsWith('  ')) open.push(text.trim());
    else throw badHeader(path, at + 1, '`key: value`', JSON.stringify(text));
  }
  for (const key of required) {
    if ((header.get(key) ?? []).length === 0) throw badHeader(path, 1, `a line -- ${key}: ... above the query`, 'none');
  }
  return { name, path, sql, title, header };
}

function badHeader(path: string, line: number, expected: string, got: string): MartError {
  return new MartError(`mart: expected ${expected}, got ${got} (${path}:${line})`, {
    hint: 'see docs/marts.md for an example',
  });
}

/** A value of the header as one line; empty if there is none. */
export function headerText(file: SqlFile, key: string): string {
  return (file.header.get(key) ?? []).join(' ');
}

/** A value of the header as a comma-separated list. */
export function headerList(file: SqlFile, key: string): readonly string[] {
  return headerText(file, key)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** `name (unit): meaning` of the header. */
export function columnDocs(file: SqlFile): Map<string, Pick<SelectedColumn, 'unit' | 'doc'>> {
  return new Map(
    (file.header.get('columns') ?? []).map((line) => {
      const [, name = line, unit, doc = ''] = /^(\w+)(?: \(([\w ]+)\))?: (.*)$/.exec(line) ?? [];
      return [name, { unit, doc }];
    }),
  );
}
