import { readFile, writeFile } from 'node:fs/promises';

/** How many empty files are kept, at about 1 MB each: one for each set of tables and kind of store. */
const KEPT_FILES = 4;

/** Database files without rows that this process has made, by the SQL that made them. */
const made = new Map<string, Buffer>();

/**
 * Writes a file that this process has made before: in a twentieth of the time.
 * @param sql all statements that made it
 * @returns false if there is none
 */
export async function copyEmptyFile(sql: string, path: string): Promise<boolean> {
  const bytes = made.get(sql);
  if (bytes === undefined) return false;
  await writeFile(path, bytes);
  return true;
}

/** Keeps the contents of a file for {@link copyEmptyFile}. Everything in it must have been written to the disk. */
export async function keepEmptyFile(sql: string, path: string): Promise<void> {
  made.set(sql, await readFile(path));
  for (const oldest of made.keys()) if (made.size > KEPT_FILES) made.delete(oldest);
}
