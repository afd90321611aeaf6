import { copyFile, link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { formatError, JobError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { failedWith, hashFile, lacksLinks, listFolder, makeFolder, statIfAny, syncPath } from '../files/disk.ts';
import type { StagedOutput } from './run-record.ts';

/** The output files of one run: each is staged next to its final path, and all are moved together. */
export class Publication {
  readonly outputs: StagedOutput[] = [];
  readonly #staged: string[] = [];
  readonly #mark: string;
  readonly #id: string;

  /**
   * @param warehouse absolute; jobs of one name on several warehouses may write into one folder
   * @param id of the run
   */
  constructor(job: string, warehouse: string, id: string) {
    this.#mark = `${job}-${sha256Of(warehouse, 8)}`;
    this.#id = id;
  }

  /** Calls `write` to stage the file for `output`; its folder is created if necessary. */
  async stage(output: string, write: (path: string) => Promise<void>): Promise<void> {
    const path = resolve(output);
    const found = await this.#prepare(path).catch((error: unknown) => {
      throw cannotPublish(path, formatError(error), error);
    });
    if (found?.isDirectory() === true) throw cannotPublish(path, 'it is a folder');
    const staged = join(dirname(path), `.${basename(path)}.${this.#mark}-${this.#id}.new`);
    this.#staged.push(staged);
    await write(staged);
    await syncPath(staged);
    const { size } = (await statIfAny(staged)) ?? { size: 0 };
    this.outputs.push({ path, staged, bytes: size, sha256: await hashFile(staged) });
  }

  /** Creates the folder of a file and clears leftovers. @returns what exists at the path */
  async #prepare(path: string) {
    await makeFolder(dirname(path));
    await this.#clear(dirname(path));
    return statIfAny(path);
  }

  /** Removes staged and partly written files. */
  async discard(): Promise<void> {
    for (const staged of this.#staged) await rm(staged, { force: true });
  }

  /** Removes files of killed runs from a folder, but not those of this run. */
  async #clear(folder: string): Promise<void> {
    const own = new Set(this.#staged.map((staged) => basename(staged)));
    for (const name of await listFolder(folder)) {
      const isLeft = name.startsWith('.') && name.includes(`.${this.#mark}-`) && /\.(new|old)$/.test(name);
      if (isLeft && !own.has(name)) await rm(join(folder, name), { force: true });
    }
  }
}

/**
 * Renames all staged files to their final paths, or none if one fails. It can be called again after a kill, and continues.
 *
 * @throws {JobError} `cannot-publish`; everything is then as it was before
 */
export async function putInPlace(outputs: readonly StagedOutput[]): Promise<void> {
  const put: StagedOutput[] = [];
  try {
    for (const output of outputs) {
      if (!(await isPut(output))) {
        await keepOld(output);
        await rename(output.staged, output.path).catch((error: unknown) => {
          throw cannotPublish(output.path, formatError(error), error);
        });
      }
      put.push(output);
    }
  } catch (error) {
    for (const output of put) await putBack(output);
    for (const output of outputs) {
      await rm(output.staged, { force: true });
      await rm(oldOf(output), { force: true });
    }
    throw error;
  }
  for (const output of outputs) await rm(oldOf(output), { force: true });
  for (const folder of new Set(outputs.map(({ path }) => dirname(path)))) await syncPath(folder);
}

/** True if an earlier attempt already moved the file. */
async function isPut({ staged, path, sha256 }: StagedOutput): Promise<boolean> {
  if ((await statIfAny(staged)) !== undefined) return false;
  const isThere = (await statIfAny(path))?.isFile() === true && (await hashFile(path)) === sha256;
  if (isThere) return true;
  throw cannotPublish(path, 'its staged file is gone');
}

async function keepOld(output: StagedOutput): Promise<void> {
  await link(output.path, oldOf(output))
    .catch((error: unknown) => {
      if (!lacksLinks(error)) throw error;
      return copyFile(output.path, oldOf(output));
    })
    .catch((error: unknown) => {
      if (!failedWith(error, 'ENOENT', 'EEXIST')) throw cannotPublish(output.path, formatError(error), error);
    });
}

async function putBack(output: StagedOutput): Promise<void> {
  await rename(oldOf(output), output.path).catch(async (error: unknown) => {
    if (!failedWith(error, 'ENOENT')) throw error;
    await rm(output.path, { force: true });
  });
}

function oldOf({ staged }: StagedOutput): string {
  return staged.replace(/\.new$/, '.old');
}

function cannotPublish(path: string, why: string, cause?: unknown): JobError {
  return new JobError(`job: cannot write ${path}: ${why}`, {
    code: 'cannot-publish',
    hint: 'nothing was published; previous outputs are unchanged',
    cause,
  });
}
