import { basename, dirname } from 'node:path';
import { formatError, JobError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { filesOf, outputPath } from './output-files.ts';
import type { StagedOutput } from './run-record.ts';

/** Suffix of a staged file, or of its draft. */
const STAGED = /\.new(\.[0-9a-f]{8})?$/;

/** The output files of one run: each is staged next to its final path, on a disk or in an object store, and all are moved together. */
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
    const path = outputPath(output);
    const found = await this.#prepare(path).catch((error: unknown) => {
      throw cannotPublish(path, formatError(error), error);
    });
    if (found === 'folder') throw cannotPublish(path, 'it is a folder');
    const staged = `${dirname(path)}/.${basename(path)}.${this.#mark}-${this.#id}.new`;
    this.#staged.push(staged);
    const sum = await filesOf(staged).write(staged, write);
    this.outputs.push({ path, staged, ...sum });
  }

  /** Creates the folder of a file and clears leftovers. @returns what exists at the path */
  async #prepare(path: string) {
    const files = filesOf(path);
    await files.make(dirname(path));
    await this.#clear(dirname(path));
    return files.kindOf(path);
  }

  /** Removes staged and partly written files. */
  async discard(): Promise<void> {
    for (const staged of this.#staged) await filesOf(staged).remove(staged);
  }

  /** Removes files of killed runs from a folder, but not those of this run. */
  async #clear(folder: string): Promise<void> {
    const files = filesOf(folder);
    const own = new Set(this.#staged.map((staged) => basename(staged)));
    for (const name of await files.names(folder)) {
      const isLeft = name.startsWith('.') && name.includes(`.${this.#mark}-`) && STAGED.test(name);
      if (isLeft && !own.has(name)) await files.remove(`${folder}/${name}`);
    }
  }
}

/**
 * Renames all staged files to their final paths. Checks first that all can be renamed; if a rename fails nevertheless, earlier ones stay.
 *
 * @param resumed true if an earlier process may have renamed some: an output without a staged file counts as published
 * @returns outputs of an earlier process that were moved or changed since
 * @throws {JobError}
 */
export async function moveOutputs(outputs: readonly StagedOutput[], resumed: boolean): Promise<readonly string[]> {
  const moved: StagedOutput[] = [];
  try {
    const waiting: StagedOutput[] = [];
    for (const output of outputs) {
      const isStaged = (await filesOf(output.staged).kindOf(output.staged)) !== undefined;
      if (!isStaged && !resumed) throw cannotPublish(output.path, 'its staged file is gone');
      if (isStaged && (await filesOf(output.path).kindOf(output.path)) === 'folder')
        throw cannotPublish(output.path, 'it is a folder');
      (isStaged ? waiting : moved).push(output);
    }
    const earlier = [...moved];
    for (const output of waiting) {
      const move = filesOf(output.path).move(output.staged, output.path);
      await move.catch((error: unknown) => {
        throw cannotPublish(output.path, formatError(error), error, moved);
      });
      moved.push(output);
    }
    for (const folder of new Set(waiting.map(({ path }) => dirname(path)))) await filesOf(folder).sync(folder);
    return await changedSince(earlier);
  } catch (error) {
    for (const { staged } of outputs) await filesOf(staged).remove(staged);
    throw error;
  }
}

async function changedSince(outputs: readonly StagedOutput[]): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, sha256 } of outputs) {
    const found = await filesOf(path).sum(path);
    if (found?.sha256 !== sha256) changed.push(path);
  }
  return changed;
}

function cannotPublish(path: string, why: string, cause?: unknown, moved: readonly StagedOutput[] = []): JobError {
  const names = moved.map((output) => output.path).join(', ');
  return new JobError(`job: cannot write ${path}: ${why}`, {
    hint:
      moved.length === 0
        ? 'nothing was published; previous outputs are unchanged'
        : `already published: ${names}; the next run publishes all again`,
    cause,
  });
}
