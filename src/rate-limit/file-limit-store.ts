import { createHmac, randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { stateDirectory } from '../core/environment.ts';
import { oneLine, SourceError } from '../core/errors.ts';
import { failedWith } from '../core/failed-with.ts';
import { makeFoldersSync } from '../files/make-folders.ts';
import { freshLimit, type Limit, parseLimit } from './limit.ts';
import { type Change, type LimitStore, type LimitStoreOptions, UNUSED_MS } from './limit-store.ts';

const ORPHAN_MS = 600_000;

interface Version {
  readonly number: number;
  readonly limit: Limit;
}

/**
 * A limit shared by all processes of this machine: a file `limit.N` in the state folder; the highest N counts. A new version is
 * hard-linked, so it is complete or absent, and one of several processes wins; a killed process leaves no lock. The clock is that of
 * the machine.
 *
 * @throws {SourceError} `no-state` if the folder cannot be used
 */
export function openFileLimitStore(options: LimitStoreOptions): LimitStore {
  const draft = `draft.${randomBytes(6).toString('hex')}`;
  let folder = usable(() => openFolder(options));
  let known: Version = { number: 0, limit: freshLimit(options.baseUrl) };
  const tryChange = <T>(change: Change<T>): { readonly result: T } | undefined => {
    known = readLatest(folder, known);
    const [limit, result] = change(known.limit, machineClock());
    const number = known.number + 1;
    if (!writeVersion(folder, join(folder, draft), number, JSON.stringify(limit))) return undefined;
    known = { number, limit };
    return { result };
  };
  return {
    isShared: true,
    now: machineClock,
    read: async () => usable(() => readLatest(folder, known).limit),
    change: async (change) => {
      for (;;) {
        const done = usable(() => {
          // The user may have removed it.
          if (statSync(folder, { throwIfNoEntry: false }) === undefined) folder = openFolder(options);
          return tryChange(change);
        });
        if (done !== undefined) return done.result;
        await yieldToOthers();
      }
    },
    close: () => undefined,
  };
}

/** Milliseconds since the machine started, the same for all processes. */
function machineClock(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/**
 * The folder of a network and key, created if missing. Its name is a keyed hash, so nothing reveals the key. It includes the host
 * name, because machines that share a home folder share no clock.
 */
function openFolder({ env, baseUrl, key }: LimitStoreOptions): string {
  const root = join(stateDirectory(env), 'budget');
  makeFoldersSync(root, 0o700);
  const identity = JSON.stringify([hostname(), baseUrl, key === undefined ? null : key.reveal()]);
  const name = createHmac('sha256', readSalt(root)).update(identity).digest('hex').slice(0, 16);
  const path = join(root, name);
  makeFoldersSync(path, 0o700);
  for (const draft of readdirSync(path).filter((file) => file.startsWith('draft.'))) {
    const { mtimeMs = Date.now() } = statSync(join(path, draft), { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > ORPHAN_MS) rmSync(join(path, draft), { force: true });
  }
  return path;
}

/** Created by the first process. */
function readSalt(root: string): string {
  const path = join(root, 'salt');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    linkNew(join(root, `draft.${randomBytes(6).toString('hex')}`), path, randomBytes(32).toString('hex'));
  }
  return readFileSync(path, 'utf8');
}

function versions(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => (/^limit\.\d+$/.test(name) ? [Number(name.slice(6))] : []));
}

/** The current version; without one, or if its text is invalid, the known limit continues. */
function readLatest(folder: string, known: Version): Version {
  for (;;) {
    const number = Math.max(0, ...versions(folder));
    if (number === known.number) return known;
    const path = join(folder, `limit.${number}`);
    try {
      const isOld = number > 0 && Date.now() - statSync(path).mtimeMs > UNUSED_MS;
      const limit = number === 0 || isOld ? undefined : parseLimit(readFileSync(path, 'utf8'), path);
      return { number, limit: limit ?? known.limit };
    } catch (error) {
      // Another process has replaced it meanwhile.
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
}

/** Writes the next version, and removes older ones; false if another process was faster. */
function writeVersion(folder: string, draft: string, number: number, text: string): boolean {
  const path = join(folder, `limit.${number}`);
  if (!linkNew(draft, path, text)) return false;
  const all = versions(folder);
  const isLatest = Math.max(...all) === number;
  for (const old of isLatest ? all.filter((other) => other < number) : [number]) {
    rmSync(join(folder, `limit.${old}`), { force: true });
  }
  return isLatest;
}

/** Creates a complete file; false if it exists. */
function linkNew(draft: string, path: string, text: string): boolean {
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function usable<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    const got = oneLine(cause instanceof Error ? cause.message : String(cause));
    throw new SourceError(`source: expected a writable state folder to share the rate limit, got ${got}`, {
      code: 'no-state',
      hint: 'set TONLAKE_STATE_DIR to a writable folder',
      cause,
    });
  }
}
