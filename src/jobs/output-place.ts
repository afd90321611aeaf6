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

/** A folder that outputs are published in: of a disk, or a place of an object store. Names are those of files right in it. */
export interface OutputPlace {
  /** Makes the folder. */
  make(): Promise<void>;
  names(): Promise<readonly string[]>;
  /** What has this name. */
  kindOf(name: string): Promise<'file' | 'folder' | undefined>;
  /** Writes a file; it is durable then. */
  write(name: string, write: (path: string) => Promise<void>): Promise<FileSum>;
  /** Moves a file to the path of an output, and replaces what is there. */
  move(name: string, path: string): Promise<void>;
  /** Makes moves durable. */
  settle(): Promise<void>;
  /** Undefined if there is none. */
  sum(name: string): Promise<FileSum | undefined>;
  /** @throws if there is none */
  read(name: string): Promise<Buffer>;
  /** One that is not there does no harm. */
  remove(name: string): Promise<void>;
  /** What publishing needs here. */
  trials(effects: Effects): readonly Trial[];
}

/** The absolute path of an output, or its address in an object store. */
export function outputPath(output: string): string {
  return isObjectUrl(output) ? output : resolve(output);
}

/** The place of an output. @throws {UsageError} `bad-location` */
export function placeOf(path: string): OutputPlace {
  return isObjectUrl(path) ? objectPlace(dirname(path)) : diskPlace(dirname(path));
}

function diskPlace(folder: string): OutputPlace {
  const at = (name: string): string => join(folder, name);
  const kindOf: OutputPlace['kindOf'] = async (name) => {
    const found = await statIfAny(at(name));
    return found && (found.isFile() ? 'file' : 'folder');
  };
  return {
    make: () => makeFolder(folder),
    names: () => listFolder(folder),
    kindOf,
    write: async (name, write) => {
      await write(at(name));
      await syncPath(at(name));
      return sumFile(at(name));
    },
    move: (name, path) => rename(at(name), path),
    settle: () => syncPath(folder),
    sum: async (name) => ((await kindOf(name)) === 'file' ? sumFile(at(name)) : undefined),
    read: (name) => readFile(at(name)),
    remove: (name) => rm(at(name), { force: true }),
    trials: () => [folderTrial(folder, 'output')],
  };
}

/** In an object store, a file is written to the temporary folder, and moved by a copy in the store: both are atomic. */
function objectPlace(url: string): OutputPlace {
  const objects = openS3Store(url);
  return {
    make: async () => {},
    // Staged files begin with a dot.
    names: async () => (await objects.list('.')).map(({ key }) => key).filter((key) => !key.includes('/')),
    kindOf: async (name) => ((await objects.head(name)) === undefined ? undefined : 'file'),
    write: async (name, write) => {
      const folder = await mkdtemp(join(tmpdir(), 'tonlake-output-'));
      try {
        const path = join(folder, name);
        await write(path);
        const sum = await sumFile(path);
        await objects.upload(name, path, sum);
        return sum;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    move: async (name, path) => {
      await objects.copy(name, basename(path));
      await objects.remove([name]);
    },
    settle: async () => {},
    sum: async (name) => {
      const found = await objects.head(name);
      if (found === undefined) return undefined;
      // What somebody else has put has no checksum.
      return found.sha256 === undefined ? sumObject(objects, name) : { bytes: found.bytes, sha256: found.sha256 };
    },
    read: async (name) => {
      const bytes = await objects.get(name);
      if (bytes === undefined) throw new JobError(`job: ${url}/${name} is gone`, { code: 'cannot-publish' });
      return Buffer.from(bytes);
    },
    remove: (name) => objects.remove([name]),
    trials: (effects) => [
      ...objectTrials(objects, effects.freshId()),
      folderTrial(tmpdir(), 'TMPDIR', ', for outputs'),
    ],
  };
}

async function sumFile(path: string): Promise<FileSum> {
  return { bytes: (await stat(path)).size, sha256: await hashFile(path) };
}
