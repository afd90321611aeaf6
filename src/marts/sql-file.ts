import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MartError } from '../core/errors.ts';
import { failedWith } from '../files/disk.ts';

/** A file of one select with a header of comments. */
export interface SqlFile {
  /** Of the file, without `.sql`. */
  readonly name: string;
  /** As it is shown to people. */
  readonly path: string;
  readonly sql: string;
  /** First line of the header. */
  readonly title: string;
  /** `-- key: value` of the header; further lines are indented. */
  readonly header: ReadonlyMap<string, readonly string[]>;
}

/** The folder of the selects that come with tonlake. */
export function shippedFolder(kind: 'marts' | 'checks'): string {
  const up = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  return fileURLToPath(new URL(`${up}sql/${kind}/`, import.meta.url));
}

/**
 * Reads the selects of a folder, sorted by name.
 * @throws {MartError} `no-folder`; `bad-name`; `bad-header` when a key is not one of `keys` or one of `required` is missing
 */
export async function readSqlFiles(
  folder: string,
  keys: { readonly required: readonly string[]; readonly optional: readonly string[] },
): Promise<readonly SqlFile[]> {
  const names = (await listSql(folder)).sort();
  return Promise.all(
    names.map(async (file) => {
      const path = join(folder, file);
      const shown = relative(process.cwd(), path);
      return parseSqlFile(file, shown.startsWith('..') ? path : shown, await readFile(path, 'utf8'), keys);
    }),
  );
}

/** Names of the marts that come with tonlake; nothing of them is read. */
export async function shippedMartNames(): Promise<readonly string[]> {
  return (await listSql(shippedFolder('marts'))).map((file) => basename(file, '.sql'));
}

async function listSql(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => file.endsWith('.sql'));
  } catch (cause) {
    if (!failedWith(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    throw new MartError(`mart: expected a folder of .sql files, got ${folder}`, { code: 'no-folder', cause });
  }
}

function parseSqlFile(
  file: string,
  path: string,
  sql: string,
  { required, optional }: Parameters<typeof readSqlFiles>[1],
): SqlFile {
  const name = basename(file, '.sql');
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new MartError(`mart: expected a file name of lower-case letters, digits and _, got ${file} (${path})`, {
      code: 'bad-name',
    });
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
    if ((header.get(key) ?? []).length === 0) throw badHeader(path, 1, `a header with ${key}`, 'none');
  }
  return { name, path, sql, title, header };
}

function badHeader(path: string, line: number, expected: string, got: string): MartError {
  return new MartError(`mart: expected ${expected}, got ${got} (${path}:${line})`, {
    code: 'bad-header',
    hint: 'see docs/marts.md for an example',
  });
}

/** A value of the header as one line; empty where there is none. */
export function headerText(file: SqlFile, key: string): string {
  return (file.header.get(key) ?? []).join(' ');
}

/** A value of the header as a list separated by commas. */
export function headerList(file: SqlFile, key: string): readonly string[] {
  return headerText(file, key)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
