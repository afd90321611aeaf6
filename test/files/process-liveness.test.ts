import { expect, test } from 'vitest';
import { type ProcessMark, readMark, readProcessState, type System } from '../../src/files/process-liveness.ts';

const HOUR_MS = 3_600_000;
const EXT4 = 0xef53;
const NFS = 0x6969;

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A Linux machine that started an hour ago, on which process 7 runs. */
function machine(more: Partial<System> & { readonly files?: Readonly<Record<string, string | Error>> } = {}): System {
  const files: Readonly<Record<string, string | Error>> = {
    '/proc/7/stat': `7 (a ) name) S ${'0 '.repeat(18)}4711 0`,
    '/proc/sys/kernel/random/boot_id': 'boot-1\n',
    '/proc/self/ns/pid': 'pid:[1]',
    ...more.files,
  };
  const read = async (path: string): Promise<string> => {
    const found = files[path] ?? failure('ENOENT');
    if (typeof found === 'string') return found;
    throw found;
  };
  return {
    platform: 'linux',
    host: () => 'web',
    uptimeMs: () => HOUR_MS,
    readText: read,
    readLink: read,
    fileSystem: async () => EXT4,
    probe: (pid) => {
      if (pid !== 7) throw failure('ESRCH');
    },
    ...more,
  };
}

const mark = { pid: 7, startedAt: '4711', host: 'web', bootId: 'boot-1', pidNamespace: 'pid:[1]' };
const agoMs = (ms: number) => ({ path: '/w', since: new Date(Date.now() - ms).toISOString() });
const fateOf = (change: Partial<typeof mark> = {}, system = machine(), ms = 1000) =>
  readProcessState({ ...mark, ...change }, agoMs(ms), system);

test('a mark tells the number, the start, the machine, its start and whose number it is', async () => {
  expect(await readMark(7, machine())).toEqual(mark);
});

test('a process is known again by its number and its start', async () => {
  expect(await fateOf()).toBe('running');
  expect(await fateOf({ startedAt: '4712' })).toBe('gone');
  expect(await fateOf({ pid: 8 })).toBe('gone');
});

test('a process that ended and is not yet collected by its parent is gone', async () => {
  expect(await fateOf({}, machine({ files: { '/proc/7/stat': `7 (x) Z ${'0 '.repeat(18)}4711 0` } }))).toBe('gone');
});

test.each(['EPERM', 'EACCES', 'EINVAL', undefined])(
  'a process that /proc hides runs where a signal gives %s',
  async (code) => {
    const probe = (): void => {
      if (code !== undefined) throw failure(code);
    };
    for (const hidden of ['ENOENT', 'EACCES', 'EMFILE']) {
      expect(await fateOf({}, machine({ probe, files: { '/proc/7/stat': failure(hidden) } })), hidden).toBe('running');
    }
  },
);

test('nothing is said of a process of another machine, or of another container of the same', async () => {
  expect(await fateOf({ host: 'mail' })).toBe('elsewhere');
  expect(await fateOf({ pidNamespace: 'pid:[2]' })).toBe('elsewhere');
  expect(await fateOf({ pid: 8, pidNamespace: 'pid:[2]' })).toBe('elsewhere');
  expect(await fateOf({}, machine({ files: { '/proc/self/ns/pid': failure('EACCES') } }))).toBe('elsewhere');
  expect(await fateOf({}, machine({ files: { '/proc/sys/kernel/random/boot_id': failure('EACCES') } }))).toBe(
    'elsewhere',
  );
});

test('a process from before the machine started is gone, where no other machine can have left the mark', async () => {
  const before = { bootId: 'boot-0', pidNamespace: 'pid:[2]' };
  expect(await fateOf(before, machine(), 2 * HOUR_MS)).toBe('gone');
  expect(await fateOf(before, machine({ fileSystem: async () => NFS }), 2 * HOUR_MS)).toBe('elsewhere');
  const unknown = machine({ fileSystem: () => Promise.reject(failure('ENOSYS')) });
  expect(await fateOf(before, unknown, 2 * HOUR_MS)).toBe('elsewhere');
  // Another machine of the same name has left it while this one ran.
  expect(await fateOf(before, machine(), 1000)).toBe('elsewhere');
});

test('in an object store, which machines of one name may share, only a mark of this boot is judged', async () => {
  const { bootId: _, ...unknown } = mark;
  const since = new Date(0).toISOString();
  const stateOf = (left: ProcessMark) => readProcessState(left, { since }, machine());
  expect(await stateOf(mark)).toBe('running');
  expect(await stateOf({ ...mark, pid: 8 })).toBe('gone');
  for (const other of [unknown, { ...mark, bootId: 'boot-0' }]) {
    expect(await stateOf({ ...other, pid: 8 })).toBe('elsewhere');
  }
});

test('a mark of a process that cannot read /proc is judged by machine, number and start', async () => {
  const { pid, startedAt, host } = mark;
  const old = { pid, startedAt, host };
  expect(await readProcessState(old, agoMs(0), machine())).toBe('running');
  expect(await readProcessState({ ...old, startedAt: '4712' }, agoMs(0), machine())).toBe('gone');
  expect(await readProcessState({ ...old, host: 'mail' }, agoMs(0), machine())).toBe('elsewhere');
});

test('where the system tells no start, a process runs as long as its number is in use', async () => {
  const silent = machine({ files: { '/proc/7/stat': failure('ENOENT') } });
  expect(await readMark(7, silent)).toEqual({ ...mark, startedAt: '' });
  expect(await fateOf({ startedAt: '' })).toBe('running');
  expect(await fateOf({ startedAt: '', pid: 8 })).toBe('gone');
});

test('Windows tells no start: a process that may not be signalled runs', async () => {
  const probe = (pid: number): void => {
    throw failure(pid === 7 ? 'EPERM' : 'ESRCH');
  };
  const windows = machine({ platform: 'win32', probe });
  expect(await readMark(7, windows)).toEqual({ pid: 7, startedAt: 'running', host: 'web' });
  const left = { pid: 7, startedAt: 'running', host: 'web' };
  expect(await readProcessState(left, agoMs(0), windows)).toBe('running');
  expect(await readProcessState({ ...left, pid: 8 }, agoMs(0), windows)).toBe('gone');
});
