import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import type { Span } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunOptions, run } from '../../src/export/run.ts';
import { runChecks } from '../../src/marts/run-checks.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { doneSpans, spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import { openStore } from '../../src/warehouse/open-store.ts';
import type { PipelineStatus } from '../../src/warehouse/query/status.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import type { StoreOptions } from '../../src/warehouse/store-options.ts';
import { tonlake } from '../cli.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, ledgerFiles, readEntry, repair, replaceRows, rewrite, verify } from '../verify/support.ts';
import { query } from './export.ts';

/** Entries of single blocks, none beside another. */
const BLOCKS = [1080, 1082, 1084, 1086];
const WHOLE = '1080:1086';
const SPANS: readonly Span[] = BLOCKS.map((seqno) => ({ from: seqno, to: seqno }));
const PIPELINES = ['transactions', 'traces', 'jetton_transfers'];
const BAD = 1084;

const sandbox = await startTestSandbox({ blocks: 4000 });
const registry = await loadRegistry();
const scattered = join(freshFolder(), 'w');
await bring(scattered, BLOCKS.join(','));
const content = await contentOf(scattered);
const merged = copyOf(scattered);
await compact(merged);

afterEach(() => {
  sandbox.setFaults(NO_FAULTS);
});

function bring(warehouse: string, range: string, more: Partial<RunOptions> = {}) {
  return run({ pipelines: PIPELINES, network: sandbox.url, range, warehouse, ...more });
}

function compact(warehouse: string, effects: Effects = realEffects) {
  return compactWarehouse({ warehouse, tables: registry.tables, pipelines: registry.pipelines, effects });
}

function storeOptions(path: string): StoreOptions {
  return { path, network: sandbox.url, tables: registry.tables, pipelines: registry.pipelines, effects: realEffects };
}

/** The entries in force of each pipeline, by what they cover. */
function entriesOf(warehouse: string): Readonly<Record<string, readonly (readonly Span[])[]>> {
  const found: Record<string, (readonly Span[])[]> = {};
  for (const entry of inForce(warehouse)) {
    const own = found[entry.pipeline] ?? [];
    found[entry.pipeline] = [...own, spansOf(entry)];
  }
  return found;
}

function inForce(warehouse: string): readonly LedgerEntry[] {
  const all = ledgerFiles(warehouse).map(readEntry);
  const over = new Set(all.flatMap(({ supersedes }) => supersedes));
  return all.filter(({ id }) => !over.has(id));
}

/** The one file of a table, relative to the warehouse. */
function fileOf(warehouse: string, table: string): string {
  const [file, ...others] = inForce(warehouse).flatMap(({ tables }) => tables[table]?.files ?? []);
  expect(others).toEqual([]);
  return file?.path ?? '';
}

const without = (gone: number): readonly Span[] => SPANS.filter(({ from }) => from !== gone);

test('single blocks of every kind of walk become one entry for each pipeline, of the same rows', async () => {
  const names = [...new Set(inForce(scattered).map(({ pipeline }) => pipeline))];
  expect(names.sort()).toEqual(['blocks', 'jetton_transfers', 'traces', 'transactions']);
  expect(entriesOf(merged)).toEqual(Object.fromEntries(names.map((name) => [name, [SPANS]])));
  expect(await contentOf(merged)).toEqual(content);
  const { report, kinds } = await verify(merged, { deep: true });
  expect({ kinds, proven: report.proven, entries: report.entries }).toEqual({ kinds: [], proven: true, entries: 4 });
  expect(report.spans).toEqual((await verify(scattered)).report.spans);
});

test('holes are missing to status, to a strict query and to a check; a run asks for them alone', async () => {
  const path = copyOf(merged);
  const strict = await tonlake(['sql', 'select count(*) from transactions', '--strict', '--warehouse', path]);
  expect(strict.code).toBe(1);
  expect(strict.stderr).toContain('transactions: missing 1081,1083,1085');
  const { stdout } = await tonlake(['status', '--warehouse', path, '--json']);
  const { pipelines } = JSON.parse(stdout);
  expect(
    pipelines.map(({ blocks, missing }: PipelineStatus) => [blocks, missing.flatMap(({ spans }) => spans).length]),
  ).toEqual(Array.from({ length: 4 }, () => [BLOCKS.length, BLOCKS.length - 1]));
  await bring(path, WHOLE, { pipelines: ['blocks'] });
  expect(await runChecks(path, { names: ['block_tx_counts'] })).toMatchObject({ passed: true, checks: [{}] });
  const events: string[] = [];
  const report = await bring(path, WHOLE, {
    onEvent: (event) => {
      if (event.event === 'span' && event.pipeline === 'transactions') events.push(`${event.from}:${event.to}`);
    },
  });
  expect(report.complete).toBe(true);
  expect(events.sort()).toEqual(BLOCKS.slice(0, -1).map((seqno) => `${seqno + 1}:${seqno + 1}`));
  const fresh = join(freshFolder(), 'w');
  await bring(fresh, WHOLE);
  expect(await contentOf(path)).toEqual(await contentOf(fresh));
});

test('merged entries whose spans interleave share no block: nothing is found, and each is merged by itself', async () => {
  const path = copyOf(merged);
  await bring(
    path,
    BLOCKS.slice(0, -1)
      .map((seqno) => seqno + 1)
      .join(','),
  );
  expect((await verify(path)).kinds).toEqual([]);
  await compact(path);
  const whole = [{ from: 1080, to: 1086 }];
  expect(entriesOf(path)).toEqual(Object.fromEntries(Object.keys(entriesOf(merged)).map((name) => [name, [whole]])));
  expect((await verify(path, { deep: true })).kinds).toEqual([]);
});

describe('repair of one block inside of a merged entry', () => {
  test.each([false, true])(
    'brings it back, drops no other, and leaves one entry (with the right checksums: %s)',
    async (isSigned) => {
      const path = copyOf(merged);
      const change = isSigned ? replaceRows : rewrite;
      await change(path, fileOf(path, 'messages'), `FROM old WHERE tx_lt <> (SELECT min(tx_lt) FROM old)`);
      await change(path, fileOf(path, 'blocks'), `FROM old WHERE mc_block_seqno <> ${BAD}`);
      expect((await verify(path)).report.proven).toBe(false);
      const { report, content: found } = await repair(sandbox, path, { content: true });
      expect(report).toMatchObject({ proven: true, entries: 4 });
      expect(found).toEqual(content);
      expect(Object.values(entriesOf(path))).toEqual(Array.from({ length: 4 }, () => [SPANS]));
    },
  );

  test('where a block cannot be had, all stays as it is until it can', async () => {
    const path = copyOf(merged);
    await replaceRows(path, fileOf(path, 'transactions'), `FROM old WHERE mc_block_seqno <> ${BAD}`);
    sandbox.setFaults({ lies: [{ seqno: BAD, kind: 'transactions-empty' }] });
    await repair(sandbox, path);
    expect(entriesOf(path)).toEqual(entriesOf(merged));
    const counts = `select mc_block_seqno, count(*) from transactions where mc_block_seqno <> ${BAD} group by all order by all`;
    expect(await query(path, counts)).toEqual(await query(merged, counts));
    sandbox.setFaults(NO_FAULTS);
    expect((await repair(sandbox, path, { content: true })).content).toEqual(content);
  });

  test('rows of a hole are told, although they lie between its first and its last block', async () => {
    const path = copyOf(merged);
    await replaceRows(
      path,
      fileOf(path, 'blocks'),
      `SELECT * REPLACE (mc_block_seqno + (mc_block_seqno = ${BAD})::INT AS mc_block_seqno) FROM old`,
    );
    const { findings } = await verify(path);
    expect(findings.find(({ kind }) => kind === 'rows-outside')).toMatchObject({
      table: 'blocks',
      got: expect.stringContaining('1085'),
    });
  });

  test('a lost entry comes back with its own blocks, and nothing between', async () => {
    const path = copyOf(merged);
    const name = ledgerFiles(path).find((file) => {
      const { pipeline, spans } = readEntry(file);
      return pipeline === 'blocks' && spans !== undefined;
    });
    await (await openStore({ ...storeOptions(path), graceMs: 0 })).close();
    rmSync(name ?? '');
    const { report } = await repair(sandbox, path);
    expect(report.proven).toBe(true);
    expect(doneSpans(inForce(path), 'blocks')).toEqual(SPANS);
    expect(await contentOf(path)).toEqual(content);
  });
});

test('forgetting a block inside of a merged entry takes its rows alone, and the entry stays one', async () => {
  const path = copyOf(merged);
  const forget = { warehouse: path, pipelines: ['transactions', 'traces'] };
  const report = await forgetRange({ ...forget, range: String(BAD) });
  expect(report.spans).toEqual({ transactions: [{ from: BAD, to: BAD }], traces: [{ from: BAD, to: BAD }] });
  expect(entriesOf(path)).toMatchObject({ transactions: [without(BAD)], traces: [without(BAD)], blocks: [SPANS] });
  const rest = `select count(*), count(*) filter (mc_block_seqno = ${BAD}) from transactions`;
  const [[all, own] = []] = await query(merged, rest);
  expect(await query(path, rest)).toEqual([[String(Number(all) - Number(own)), '0']]);
  expect((await verify(path)).kinds).toEqual([]);
  await bring(path, BLOCKS.join(','));
  expect(await contentOf(path)).toEqual(content);
});

test('forgetting nothing but a hole changes nothing', async () => {
  const path = copyOf(merged);
  const report = await forgetRange({ warehouse: path, pipelines: ['transactions', 'traces'], range: '1085' });
  expect(report).toMatchObject({ spans: {}, rows: {} });
  expect(entriesOf(path)).toEqual(entriesOf(merged));
});

test('forgetting all of a merged entry leaves one mark of it, and repair does not bring it back', async () => {
  const path = copyOf(merged);
  await forgetRange({ warehouse: path, pipelines: ['transactions', 'traces', 'jetton_transfers'], range: WHOLE });
  const marks = ledgerFiles(path)
    .map(readEntry)
    .filter(({ scope }) => scope === 'forgotten');
  expect(marks.map(spansOf)).toEqual([SPANS, SPANS, SPANS]);
  const { report, requests } = await repair(sandbox, path);
  expect({ proven: report.proven, requests }).toEqual({ proven: true, requests: 0 });
  expect(doneSpans(inForce(path), 'transactions')).toEqual([]);
});

test('columns that a merged entry lacks come for its own blocks, in its place', async () => {
  const path = join(freshFolder(), 'w');
  await bring(path, BLOCKS.join(','), { withoutColumns: ['messages.body_boc', 'traces.messages'] });
  await compact(path);
  sandbox.requests.reset();
  expect((await bring(path, BLOCKS.join(','))).complete).toBe(true);
  expect(await contentOf(path)).toEqual(content);
  expect(entriesOf(path)).toEqual(entriesOf(merged));
});

test('outdated headers inside of a merged entry are read again for its own blocks, in its place', async () => {
  const path = join(freshFolder(), 'w');
  sandbox.setFaults({ lies: [{ seqno: BAD, kind: 'mc-count-up' }] });
  await bring(path, BLOCKS.join(','), { pipelines: ['blocks'] });
  await compact(path);
  sandbox.setFaults(NO_FAULTS);
  expect((await bring(path, String(BAD), { pipelines: ['transactions'] })).complete).toBe(true);
  expect(entriesOf(path)['blocks']).toEqual([SPANS]);
  expect((await verify(path)).kinds).toEqual([]);
});
