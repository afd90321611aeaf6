import { execFile } from 'node:child_process';
import { readFile, readlink, statfs } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import { promisify } from 'node:util';
import * as z from 'zod';
import { failedWith } from '../core/failed-with.ts';
import { omitUndefined } from '../core/omit-undefined.ts';

/** Identifies a process, as opposed to a later one with the same pid or one in another container. */
export const markSchema = z.object({
  pid: z.number(),
  /** Start time in the format of the system, only for comparison. Empty if the system does not provide it. */
  startedAt: z.string(),
  host: z.string(),
  /** Linux: boot id of the kernel, if `/proc` can be read. */
  bootId: z.string().optional(),
  /** Linux: PID namespace; each container has its own. Absent if `/proc` cannot be read. */
  pidNamespace: z.string().optional(),
});
export type ProcessMark = Readonly<z.output<typeof markSchema>>;

/** State of a process. `elsewhere`: it is on another machine or in another container, so its state is unknown. */
export type ProcessState = 'running' | 'gone' | 'elsewhere';

/** System calls; tests pass their own. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly host: () => string;
  /** Uptime of the kernel, in milliseconds. */
  readonly uptimeMs: () => number;
  readonly readText: (path: string) => Promise<string>;
  readonly readLink: (path: string) => Promise<string>;
  /** Type of the file system of a path. */
  readonly fileSystem: (path: string) => Promise<number>;
  /** Sends signal 0 to a process. */
  readonly probe: (pid: number) => void;
}

const realSystem: System = {
  platform: process.platform,
  host: hostname,
  // Containers may see their own uptime; the monotonic clock is the kernel's, but stops while the machine sleeps.
  uptimeMs: () => Math.max(uptime() * 1000, Number(process.hrtime.bigint()) / 1e6),
  readText: (path) => readFile(path, 'utf8'),
  readLink: (path) => readlink(path),
  fileSystem: async (path) => (await statfs(path)).type,
  probe: (pid) => {
    process.kill(pid, 0);
  },
};

/** File systems on local disks: ext, XFS, Btrfs, F2FS, ZFS, bcachefs, and overlayfs of containers. */
const OWN_DISKS: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630],
]);

/** The mark of a process of this machine. */
export async function readMark(pid = process.pid, system = realSystem): Promise<ProcessMark> {
  return { pid, startedAt: (await readStart(pid, system)) ?? '', ...(await readPlace(system)) };
}

/** Where, and when, a process left its mark. */
interface LeftMark {
  /** A file or folder beside it; undefined in an object store, which other machines of the same name may share. */
  readonly path?: string;
  /** ISO 8601. */
  readonly since: string;
}

/**
 * Finds out whether the process that left its mark in a file is still running.
 *
 * A pid means nothing in another container, even on the same machine. Processes from before a reboot are gone; but two machines can have
 * the same name and share a disk, so that is assumed only if the file is on a local disk and older than the boot.
 */
export async function readProcessState(
  mark: ProcessMark,
  { path, since }: LeftMark,
  system = realSystem,
): Promise<ProcessState> {
  const here = await readPlace(system);
  if (mark.host !== here.host) return 'elsewhere';
  if (mark.bootId === undefined) {
    if (path === undefined) return 'elsewhere';
  } else if (mark.bootId !== here.bootId) {
    if (here.bootId === undefined || path === undefined) return 'elsewhere';
    const isOlder = Date.parse(since) < Date.now() - system.uptimeMs();
    return isOlder && (await isOnOwnDisk(path, system)) ? 'gone' : 'elsewhere';
  }
  if (mark.pidNamespace !== undefined && mark.pidNamespace !== here.pidNamespace) return 'elsewhere';
  const startedAt = await readStart(mark.pid, system);
  if (startedAt === undefined) return 'gone';
  const isKnown = startedAt !== '' && mark.startedAt !== '';
  return isKnown && startedAt !== mark.startedAt ? 'gone' : 'running';
}

/** The machine and container in which pids are valid. */
async function readPlace(system: System): Promise<Pick<ProcessMark, 'host' | 'bootId' | 'pidNamespace'>> {
  const host = system.host();
  if (system.platform !== 'linux') return { host };
  const bootId = await system.readText('/proc/sys/kernel/random/boot_id').catch(() => undefined);
  const pidNamespace = await system.readLink('/proc/self/ns/pid').catch(() => undefined);
  return { host, ...omitUndefined({ bootId: bootId?.trim(), pidNamespace }) };
}

async function isOnOwnDisk(path: string, system: System): Promise<boolean> {
  return system.fileSystem(path).then(
    (type) => OWN_DISKS.has(type),
    () => false,
  );
}

/** Start time of a process; empty if it may be running but the time is unknown; undefined if it does not exist. */
async function readStart(pid: number, system: System): Promise<string | undefined> {
  if (system.platform === 'linux') {
    const line = await system.readText(`/proc/${pid}/stat`).catch(() => undefined);
    // The second field, a name in brackets, may contain anything; the others are separated by spaces.
    const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
    if (fields?.[0] === 'Z' || fields?.[0] === 'X') return undefined;
    if (fields?.[19] !== undefined) return fields[19];
  } else if (system.platform !== 'win32') {
    const startedAt = await readStartByPs(pid);
    if (startedAt !== '') return startedAt;
  }
  // If processes of other users are hidden, a missing file proves nothing.
  if (!isThere(pid, system)) return undefined;
  return system.platform === 'win32' ? 'running' : '';
}

async function readStartByPs(pid: number): Promise<string> {
  // The same text in every locale and time zone.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
  const output = promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { env });
  return output.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
}

/** True if a process with the pid exists, even if it must not be signalled. */
function isThere(pid: number, system: System): boolean {
  try {
    system.probe(pid);
    return true;
  } catch (error) {
    return !failedWith(error, 'ESRCH');
  }
}
