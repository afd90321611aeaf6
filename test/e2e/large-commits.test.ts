import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, type RunOptions, type RunReport, run } from '../../src/export/run.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EVERY, SOME_STATES, walkFolder } from '../own-pipeline.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, entriesOf } from '../verify/support.ts';
import { killOwner, listAll } from '../warehouse/warehouses.ts';

// 2026-05-02 begins with block 5000.
const sandbox = await startTestSandbox({ blocks: 6000 });

/** A list of every tenth block, in spans of 20 blocks. */
const registry = await loadRegistry(walkFolder(EVERY.replace('SPAN_BLOCKS = 1000', 'SPAN_BLOCKS = 20'), SOME_STATES));

test('a run over midnight gives the same rows in large commits and in small ones, in both stores', async () => {
  const midnight = (path: string, more: Partial<RunOptions> = {}): Promise<RunReport> =>
    run({ pipelines: ['transactions'], network: sandbox.url, range: '4200:5020', warehouse: path, ...more });
  const small = join(freshFolder(), 'w');
  expect(await midnight(small, { commitEveryMs: 0 })).toMatchObject({ complete: true, spans: 3 });
  const expected = await contentOf(small, registry);
  // Small commits into a file: below.
  for (const name of ['w', 'w.duckdb']) {
    const large = join(freshFolder(), name);
    const report = await midnight(large);
    expect(report).toMatchObject({ complete: true, spans: 2 });
    expect({ name, content: await contentOf(large, registry) }).toEqual({ name, content: expected });
    for (const { tables } of await entriesOf(large)) {
      for (const { files, rows } of Object.values(tables)) {
        if (name === 'w') expect(files.reduce((sum, file) => sum + file.rows, 0)).toBe(rows);
        expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
      }
    }
  }
});

describe.each(['w', 'w.duckdb'])('a run of many spans into %s', (name) => {
  const states = (path: string, more: Partial<RunOptions> = {}): Promise<RunReport> => {
    const given = { pipelines: ['some_states'], network: sandbox.url, range: '1000:1399', registry };
    return run({ ...given, warehouse: path, ...more });
  };
  const spans = async (path: string) => (await entriesOf(path)).map(({ span: { from, to } }) => `${from}:${to}`);

  /** Calls `act` when that many spans have ended. */
  const after = (count: number, act: () => void) => {
    let ended = 0;
    return (event: RunEvent): void => {
      if (event.event === 'progress' && event.seqnos > 0 && ++ended === count) act();
    };
  };

  let expected: unknown;
  beforeAll(async () => {
    const path = join(freshFolder(), name);
    expect(await states(path, { commitEveryMs: 0 })).toMatchObject({ complete: true, spans: 20 });
    expected = await contentOf(path, registry);
  });

  test('is one commit', async () => {
    const path = join(freshFolder(), name);
    expect(await states(path)).toMatchObject({ complete: true, spans: 1 });
    expect(await spans(path)).toEqual(['1000:1399']);
    expect(await contentOf(path, registry)).toEqual(expected);
  });

  test('that is killed before its commit leaves nothing of it, and the next run brings all in', async () => {
    const folder = freshFolder();
    const path = join(folder, name);
    const killed = freshFolder();
    // What kill -9 would leave: a copy of everything on the disk while the files are open.
    const copy = after(10, () => cpSync(folder, killed, { recursive: true }));
    await states(path, { onEvent: copy });
    const copied = join(killed, name);
    await killOwner(name === 'w' ? join(copied, '_lock') : `${copied}.lock`);
    expect((await listAll(killed)).some((file) => file.endsWith('.rows.parquet'))).toBe(true);
    expect(await states(copied)).toMatchObject({ complete: true, spans: 1 });
    expect(await contentOf(copied, registry)).toEqual(expected);
    expect((await listAll(killed)).filter((file) => file.endsWith('.rows.parquet'))).toEqual([]);
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('that is interrupted commits what is proven', async () => {
    const path = join(freshFolder(), name);
    const stop = new AbortController();
    const report = await states(path, { stop: stop.signal, onEvent: after(8, () => stop.abort()) });
    expect(report).toMatchObject({ complete: false, spans: 1 });
    const [entry] = await entriesOf(path);
    expect(entry?.span.from).toBe(1000);
    expect(entry?.span.to).toBeGreaterThanOrEqual(1159);
    expect(entry?.span.to).toBeLessThan(1399);
    expect(await states(path)).toMatchObject({ complete: true, spans: 1 });
    expect(await contentOf(path, registry)).toEqual(expected);
  });

  test('whose source refuses to go on commits what is proven', async () => {
    const path = join(freshFolder(), name);
    const refuse = after(8, () => {
      sandbox.answer = () => ({ status: 401, body: '{"error": "API key does not exist"}' });
    });
    const network = sandbox.url;
    await expect(states(path, { network, onEvent: refuse })).rejects.toMatchObject({ name: 'SourceError' });
    sandbox.answer = undefined;
    expect(await spans(path)).toEqual([expect.stringMatching(/^1000:/)]);
    expect(await states(path, { network })).toMatchObject({ complete: true });
    expect(await contentOf(path, registry)).toEqual(expected);
  });

  test('and of two pipelines commits each at its end', async () => {
    const path = join(freshFolder(), name);
    const report = await states(path, { pipelines: ['some_states', 'blocks'], range: '1000:1059' });
    expect(report).toMatchObject({ complete: true, spans: 2 });
    expect((await entriesOf(path)).map(({ pipeline }) => pipeline).sort()).toEqual(['blocks', 'some_states']);
  });
});

test('rows may not wait for their commit longer than a day', async () => {
  const options = { pipelines: ['blocks'], network: sandbox.url, range: '1000', warehouse: join(freshFolder(), 'w') };
  await expect(run({ ...options, commitEveryMs: 86_400_001 })).rejects.toMatchObject({ name: 'UsageError' });
  await expect(run({ ...options, commitEveryMs: -1 })).rejects.toThrow('got -1 ms');
  await expect(run({ ...options, commitEveryMs: Number.NaN })).rejects.toThrow('got NaN ms');
});
