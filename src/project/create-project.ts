import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { usage } from '../core/errors.ts';
import { packageFile } from '../core/own-package.ts';
import { writeTextAtomically } from '../files/atomic-write.ts';
import { makeFolder, statIfAny } from '../files/disk.ts';

/** Names of dotfiles in the package, because npm excludes or interprets some dotfiles. */
const DOTTED: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'env.example': '.env.example' };

/**
 * Writes the files of a new project to a folder, which is created if necessary.
 *
 * @returns their paths in the folder
 * @throws {UsageError} if one of them is there; nothing is written then
 */
export async function createProject(folder: string): Promise<readonly string[]> {
  const templates = packageFile('templates/project/');
  const listed = await readdir(templates, { recursive: true, withFileTypes: true });
  const files = listed
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(templates.length))
    .sort();
  const paths = files.map((file) => DOTTED[file] ?? file);
  if ((await statIfAny(folder))?.isDirectory() === false) {
    throw usage('a folder', `the file ${folder}`, 'choose another folder');
  }
  const states = await Promise.all(paths.map((path) => statIfAny(join(folder, path))));
  const existing = paths.filter((_, at) => states[at] !== undefined);
  if (existing.length > 0) {
    throw usage(`a folder without ${existing.join(', ')}`, folder, 'choose another folder');
  }
  for (const [at, file] of files.entries()) {
    const path = join(folder, paths[at] ?? file);
    await makeFolder(dirname(path));
    await writeTextAtomically(path, await readFile(join(templates, file), 'utf8'));
  }
  return paths;
}
