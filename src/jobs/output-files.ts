import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { JobError } from '../core/errors.ts';
import type { Trial } from '../core/trial.ts';
import { hashFile, listFolder, makeFolder, statIfAny, syncPath } from '../files/disk.ts';
import { folderTrial } from '../files/writable-folder.ts';
import { sumObject } from '../objects/object-files.ts';
import type { FileSum } from '../objects/object-store.ts';
import { objectTrials } from '../objects/object-trials.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { openS3Store } from '../objects/s3-store.ts';

/** The disk or object store of outputs. Paths are absolute, or addresses of objects. */
export interface OutputFiles {
  make(folder: string): Promise<void>;
  names(folder: string): Promise<readonly string[]>;
  kindOf(path: string): Promise<'file' | 'folder' | undefined>;
  /** Writes a file; durable on return. */
  write(path: string, write: (path: string) => Promise<void>): Promise<FileSum>;
  /** Moves a file, and replaces what is there. */
  move(from: string, to: string): Promise<void>;
  /** Makes moves into a folder durable. */
  sync(folder: string): Promise<void>;
  /** Undefined if there is none. */
  sum(path: string): Promise<FileSum | undefined>;
  /** @throws if there is none */
  read(path: string): Promise<Buffer>;
  /** Ignores a missing file. */
  remove(path: string): Promise<void>;
  /** The requirements of publishing into a folder. */
  trials(folder: string, effects: Effects): readonly Trial[];
}

/** The absolute path of an output, or its address in an object store. */
export function outputPath(output: string): string {
  return isObjectUrl(output) ? output : resolve(output);
}

/** The disk or object store of a path. */
export function filesOf(path: string): OutputFiles {
  return isObjectUrl(path) ? objectFiles : diskFiles;
}

const diskFiles: OutputFiles = {
  make: makeFolder,
  names: listFolder,
  kindOf: async (path) => {
    const found = await statIfAny(path);
    return found && (found.isFile() ? 'file' : 'folder');
  },
  write: async (path, write) => {
    await write(path);
    await syncPath(path);
    return sumFile(path);
  },
  move: rename,
  sync: syncPath,
  sum: async (path) => ((await diskFiles.kindOf(path)) === 'file' ? sumFile(path) : undefined),
  read: (path) => readFile(path),
  remove: (path) => rm(path, { force: true }),
  trials: (folder) => [folderTrial(folder, 'output')],
};

/** The store of the folder of an object, and its key there. @throws {UsageError} */
const objectAt = (path: string) => ({ objects: openS3Store(dirname(path)), key: basename(path) });

/** Files are written to the temporary folder and uploaded, and moved by a copy in the store: both are atomic. */
const objectFiles: OutputFiles = {
  make: async () => {},
  // Staged files begin with a dot.
  names: async (folder) =>
    (await openS3Store(folder).list('.')).map(({ key }) => key).filter((key) => !key.includes('/')),
  kindOf: async (path) => {
    const { objects, key } = objectAt(path);
    return (await objects.head(key)) === undefined ? undefined : 'file';
  },
  write: async (path, write) => {
    const { objects, key } = objectAt(path);
    const folder = await mkdtemp(join(tmpdir(), 'tonlake-output-'));
    try {
      const local = join(folder, key);
      await write(local);
      const sum = await sumFile(local);
      await objects.upload(key, local, sum);
      return sum;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  move: async (from, to) => {
    const { objects, key } = objectAt(from);
    await objects.copy(key, basename(to));
    await objects.remove([key]);
  },
  sync: async () => {},
  sum: async (path) => {
    const { objects, key } = objectAt(path);
    const found = await objects.head(key);
    if (found === undefined) return undefined;
    // Only objects of other programs have no checksum.
    return found.sha256 === undefined ? sumObject(objects, key) : { bytes: found.bytes, sha256: found.sha256 };
  },
  read: async (path) => {
    const { objects, key } = objectAt(path);
    const bytes = await objects.get(key);
    if (bytes === undefined) throw new JobError(`job: ${path} is gone`);
    return Buffer.from(bytes);
  },
  remove: async (path) => {
    const { objects, key } = objectAt(path);
    await objects.remove([key]);
  },
  trials: (folder, effects) => [
    ...objectTrials(openS3Store(folder), effects.freshId()),
    folderTrial(tmpdir(), 'TMPDIR', ', for outputs'),
  ],
};

async function sumFile(path: string): Promise<FileSum> {
  return { bytes: (await stat(path)).size, sha256: await hashFile(path) };
}
