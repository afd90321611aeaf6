import { statSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Does `work` on a file system that keeps what lies below a path, as NFS keeps files that somebody has open. */
export async function whereStuck(path: string, work: () => Promise<void>): Promise<void> {
  const { rm } = fs;
  fs.rm = async (target, options) => {
    if (!String(target).startsWith(path)) return rm(target, options);
    throw failure('EBUSY', `resource busy or locked, rm '${String(target)}'`);
  };
  await restoring(work, () => {
    fs.rm = rm;
  });
}

/** Does `work` on a file system without hard links, such as exFAT. */
export async function withoutLinks(work: () => Promise<void>): Promise<void> {
  const { link } = fs;
  fs.link = async () => {
    throw failure('EPERM', 'operation not permitted, link');
  };
  await restoring(work, () => {
    fs.link = link;
  });
}

/** Does `work` on a disk where the first such call with a path that ends so fails. */
export async function whereOneFails(call: 'open' | 'unlink', ending: string, work: () => Promise<void>): Promise<void> {
  const real: (...given: unknown[]) => Promise<unknown> = fs[call] as never;
  let isDone = false;
  const failing = async (path: unknown, ...given: unknown[]) => {
    if (isDone || !String(path).endsWith(ending)) return real(path, ...given);
    isDone = true;
    throw failure('EIO', `i/o error, ${call} '${String(path)}'`);
  };
  Object.assign(fs, { [call]: failing });
  await restoring(work, () => Object.assign(fs, { [call]: real }));
}

/** Does `work`. @returns true for a file or folder that was flushed to the disk meanwhile, wherever it was moved since */
export async function watchFlushes(work: () => Promise<void>): Promise<(path: string) => boolean> {
  const { open } = fs;
  const flushed = new Set<number>();
  fs.open = async (...given) => {
    const file = await open(...given);
    const { sync } = file;
    file.sync = async () => {
      await sync.call(file);
      flushed.add((await file.stat()).ino);
    };
    return file;
  };
  await restoring(work, () => {
    fs.open = open;
  });
  return (path) => flushed.has(statSync(path).ino);
}

async function restoring(work: () => Promise<void>, restore: () => void): Promise<void> {
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    restore();
    syncBuiltinESMExports();
  }
}

function failure(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code });
}
