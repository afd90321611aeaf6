import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { UsageError } from '../core/errors.ts';

/**
 * The YAML files of a folder, by name, or the file itself.
 * @param refusal the error for a path without any, and for one that cannot be read
 */
export async function yamlFiles(
  path: string,
  refusal: (why: string, cause: unknown) => UsageError,
): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (error) {
    throw refusal('cannot read', error);
  }
  throw refusal('there are none in', undefined);
}
