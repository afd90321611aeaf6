import { createHmac, randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFoldersSync } from '../../files/make-folders.ts';
import type { Environment } from '../../http/dispatcher.ts';
import type { Secret } from '../../http/secret.ts';

/** The address of a Unix socket must fit into 104 bytes on macOS, 108 on Linux. */
const LONGEST_SOCKET_PATH = 100;
const ORPHAN_MS = 600_000;

const leaderSchema = z.object({ socket: z.string(), pid: z.number() });

const memoSchema = z.object({
  /** Base URL, for people who look into the folder. */
  network: z.string(),
  found: z.number().positive().optional(),
  foundAt: z.number().optional(),
  last429: z.number().optional(),
  /** Wall clock of the last start, and the term, written when a leader closes. */
  lastStart: z.number().optional(),
  closedTerm: z.number().optional(),
});

/** What is remembered between processes; optional, and without secrets. Times are wall clock, in milliseconds. */
export type Memo = Readonly<z.infer<typeof memoSchema>>;

/** The record of a leader. The one with the highest term counts. */
export interface LeaderRecord {
  readonly term: number;
  /** Empty if its file cannot be read. */
  readonly socket: string;
}

/** The folder of one network and key on this machine. */
export interface StateFolder {
  readonly path: string;
  readonly baseUrl: string;
}

/** Folder for the state of this machine: TONLAKE_STATE_DIR, else below XDG_STATE_HOME or ~/.local/state. */
export function stateDirectory(env: Environment): string {
  const own = env['TONLAKE_STATE_DIR'];
  if (own !== undefined && own !== '') return own;
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && xdg !== '') return join(xdg, 'tonlake');
  return join(env['HOME'] || homedir(), '.local', 'state', 'tonlake');
}

/**
 * The folder of a network and key, created if missing. Its name is a keyed hash, so nothing reveals the key. It includes the host
 * name, because machines that share a home folder cannot share a socket.
 *
 * @throws an error of the file system if the folder cannot be used
 */
export function openStateFolder(env: Environment, baseUrl: string, key: Secret | undefined): StateFolder {
  const root = join(stateDirectory(env), 'budget');
  makeFoldersSync(root, 0o700);
  const identity = JSON.stringify([hostname(), baseUrl, key === undefined ? null : key.reveal()]);
  const name = createHmac('sha256', readSalt(root)).update(identity).digest('hex').slice(0, 16);
  const path = join(root, name);
  makeFoldersSync(path, 0o700);
  return { path, baseUrl };
}

/** A new address to listen on. */
export function socketPath(folder: StateFolder): string {
  const name = `${randomBytes(6).toString('hex')}.sock`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\tonlake-${name}`;
  const path = join(folder.path, name);
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path;
  const uid = process.getuid?.() ?? 0;
  const short = join(Buffer.byteLength(tmpdir()) < 50 ? tmpdir() : '/tmp', `tonlake-${uid}`);
  makeFoldersSync(short, 0o700);
  const found = lstatSync(short);
  // Other users can create folders in /tmp: use it only if it is ours and private.
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(`expected ${short} to be a private folder of this user`);
  }
  return join(short, name);
}

/** The leader with the highest term; it may be dead. */
export function readLeader(folder: StateFolder): LeaderRecord | undefined {
  const term = Math.max(0, ...terms(folder));
  if (term === 0) return undefined;
  try {
    const text = readFileSync(leaderPath(folder, term), 'utf8');
    return { term, socket: leaderSchema.parse(JSON.parse(text)).socket };
  } catch {
    return { term, socket: '' };
  }
}

/**
 * Becomes the leader of a term, unless another process leads it or a later one. The file is linked, so it is complete or absent, and
 * the file with the highest term is never removed, so terms only increase: of several processes that found the previous leader dead,
 * one wins. Synchronous, so that no other work of this process runs between the steps.
 */
export function claimTerm(folder: StateFolder, term: number, socket: string): boolean {
  if (!createFile(folder.path, leaderPath(folder, term), JSON.stringify({ socket, pid: process.pid }))) return false;
  if (!isLatest(folder, term)) {
    rmSync(leaderPath(folder, term), { force: true });
    return false;
  }
  sweep(folder, term);
  return true;
}

/** True if no process has claimed a later term. */
export function isLatest(folder: StateFolder, term: number): boolean {
  return terms(folder).every((other) => other <= term);
}

/** The memo of a network; empty if missing or unreadable. */
export function readMemo(folder: StateFolder): Memo {
  try {
    return memoSchema.parse(JSON.parse(readFileSync(join(folder.path, 'memo.json'), 'utf8')));
  } catch {
    return { network: folder.baseUrl };
  }
}

/** Replaces the memo atomically. */
export function writeMemo(folder: StateFolder, memo: Memo): void {
  const path = join(folder.path, 'memo.json');
  const draft = join(folder.path, `draft.${randomBytes(6).toString('hex')}`);
  writeFileSync(draft, `${JSON.stringify(memo)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function terms(folder: StateFolder): number[] {
  return readdirSync(folder.path).flatMap((name) => {
    const [, digits] = /^leader\.(\d+)$/.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function leaderPath(folder: StateFolder, term: number): string {
  return join(folder.path, `leader.${term}`);
}

/** Removes files of earlier leaders. */
function sweep(folder: StateFolder, term: number): void {
  for (const old of terms(folder).filter((other) => other < term)) {
    try {
      const { socket } = leaderSchema.parse(JSON.parse(readFileSync(leaderPath(folder, old), 'utf8')));
      if (process.platform !== 'win32' && socket.endsWith('.sock')) rmSync(socket, { force: true });
    } catch {
      // Unreadable, or removed by another process.
    }
    rmSync(leaderPath(folder, old), { force: true });
  }
  for (const name of readdirSync(folder.path)) {
    if (!name.startsWith('draft.') && !name.endsWith('.sock')) continue;
    const path = join(folder.path, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const socket = readLeader(folder)?.socket;
    if (changed !== undefined && Date.now() - changed > ORPHAN_MS && path !== socket) rmSync(path, { force: true });
  }
}

/** Created by the first process. */
function readSalt(root: string): string {
  const path = join(root, 'salt');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    createFile(root, path, randomBytes(32).toString('hex'));
  }
  return readFileSync(path, 'utf8');
}

/** Creates a complete file; false if it exists. */
function createFile(folder: string, path: string, text: string): boolean {
  const draft = join(folder, `draft.${randomBytes(6).toString('hex')}`);
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
