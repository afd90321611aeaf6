import { link, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Effects } from '../effects.ts';
import { StoreError } from '../errors.ts';
import { failedWith, ifAny, listFolder, writeSynced } from './disk.ts';
import { isRunning, readMark } from './liveness.ts';

const ownerSchema = z.object({
  id: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  host: z.string(),
  since: z.string(),
  command: z.string(),
});

/** Who holds a lock. */
export type LockOwner = Readonly<z.infer<typeof ownerSchema>>;

/** The right to write a warehouse; held until it is released or the process ends. */
export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  /** Absolute path of the lock file. */
  readonly path: string;
  /** Words for the message, for example `warehouse /w`. */
  readonly subject: string;
  /** What this process is doing, for the message that others get. */
  readonly command: string;
  /** What the holder does to the subject, for the same message. Default `is being written`. */
  readonly doing?: string;
  readonly effects: Effects;
}

/**
 * Takes the lock, also from a process that has ended without releasing it.
 *
 * A dead owner X is succeeded by the one process that manages to create `<lock>.after-X`, and only if X is still the last of
 * the line once that is done; then the successor replaces the lock file by rename. So of two that see X dead, one wins.
 * @throws {StoreError} `busy` when a running process holds it.
 */
export async function takeLock(options: LockOptions): Promise<Lock> {
  const { path, effects } = options;
  const mark = await readMark(process.pid);
  const owner: LockOwner = {
    id: effects.freshId(),
    pid: process.pid,
    startedAt: mark?.startedAt ?? '',
    host: mark?.host ?? '',
    since: new Date(effects.now()).toISOString(),
    command: options.command,
  };
  const draft = `${path}.${owner.id}`;
  try {
    while (!(await tryTake(options, owner, draft))) await effects.sleep(5);
  } finally {
    await rm(draft, { force: true });
  }
  for (const name of await listFolder(dirname(path))) {
    if (name.startsWith(`${basename(path)}.`)) await rm(join(dirname(path), name), { force: true });
  }
  return {
    release: async () => {
      if ((await readOwner(path))?.id === owner.id) await rm(path, { force: true });
    },
  };
}

/** The running process that holds the lock; undefined when it is free, or its owner dead. */
export async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  const owner = (await readLine(path)).at(-1);
  return owner !== undefined && (await isRunning(owner)) ? owner : undefined;
}

/** The error for whoever comes second. */
export function busyError(subject: string, owner: LockOwner, path: string, doing = 'is being written'): StoreError {
  const here = owner.pid === process.pid ? ', this one,' : '';
  const since = owner.since.replace(/\.\d+Z$/, 'Z');
  return new StoreError(`store: ${subject} ${doing} by process ${owner.pid}${here} since ${since} (${owner.command})`, {
    code: 'busy',
    hint: `wait for it to end, or stop it with kill -INT ${owner.pid}; if it ran on another machine (${owner.host}) and is gone, remove ${path}`,
  });
}

async function tryTake(options: LockOptions, owner: LockOwner, draft: string): Promise<boolean> {
  const { path, subject, doing } = options;
  await rm(draft, { force: true });
  await writeSynced(draft, `${JSON.stringify(owner)}\n`);
  if (await tryLink(draft, path)) return true;
  const line = await readLine(path);
  const last = line.at(-1);
  if (last === undefined) return false;
  if (await isRunning(last)) throw busyError(subject, last, path, doing);
  const successor = `${path}.after-${last.id}`;
  if (!(await tryLink(draft, successor))) return false;
  const ids = (await readLine(path)).map(({ id }) => id);
  if (ids.join() !== [...line.map(({ id }) => id), owner.id].join()) {
    await rm(successor, { force: true });
    return false;
  }
  await rename(draft, path);
  return true;
}

/** The owner in the lock file, and whoever came after. */
async function readLine(path: string): Promise<readonly LockOwner[]> {
  const line: LockOwner[] = [];
  let owner = await readOwner(path);
  while (owner !== undefined) {
    line.push(owner);
    owner = await readOwner(`${path}.after-${owner.id}`);
  }
  return line;
}

async function readOwner(path: string): Promise<LockOwner | undefined> {
  const text = await ifAny(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new StoreError(`store: lock file ${path} cannot be read`, {
      code: 'bad-lock',
      hint: 'if no tonlake process is running, remove it',
      cause: error,
    });
  }
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    // ENOENT: the draft was cleared away by the process that just won; the next round writes it again.
    if (failedWith(error, 'EEXIST', 'ENOENT')) return false;
    throw error;
  }
}
