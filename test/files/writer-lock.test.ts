import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { readMark } from '../../src/files/process-liveness.ts';
import { type Lock, readLockHolder, takeLock } from '../../src/files/writer-lock.ts';
import { freshFolder } from '../scratch.ts';
import { withoutLinks } from '../warehouse/filesystem.ts';
import { listAll } from '../warehouse/warehouses.ts';

const take = (path: string) =>
  takeLock({ path, subject: 'warehouse /w', command: 'tonlake run', effects: realEffects });

const owner = {
  id: 'x',
  pid: 1,
  startedAt: 'never',
  host: hostname(),
  since: '2026-05-01T12:00:01.000Z',
  command: 'c',
};

async function startProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("up"); setInterval(() => {}, 1000)']);
  await once(child.stdout, 'data');
  return child;
}

test('a lock can be taken again once it is released', async () => {
  const path = join(freshFolder(), '_lock');
  const lock = await take(path);
  await expect(take(path)).rejects.toMatchObject({ code: 'busy' });
  expect((await readLockHolder(path))?.pid).toBe(process.pid);
  await lock.release();
  expect(await readLockHolder(path)).toBeUndefined();
  await (await take(path)).release();
  expect(await listAll(join(path, '..'))).toEqual([]);
});

test('the lock of a running process holds, and the message names it', async () => {
  const path = join(freshFolder(), '_lock');
  const child = await startProcess();
  const mark = await readMark(child.pid ?? 0);
  await writeFile(path, JSON.stringify({ ...owner, ...mark }));
  await expect(take(path)).rejects.toThrow(
    `store: warehouse /w is being written by process ${child.pid} since 2026-05-01T12:00:01Z (c)`,
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await take(path)).release();
});

test('a process that ended and is not yet collected by its parent does not hold a lock', async () => {
  const path = join(freshFolder(), '_lock');
  const child = await startProcess();
  const mark = await readMark(child.pid ?? 0);
  await writeFile(path, JSON.stringify({ ...owner, ...mark }));
  child.kill('SIGKILL');
  while ((await readLockHolder(path)) !== undefined) await realEffects.sleep(1);
  await (await take(path)).release();
});

test('a lock whose pid belongs to another process by now is taken over', async () => {
  const path = join(freshFolder(), '_lock');
  await writeFile(path, JSON.stringify({ ...owner, pid: process.pid }));
  await (await take(path)).release();
});

test('a lock of another machine holds, since nobody can ask it', async () => {
  const path = join(freshFolder(), '_lock');
  await writeFile(path, JSON.stringify({ ...owner, host: 'elsewhere' }));
  await expect(take(path)).rejects.toMatchObject({ code: 'busy', hint: expect.stringContaining(`remove ${path}`) });
});

test('a lock of another container of this machine holds, and the message says where to look', async () => {
  const path = join(freshFolder(), '_lock');
  const mark = await readMark();
  await writeFile(path, JSON.stringify({ ...owner, ...mark, pidNamespace: 'pid:[1]' }));
  await expect(take(path)).rejects.toMatchObject({
    code: 'busy',
    message: `store: warehouse /w is being written by process ${process.pid}, of another machine or container (host ${hostname()}), since 2026-05-01T12:00:01Z (c)`,
    hint: `wait for it to end, or stop it there; if it is gone, remove ${path}`,
  });
});

const inNamespace = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync('unshare', [...inNamespace, 'true']).status === 0;

test.skipIf(!canUnshare)('a process of another PID namespace does not take the lock of a running one', async () => {
  const path = join(freshFolder(), '_lock');
  const script = `
    import { takeLock } from ${JSON.stringify(new URL('../../dist/src/files/writer-lock.js', import.meta.url).href)};
    import { realEffects } from ${JSON.stringify(new URL('../../dist/src/core/effects.js', import.meta.url).href)};
    const take = () => takeLock({ path: ${JSON.stringify(path)}, subject: 'w', command: 'c', effects: realEffects });
    const word = await take().then(() => 'taken', ({ code }) => code);
    console.log(process.pid, word);
    process.stdin.resume();
  `;
  const start = async (): Promise<{ readonly said: string; readonly stop: () => Promise<unknown> }> => {
    const child = spawn('unshare', [...inNamespace, process.execPath, '--input-type=module', '-e', script]);
    const [said] = await once(child.stdout, 'data');
    const stop = (): Promise<unknown> => {
      child.stdin.end();
      return once(child, 'exit');
    };
    return { said: String(said).trim(), stop };
  };
  const first = await start();
  // The other way round, too: a namespace inside of this one.
  await expect(take(path)).rejects.toMatchObject({ code: 'busy' });
  const second = await start();
  expect([first.said, second.said]).toEqual(['1 taken', '1 busy']);
  await second.stop();
  await first.stop();
});

test('a lock file that says something else is an error that names it', async () => {
  const path = join(freshFolder(), '_lock');
  await writeFile(path, '{"locked": true}\n');
  await expect(take(path)).rejects.toThrow(`store: lock file ${path} cannot be read`);
});

test.each(['', '{"id":"x","pi'])(
  'the lock of a process that was killed while it wrote %j is taken over',
  async (text) => {
    const path = join(freshFolder(), '_lock');
    await writeFile(path, text);
    let takers: readonly PromiseSettledResult<Lock>[] = [];
    await withoutLinks(async () => {
      takers = await Promise.allSettled([take(path), take(path), take(path)]);
    });
    expect(takers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const taker of takers) {
      if (taker.status === 'rejected') expect(taker.reason).toMatchObject({ code: 'busy' });
      else await taker.value.release();
    }
    expect(await listAll(join(path, '..'))).toEqual([]);
  },
);

test('a lock file that is still being written is waited for', async () => {
  const path = join(freshFolder(), '_lock');
  await writeFile(path, '{"id":');
  const taking = take(path);
  taking.catch(() => {});
  await realEffects.sleep(100);
  await writeFile(path, `${JSON.stringify({ ...owner, ...(await readMark()) })}\n`);
  await expect(taking).rejects.toMatchObject({ code: 'busy' });
});

/** Takers that come at the same time, in rounds: a free lock, a dead owner, one with a successor that was killed as well. */
async function contend(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const path = join(freshFolder(), '_lock');
    if (round % 4 !== 0) await writeFile(path, JSON.stringify(owner));
    // A successor that was killed in the middle of its takeover.
    if (round % 4 === 2) await writeFile(`${path}.after-x`, JSON.stringify({ ...owner, id: 'y' }));
    const takers = await Promise.allSettled(Array.from({ length: 8 }, () => take(path)));
    const winners = takers.filter(({ status }) => status === 'fulfilled');
    expect(winners.length).toBe(1);
    for (const taker of takers) {
      if (taker.status === 'rejected') expect(taker.reason).toMatchObject({ code: 'busy' });
      else await taker.value.release();
    }
    expect(await listAll(join(path, '..'))).toEqual([]);
  }
}

test('of many that find a dead owner at the same time, exactly one takes over', () => contend(40));

test('so it is on a file system without hard links', () => withoutLinks(() => contend(20)));

// Node 20 cannot read TypeScript in a child process.
const canReadTypes = 'typescript' in process.features && Boolean(process.features.typescript);

test.skipIf(!canReadTypes)(
  'of many processes that find a dead owner at the same time, exactly one takes over',
  async () => {
    const path = join(freshFolder(), '_lock');
    await writeFile(path, JSON.stringify(owner));
    const script = `
    import { takeLock } from ${JSON.stringify(new URL('../../src/files/writer-lock.ts', import.meta.url).href)};
    import { realEffects } from ${JSON.stringify(new URL('../../src/core/effects.ts', import.meta.url).href)};
    process.stdin.once('data', async () => {
      try {
        await takeLock({ path: ${JSON.stringify(path)}, subject: 'w', command: 'c', effects: realEffects });
        console.log('taken');
        setTimeout(() => process.exit(), 1500);
      } catch (error) {
        console.log(error.code);
        process.exit();
      }
    });
    console.log('up');
  `;
    const children = Array.from({ length: 5 }, () => spawn(process.execPath, ['--input-type=module', '-e', script]));
    const answers = children.map(async (child) => {
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
      });
      await once(child.stdout, 'data');
      return { exit: once(child, 'exit'), text: () => text };
    });
    const up = await Promise.all(answers);
    for (const child of children) child.stdin.write('go\n');
    await Promise.all(up.map(({ exit }) => exit));
    const words = up.map(({ text }) => text().split('\n')[1]).sort();
    expect(words).toEqual(['busy', 'busy', 'busy', 'busy', 'taken']);
    expect(JSON.parse(await readFile(path, 'utf8'))).not.toMatchObject({ id: 'x' });
  },
);
