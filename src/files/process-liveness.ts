import { execFile } from 'node:child_process';
import { readFile, readlink, statfs } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import { promisify } from 'node:util';
import { failedWith } from './disk.ts';

/** A process, told apart from a later one that got the same number, and from one that is numbered elsewhere. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, as the system tells it; only ever compared. Empty where the system does not tell. */
  readonly startedAt: string;
  readonly host: string;
  /** Linux: the start of the kernel it runs on. Absent in marks of older versions. */
  readonly bootId?: string | undefined;
  /** Linux: the namespace that its number is of; each container has its own. Absent in marks of older versions. */
  readonly pidNamespace?: string | undefined;
}

/** What can be said of a process. `elsewhere`: it is of another machine or container, and cannot be asked. */
export type Fate = 'running' | 'gone' | 'elsewhere';

/** What the system tells of itself; tests hand in another one. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly host: () => string;
  /** How long the kernel runs, in milliseconds. */
  readonly uptimeMs: () => number;
  readonly readText: (path: string) => Promise<string>;
  readonly readLink: (path: string) => Promise<string>;
  /** Number of the kind of file system that a path is on. */
  readonly fileSystem: (path: string) => Promise<number>;
  /** Throws what signal 0 to a process fails with. */
  readonly probe: (pid: number) => void;
}

const realSystem: System = {
  platform: process.platform,
  host: hostname,
  // A container may be told its own age; the steady clock is the kernel's, but stands still while the machine sleeps.
  uptimeMs: () => Math.max(uptime() * 1000, Number(process.hrtime.bigint()) / 1e6),
  readText: (path) => readFile(path, 'utf8'),
  readLink: (path) => readlink(path),
  fileSystem: async (path) => (await statfs(path)).type,
  probe: (pid) => {
    process.kill(pid, 0);
  },
};

/** File systems on a disk of the machine itself: ext, XFS, Btrfs, F2FS, ZFS, bcachefs, and the layers of a container. */
const OWN_DISKS: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630],
]);

/** The mark of a process of this machine. */
export async function readMark(pid = process.pid, system = realSystem): Promise<ProcessMark> {
  return { pid, startedAt: (await readStart(pid, system)) ?? '', ...(await readPlace(system)) };
}

/**
 * Whether a process still runs that left its mark in a file.
 *
 * A number says nothing in another container, even of the same machine, nor does its absence. Of another start of the machine
 * nothing runs any more; but two machines can have one name and one shared disk. So that is believed only where the file is on a
 * disk that no other machine writes, and was written before this one started.
 *
 * @param since ISO 8601: when the mark was left
 */
export async function readFate(
  mark: ProcessMark,
  { path, since }: { readonly path: string; readonly since: string },
  system = realSystem,
): Promise<Fate> {
  const here = await readPlace(system);
  if (mark.host !== here.host) return 'elsewhere';
  if (mark.bootId !== undefined && mark.bootId !== here.bootId) {
    if (here.bootId === undefined) return 'elsewhere';
    const isOlder = Date.parse(since) < Date.now() - system.uptimeMs();
    return isOlder && (await isOnOwnDisk(path, system)) ? 'gone' : 'elsewhere';
  }
  if (mark.pidNamespace !== undefined && mark.pidNamespace !== here.pidNamespace) return 'elsewhere';
  const startedAt = await readStart(mark.pid, system);
  if (startedAt === undefined) return 'gone';
  const isKnown = startedAt !== '' && mark.startedAt !== '';
  return isKnown && startedAt !== mark.startedAt ? 'gone' : 'running';
}

/** Where numbers of processes mean the same. */
async function readPlace(system: System): Promise<Pick<ProcessMark, 'host' | 'bootId' | 'pidNamespace'>> {
  const host = system.host();
  if (system.platform !== 'linux') return { host };
  const bootId = await system.readText('/proc/sys/kernel/random/boot_id').catch(() => undefined);
  const pidNamespace = await system.readLink('/proc/self/ns/pid').catch(() => undefined);
  return {
    host,
    ...(bootId === undefined ? {} : { bootId: bootId.trim() }),
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
  };
}

async function isOnOwnDisk(path: string, system: System): Promise<boolean> {
  return system.fileSystem(path).then(
    (type) => OWN_DISKS.has(type),
    () => false,
  );
}

/** When a process started; empty where it runs, or may run, and the system does not tell; undefined when there is none. */
async function readStart(pid: number, system: System): Promise<string | undefined> {
  if (system.platform === 'linux') {
    const line = await system.readText(`/proc/${pid}/stat`).catch(() => undefined);
    // The second field, a name in brackets, may hold anything; those after it are told apart by blanks.
    const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
    if (fields?.[0] === 'Z' || fields?.[0] === 'X') return undefined;
    if (fields?.[19] !== undefined) return fields[19];
  } else if (system.platform !== 'win32') {
    const startedAt = await readStartByPs(pid);
    if (startedAt !== '') return startedAt;
  }
  // Where processes of other users are hidden, a file that is not there is no proof.
  if (!isThere(pid, system)) return undefined;
  return system.platform === 'win32' ? 'running' : '';
}

async function readStartByPs(pid: number): Promise<string> {
  // The same text in every language and zone.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
  const asked = promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { env });
  return asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
}

/** Whether there is a process with the number; one that may not be signalled is there as well. */
function isThere(pid: number, system: System): boolean {
  try {
    system.probe(pid);
    return true;
  } catch (error) {
    return !failedWith(error, 'ESRCH');
  }
}
