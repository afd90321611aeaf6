import crypto from 'node:crypto';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';
import { failedCall, type Node, type SimulatedDisk } from './disk.ts';
import type { World } from './world.ts';

/** What the calls of Node reach while a simulation runs. */
interface Machine {
  readonly world: World;
  readonly disk: SimulatedDisk;
}

let machine: Machine | undefined;

/** Lets the calls of Node reach a machine until the next one. Undefined: the real one. */
export function useMachine(next: Machine | undefined): void {
  machine = next;
}

type Options = Readonly<Record<string, unknown>> | string | undefined;

const flag = (options: Options, name: string): boolean =>
  typeof options === 'object' && options[name] === true;

const isText = (options: Options): boolean => options === 'utf8' || (typeof options === 'object' && options['encoding'] === 'utf8');

const bytesOf = (data: unknown): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : (data as Uint8Array));

/** Also `lstat`: a simulated disk has no symbolic links. */
const stat = ({ disk }: Machine, path: string, options?: Options): unknown =>
  statsOf(disk.get(path, 'stat'), flag(options, 'bigint'));

/** The calls on a simulated disk, at once. */
const onDisk = {
  stat,
  lstat: stat,
  readFile: ({ disk }: Machine, path: string, options?: Options) => {
    const bytes = disk.read(path);
    return isText(options) ? bytes.toString('utf8') : bytes;
  },
  readdir: ({ disk }: Machine, path: string, options?: Options) => {
    const { names, isFolder } = disk.get(path, 'scandir');
    if (!isFolder) throw failedCall('ENOTDIR', 'scandir', path);
    if (!flag(options, 'withFileTypes')) return [...names.keys()];
    return [...names].map(([name, node]) => ({ name, isDirectory: () => node.isFolder, isFile: () => !node.isFolder }));
  },
  writeFile: ({ disk }: Machine, path: string, data: unknown, options?: Options) => {
    const isExclusive = typeof options === 'object' && options['flag'] === 'wx';
    disk.write(disk.create(path, isExclusive), bytesOf(data), 0, true);
  },
  copyFile: ({ disk }: Machine, from: string, to: string) => disk.write(disk.create(to, false), disk.read(from), 0, true),
  link: ({ disk }: Machine, from: string, to: string) => disk.link(from, to),
  rename: ({ disk }: Machine, from: string, to: string) => disk.rename(from, to),
  unlink: ({ disk }: Machine, path: string) => disk.unlink(path),
  rmdir: ({ disk }: Machine, path: string) => disk.removeFolder(path),
  access: ({ disk }: Machine, path: string) => void disk.get(path, 'access'),
  realpath: ({ disk }: Machine, path: string) => (disk.get(path, 'realpath'), path),
  // ext4, which is a disk of this machine.
  statfs: () => ({ type: 0xef53, bavail: 1e9, bsize: 4096 }),
  rm: ({ disk }: Machine, path: string, options?: Options) => {
    const node = disk.find(path);
    if (node === undefined && flag(options, 'force')) return;
    if (node?.isFolder === true && !flag(options, 'recursive')) throw failedCall('ERR_FS_EISDIR', 'rm', path);
    disk.remove(path);
  },
  mkdir: ({ disk }: Machine, path: string, options?: Options) => {
    if (!flag(options, 'recursive')) return disk.makeFolder(path);
    for (let end = path.indexOf('/', 1); ; end = path.indexOf('/', end + 1)) {
      const part = end < 0 ? path : path.slice(0, end);
      if (disk.has(part) && disk.find(part) === undefined) disk.makeFolder(part);
      if (end < 0) return;
    }
  },
  mkdtemp: ({ disk, world }: Machine, prefix: string) => {
    const path = prefix + world.effects.freshId();
    disk.makeFolder(path);
    return path;
  },
} as const;

/** Files of the kernel that tell processes apart. */
function procFile({ world }: Machine, path: string): string {
  if (path === '/proc/sys/kernel/random/boot_id') return `boot-${world.boots}\n`;
  const pid = Number(/^\/proc\/(\d+)\/stat$/.exec(path)?.[1]);
  const found = world.processes.find((process) => process.pid === pid);
  if (found === undefined) throw failedCall('ENOENT', 'open', path);
  // The start time is the 22nd field.
  return `${pid} (node) S ${'0 '.repeat(18)}${found.startedAt} 0`;
}

class SimulatedFile {
  readonly #machine: Machine;
  readonly #node: Node;
  readonly #path: string;
  #position = 0;

  constructor(own: Machine, node: Node, path: string) {
    this.#machine = own;
    this.#node = node;
    this.#path = path;
  }

  #call<T>(name: string, work: () => T): Promise<T> {
    return this.#machine.world.call(`${name} ${this.#path}`, work);
  }

  write(data: unknown, position?: unknown): Promise<void> {
    return this.#call('write', () => {
      const bytes = bytesOf(data);
      this.#machine.disk.write(this.#node, bytes, typeof position === 'number' ? position : this.#position);
      if (typeof position !== 'number') this.#position += bytes.length;
    });
  }

  writeFile(data: unknown): Promise<void> {
    return this.write(data);
  }

  sync(): Promise<void> {
    return this.#call('fsync', () => this.#machine.disk.sync(this.#node));
  }

  async close(): Promise<void> {}
}

function open(own: Machine, path: string, flags: unknown): SimulatedFile {
  const { disk } = own;
  const node = flags === 'w' || flags === 'wx' ? disk.create(path, flags === 'wx') : disk.get(path, 'open');
  return new SimulatedFile(own, node, path);
}

/**
 * Puts the calls of this process that reach files, clocks and other processes under the control of the simulation, for paths of its disk.
 * Modules that have imported them by name see them, too.
 */
export function takeCalls(): void {
  const promises = fsp as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const [name, work] of Object.entries(onDisk)) {
    const real = promises[name];
    promises[name] = (...given: unknown[]) => {
      const own = machineOf(given);
      if (own === undefined) return real?.(...given);
      const call = work as (own: Machine, ...given: unknown[]) => unknown;
      return own.world.call(`${name} ${given.filter((each) => String(each).startsWith('/')).join(' ')}`, () =>
        String(given[0]).startsWith('/proc/') ? procFile(own, String(given[0])) : call(own, ...given),
      );
    };
  }
  const { open: realOpen, readlink: realLink } = fsp;
  promises['open'] = (...given: unknown[]) => {
    const own = machineOf(given);
    if (own === undefined) return realOpen(...(given as Parameters<typeof realOpen>));
    const [path, flags] = given;
    return own.world.call(`open ${path} ${flags}`, () => open(own, String(path), flags));
  };
  promises['readlink'] = async (...given: unknown[]) =>
    machine === undefined ? realLink(...(given as Parameters<typeof realLink>)) : 'pid:[1]';
  refuseOthers(promises, [...Object.keys(onDisk), 'open', 'readlink']);
  takeSyncCalls();
  takeClocks();
  syncBuiltinESMExports();
}

/**
 * Ends a simulation whose code makes a call that is not imitated. The real one would answer for a disk that has no such file, at a time
 * that no seed decides.
 */
function refuseOthers(calls: Record<string, unknown>, imitated: readonly string[]): void {
  for (const [name, real] of Object.entries(calls)) {
    // Classes and their constructors begin with a capital letter.
    if (imitated.includes(name) || typeof real !== 'function' || /^[A-Z_]/.test(name)) continue;
    calls[name] = (...given: unknown[]) => {
      const own = machineOf(given);
      if (own === undefined) return real(...given);
      own.world.break(`the simulation does not imitate ${name} ${String(given[0])}`);
      throw failedCall('ENOSYS', name, String(given[0]));
    };
  }
}

function takeSyncCalls(): void {
  const calls = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  const take = (name: string, work: (own: Machine, path: string, options: Options) => unknown): void => {
    const real = calls[name];
    calls[name] = (...given: unknown[]) => {
      const own = machineOf(given);
      return own === undefined ? real?.(...given) : work(own, String(given[0]), given[1] as Options);
    };
  };
  take('statSync', (own, path, options) => {
    const isQuiet = typeof options === 'object' && options['throwIfNoEntry'] === false;
    return isQuiet && own.disk.find(path) === undefined ? undefined : onDisk.stat(own, path, options);
  });
  take('readFileSync', onDisk.readFile);
  take('existsSync', (own, path) => own.disk.find(path) !== undefined);
  take('mkdirSync', onDisk.mkdir);
  refuseOthers(calls, ['statSync', 'readFileSync', 'existsSync', 'mkdirSync']);
}

function takeClocks(): void {
  const real = { setImmediate: timers.setImmediate, setTimeout: timers.setTimeout, now: Date.now, uptime: os.uptime };
  const { pid } = process;
  const { randomUUID } = crypto;
  const random = crypto as unknown as Record<string, unknown>;
  random['randomUUID'] = () => machine?.world.effects.freshId() ?? randomUUID();
  const elapsed = performance.now.bind(performance);
  const hrtime = process.hrtime.bigint.bind(process.hrtime);
  const calls = timers as unknown as Record<string, unknown>;
  calls['setImmediate'] = (value: unknown) =>
    machine?.world.process === undefined ? real.setImmediate(value) : Promise.resolve(value);
  calls['setTimeout'] = (ms: number, value: unknown, options?: { signal?: AbortSignal }) =>
    machine?.world.process === undefined ? real.setTimeout(ms, value, options) : machine.world.sleep(ms, options?.signal);
  Date.now = () => machine?.world.effects.now() ?? real.now();
  performance.now = () => machine?.world.effects.monotonic() ?? elapsed();
  process.hrtime.bigint = () => (machine === undefined ? hrtime() : BigInt(Math.floor(machine.world.effects.monotonic())) * 1_000_000n);
  os.uptime = () => (machine === undefined ? real.uptime() : machine.world.effects.monotonic() / 1000);
  const kill = process.kill.bind(process);
  process.kill = (other, signal) => {
    if (machine?.world.process === undefined) return kill(other, signal);
    if (machine.world.processes.some((each) => each.pid === other)) return true;
    throw failedCall('ESRCH', 'kill', String(other));
  };
  Object.defineProperty(process, 'pid', { get: () => machine?.world.process?.pid ?? pid });
}

/** The machine of a simulated process whose call is about a path of its disk, or of the kernel. */
function machineOf(given: readonly unknown[]): Machine | undefined {
  const [path] = given;
  if (machine?.world.process === undefined || typeof path !== 'string') return undefined;
  return machine.disk.has(path) || path.startsWith('/proc/') ? machine : undefined;
}

function statsOf({ ino, links, bytes, isFolder, changedAt, modifiedAt }: Node, isBig: boolean): unknown {
  const kind = { isDirectory: () => isFolder, isFile: () => !isFolder };
  if (isBig) return { ...kind, ino, dev: 1n, nlink: BigInt(links), size: BigInt(bytes.length), ctimeNs: changedAt, mtimeNs: modifiedAt };
  const ms = (time: bigint): number => Number(time / 1000n) / 1000;
  return { ...kind, ino: Number(ino), dev: 1, nlink: links, size: bytes.length, mtimeMs: ms(modifiedAt), ctimeMs: ms(changedAt) };
}
