import { link, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { failedWith } from '../core/failed-with.ts';
import { ifAny, lacksLinks, listFolder, statIfAny, writeSynced } from './disk.ts';
import { markSchema, readMark, readProcessState } from './process-liveness.ts';

/** Attempts and pauses for reading an incomplete lock file again. It is written in milliseconds, so its writer was killed after that. */
const LOOKS = 150;
const LOOK_MS = 10;

const ownerSchema = markSchema.extend({ id: z.string(), since: z.string(), command: z.string() });

/** Who wrote a lock file. */
type LockOwner = Readonly<z.infer<typeof ownerSchema>>;

/** A process that was killed while it wrote a lock file, where there are no hard links. */
interface KilledOwner {
  readonly id: string;
  readonly isKilled: true;
}

/** Who holds a lock. */
export interface LockHolder extends LockOwner {
  /** True if it is on another machine or in another container: it may be gone, but this process cannot find out. */
  readonly isElsewhere: boolean;
}

/** A lock on a warehouse, held until it is released or the process ends. */
export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  /** Absolute path of the lock file. */
  readonly path: string;
  /** What is locked, for messages, such as `warehouse /w`. */
  readonly subject: string;
  /** The command of this process, shown to others that want the lock. */
  readonly command: string;
  /** What the holder does, for the same message. Default `is being written`. */
  readonly doing?: string;
  readonly effects: Effects;
}

/**
 * Takes the lock, also from a process that ended without releasing it.
 *
 * The successor of a dead owner X is the process that creates `<lock>.after-X`, if X is then still the last in line; it replaces the
 * lock file by rename. So if two processes find X dead, only one succeeds.
 * @throws {StoreError} `busy` if a running process holds it
 */
export async function takeLock(options: LockOptions): Promise<Lock> {
  const { path, effects } = options;
  const owner: LockOwner = {
    id: effects.freshId(),
    ...(await readMark()),
    since: new Date(effects.now()).toISOString(),
    command: options.command,
  };
  const draft = `${path}.${owner.id}`;
  try {
    while (!(await tryTake(options, owner, draft))) await effects.sleep(5);
  } finally {
    await rm(draft, { force: true });
  }
  const release = async (): Promise<void> => {
    if ((await readOwner(path))?.id === owner.id) await rm(path, { force: true });
  };
  try {
    await clearLine(path);
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

/** The process that holds the lock; undefined if it is free or its owner is dead. */
export async function readLockHolder(path: string): Promise<LockHolder | undefined> {
  const owner = (await readLine(path)).at(-1);
  return owner === undefined ? undefined : holderOf(owner, path);
}

/** The error for a second process. */
export function busyError(subject: string, holder: LockHolder, path: string, doing?: string): BusyError {
  const { pid, host, isElsewhere } = holder;
  const here = pid === process.pid ? ', this one,' : '';
  return new BusyError(subject, doing, holder, {
    where: isElsewhere ? `, of another machine or container (host ${host}),` : here,
    hint: isElsewhere
      ? `wait for it to end, or stop it there; if it is gone, remove ${path}`
      : `wait for it to end, or stop it with kill -INT ${pid}`,
  });
}

/** `busy`: another process holds a lock or a lease. */
export class BusyError extends StoreError {
  /** The command of that process. */
  readonly command: string;
  /** Which process it is: `by process 17 since 2026-05-01T12:00:00Z (tonlake run blocks)`. */
  readonly by: string;

  /** @param where the place of the process, after its number */
  constructor(
    subject: string,
    doing: string | undefined,
    { pid, since, command }: Pick<LockOwner, 'pid' | 'since' | 'command'>,
    { where, hint }: { readonly where: string; readonly hint: string },
  ) {
    const by = `by process ${pid}${where} since ${since.replace(/\.\d+Z$/, 'Z')} (${command})`;
    super(`store: ${subject} ${doing ?? 'is being written'} ${by}`, { code: 'busy', hint });
    this.command = command;
    this.by = by;
  }
}

/** The owner, unless its process is gone. */
async function holderOf(owner: LockOwner | KilledOwner, path: string): Promise<LockHolder | undefined> {
  if ('isKilled' in owner) return undefined;
  const fate = await readProcessState(owner, { path: dirname(path), since: owner.since });
  return fate === 'gone' ? undefined : { ...owner, isElsewhere: fate === 'elsewhere' };
}

async function tryTake(options: LockOptions, owner: LockOwner, draft: string): Promise<boolean> {
  const { path, subject, doing } = options;
  await rm(draft, { force: true });
  await writeSynced(draft, `${JSON.stringify(owner)}\n`);
  if (await tryLink(draft, path)) return true;
  const line = await readLine(path);
  const last = line.at(-1);
  if (last === undefined) return false;
  const holder = await holderOf(last, path);
  if (holder !== undefined) throw busyError(subject, holder, path, doing);
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

/** Removes leftovers of waiting processes. */
async function clearLine(path: string): Promise<void> {
  for (const name of await listFolder(dirname(path))) {
    if (name.startsWith(`${basename(path)}.`)) await rm(join(dirname(path), name), { force: true });
  }
}

/** The owner in the lock file, and its successors. */
async function readLine(path: string): Promise<readonly (LockOwner | KilledOwner)[]> {
  const line: (LockOwner | KilledOwner)[] = [];
  let owner = await readOwner(path);
  while (owner !== undefined) {
    line.push(owner);
    owner = await readOwner(`${path}.after-${owner.id}`);
  }
  return line;
}

async function readOwner(path: string): Promise<LockOwner | KilledOwner | undefined> {
  for (let look = 0; ; look++) {
    const text = await ifAny(readFile(path, 'utf8'));
    if (text === undefined) return undefined;
    try {
      return ownerSchema.parse(JSON.parse(text));
    } catch (error) {
      if (text.endsWith('\n')) throw unknownLock(path, error);
      // Without hard links, a file exists a moment before its text.
      if (look === LOOKS) return { id: `killed-${(await statIfAny(path))?.mtimeMs}`, isKilled: true };
      await delay(LOOK_MS);
    }
  }
}

function unknownLock(path: string, cause: unknown): StoreError {
  return new StoreError(`store: lock file ${path} cannot be read`, {
    hint: 'if no tonlake process is running, remove it',
    cause,
  });
}

/** Links a file to a second name, if that is free. */
async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    // ENOENT: the process that won has removed the draft; the next attempt writes it again.
    if (failedWith(error, 'EEXIST', 'ENOENT')) return false;
    if (!lacksLinks(error)) throw error;
  }
  const text = await ifAny(readFile(from, 'utf8'));
  if (text === undefined) return false;
  try {
    await writeSynced(to, text);
    // Another process takes over a file that stays incomplete, as after a kill, while this one is stopped.
    return (await ifAny(readFile(to, 'utf8'))) === text;
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return false;
    throw error;
  }
}
