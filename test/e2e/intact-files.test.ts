import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, ledgerFiles, readEntry, repair, verify } from '../verify/support.ts';

/** A merged entry of five days, 12 blocks each: what a rewrite leaves alone stays in its files. */

const DAY_BLOCKS = 12;
const DAYS = 5;
/** In the middle of the second day. */
const GONE = '17:19';

const sandbox = await startTestSandbox({ blocks: 80, blockTimeMs: 86_400_000 / DAY_BLOCKS });
const merged = join(freshFolder(), 'w');
await run({ pipelines: ['transactions'], network: sandbox.url, range: `1:${DAYS * DAY_BLOCKS}`, warehouse: merged });
const { tables, pipelines } = await loadRegistry();
await compactWarehouse({ warehouse: merged, tables, pipelines, effects: realEffects });

/** The files of a table in force, by day. */
function filesOf(warehouse: string, table: string): ReadonlyMap<string, string> {
  const all = ledgerFiles(warehouse).map(readEntry);
  const over = new Set(all.flatMap(({ supersedes }) => supersedes));
  const files = all.filter(({ id }) => !over.has(id)).flatMap(({ tables }) => tables[table]?.files ?? []);
  return new Map(files.map(({ path }) => [/block_date=([^/]+)/.exec(path)?.[1] ?? '', path]));
}

test('blocks that are forgotten cost the file of their day: those of other days keep their names', async () => {
  const path = copyOf(merged);
  const before = filesOf(path, 'transactions');
  await forgetRange({ warehouse: path, pipelines: ['transactions'], range: GONE });
  const after = filesOf(path, 'transactions');
  expect(before.size).toBeGreaterThanOrEqual(DAYS);
  expect([...after.keys()]).toEqual([...before.keys()]);
  const changed = [...before].filter(([day, file]) => after.get(day) !== file).map(([day]) => day);
  expect(changed).toHaveLength(1);
  expect((await verify(path, { deep: true })).kinds).toEqual([]);
});

test('a lost file is read again from the source: files without its blocks keep their names, and marts of their days are current', async () => {
  const path = copyOf(merged);
  await buildMarts(path, { names: ['transactions_daily'] });
  const before = filesOf(path, 'transactions');
  const days = [...before.keys()];
  // A block at midnight has rows of both days, so the days next to the lost one are written again, too.
  const [first, second, lost, fourth, ...others] = days;
  rmSync(join(path, before.get(lost ?? '') ?? ''));
  const { kinds, content } = await repair(sandbox, path);
  expect(kinds).toEqual(['file-missing']);
  const after = filesOf(path, 'transactions');
  expect([...after.keys()]).toEqual(days);
  expect(days.filter((day) => before.get(day) === after.get(day))).toEqual([first, ...others]);
  expect(content).toEqual((await verify(merged)).report.content);
  expect(await contentOf(path)).toEqual(await contentOf(merged));
  const [build] = await buildMarts(path, { names: ['transactions_daily'] });
  expect(build?.days).toEqual([second, lost, fourth]);
});

test('a file that changed since the audit is not named again', async () => {
  const path = copyOf(merged);
  const [, [, file] = ['', '']] = [...filesOf(path, 'transactions')];
  const [, , [, other] = ['', '']] = [...filesOf(path, 'transactions')];
  cpSync(join(path, file), join(path, other));
  await expect(forgetRange({ warehouse: path, pipelines: ['transactions'], range: GONE })).rejects.toMatchObject({
    code: 'damaged',
  });
});

test('which blocks a file has is measured, not believed: a ledger that is wrong about it costs no row', async () => {
  const path = copyOf(merged);
  const files = [...filesOf(path, 'transactions').values()];
  const [, , lost = '', next = ''] = files;
  const entryPath = ledgerFiles(path).find(
    (each) => readEntry(each).tables['transactions']?.files.length === files.length,
  );
  const text = readFileSync(entryPath ?? '', 'utf8');
  const entry: LedgerEntry = JSON.parse(text);
  const file = entry.tables['transactions']?.files.find((each) => each.path === next);
  const [from, to, nulls] = file?.bounds['mc_block_seqno'] ?? [];
  // The first block of the file, at midnight, has rows in the lost one as well.
  const moved = { ...file?.bounds, mc_block_seqno: [String(Number(from) + 2), to, nulls] };
  const changed = text.replace(JSON.stringify(file), JSON.stringify({ ...file, bounds: moved }));
  expect(changed).not.toBe(text);
  writeFileSync(entryPath ?? '', changed);
  rmSync(join(path, lost));
  await repair(sandbox, path);
  expect((await verify(path, { deep: true })).kinds).toEqual([]);
  expect(await contentOf(path)).toEqual(await contentOf(merged));
});
