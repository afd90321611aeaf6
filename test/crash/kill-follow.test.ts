import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake } from '../cli.ts';
import { hashTables } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

test.each(['w', 'w.duckdb'])(
  `kill -9 while following into %s: nothing is missing or there twice after ${KILLS} kills (TONLAKE_CRASH_SEED=${SEED})`,
  async (name) => {
    const sandbox = await startSandbox({ blocks: 1000, blockMs: 400 });
    onTestFinished(() => sandbox.close());
    const warehouse = join(freshFolder(), name);
    const args = ['follow', 'jetton_transfers', '--network', sandbox.url, '-w', warehouse, '--lag', '2s', '--json'];
    const chance = chanceOf(SEED);
    for (let kill = 1; kill <= KILLS; kill++) {
      const following = startTonlake([...args, ...(kill === 1 ? ['--from', '981'] : [])]);
      const ms = kill === 1 ? 6_000 : 500 + Math.round(chance() * 5_000);
      const timer = setTimeout(() => following.kill('SIGKILL'), ms);
      const { signal, stderr } = await following.finished;
      clearTimeout(timer);
      process.stdout.write(`${name}: kill ${kill} of ${KILLS} after ${ms} ms, head ${sandbox.head()}\n`);
      expect({ signal, errors: stderr.match(/^error.*/gm) }).toEqual({ signal: 'SIGKILL', errors: null });
    }
    const head = sandbox.head();
    const last = startTonlake(args);
    await last.until('stdout', new RegExp(`"event":"lag","block":(${reaches(head)})`));
    last.kill('SIGTERM');
    const { code, stdout } = await last.finished;
    const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect({ code, from: report.from }).toEqual({ code: 130, from: 981 });
    // The signal may have come between the pipelines of a round.
    const once = join(freshFolder(), 'once');
    for (const each of [warehouse, once]) {
      const range = `981:${report.to}`;
      await run({ pipelines: ['jetton_transfers'], network: sandbox.url, warehouse: each, range });
    }
    expect(await hashTables(warehouse)).toEqual(await hashTables(once));
  },
);

/** A pattern of the numbers from one on, up to two hundred more. */
function reaches(from: number): string {
  return Array.from({ length: 200 }, (_, i) => from + i).join('|');
}
