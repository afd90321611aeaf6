import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { fixedColumns, WHOLE } from '../../src/declare/left-out.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type Selection, selectFrom } from '../../src/declare/selection.ts';
import type { TableDef } from '../../src/declare/table.ts';
import { type RunEvent, type RunReport, run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { sumRows } from '../../src/warehouse/compaction/prove-merge.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { readsOf } from '../../src/warehouse/query/left-out-gaps.ts';
import type { Reader } from '../../src/warehouse/reader.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const registry = await loadRegistry();
const RANGE = '1000:1005';
const all = registry.toRun(registry.lasting);
const READING = ['_read_at', '_as_of_seqno'];
const full = join(freshFolder(), 'full');
let now = Date.UTC(2026, 4, 3);

/** Everything over the range, with a clock that stands still during a run, so that readings have one time. */
async function exportAll(
  warehouse: string,
  selection: Selection = {},
  onEvent: (event: RunEvent) => void = () => undefined,
): Promise<RunReport> {
  now += 60_000;
  const effects = { ...realEffects, now: () => now };
  const pipelines = registry.lasting;
  return run({ pipelines, network: sandbox.url, range: RANGE, warehouse, effects, onEvent, ...selection });
}

/** Columns that keys of other pipelines are taken from, as `table.column`. */
async function keySources(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { walk } of all) {
    const query = walk.kind === 'lookup' ? walk.query : walk.kind === 'snapshot' ? walk.parents?.query : undefined;
    for (const [table, columns] of query === undefined ? [] : await readsOf(registry, query, { from: 0, to: 0 })) {
      for (const column of columns === 'all' ? [WHOLE] : columns) found.add(`${table}.${column}`);
    }
  }
  return found;
}

/** Content of what a selection keeps of a table, of its newest reading: of every column, `_extra` among them. */
async function contentOf({ query }: Reader, table: TableDef): Promise<string> {
  const columns = table.columns.filter(({ name }) => !READING.includes(name));
  const isRead = table.columns.some(({ name }) => name === '_read_at');
  const newest = isRead ? ` WHERE _read_at = (SELECT max(_read_at) FROM ${table.name})` : '';
  return `${table.name}: ${await sumRows(query, { ...table, columns }, `${table.name}${newest}`)}`;
}

async function contents(warehouse: string, pipelines: readonly PipelineDef[]): Promise<readonly string[]> {
  const reader = await openReader(warehouse, registry.tables);
  try {
    const found: string[] = [];
    for (const table of pipelines.flatMap(({ tables }) => tables)) found.push(await contentOf(reader, table));
    return found;
  } finally {
    await reader.close();
  }
}

/** Values in columns that were left out. */
async function strayValues(warehouse: string, pipelines: readonly PipelineDef[]): Promise<number> {
  const reader = await openReader(warehouse, registry.tables);
  try {
    let stray = 0;
    for (const { leftOut, tables } of pipelines) {
      for (const [name, columns] of Object.entries(leftOut ?? {})) {
        const isWhole = columns.includes(WHOLE);
        expect(isWhole).toBe(!tables.some((table) => table.name === name));
        const counts = isWhole ? ['count(*)'] : columns.map((column) => `count("${column}")`);
        const { rows } = await reader.query(`SELECT ${counts.join(' + ')} FROM ${name}`);
        stray += Number(rows[0]?.[0]);
      }
    }
    return stray;
  } finally {
    await reader.close();
  }
}

/** Any tables that can be left out, and any columns of any table. */
function anySelection(sources: ReadonlySet<string>): fc.Arbitrary<Selection> {
  const optional = all.flatMap(({ tables }) => tables.filter(({ rows }) => rows.kind !== 'records'));
  const free = optional
    .map(({ name }) => name)
    .filter((name) => ![...sources].some((each) => each.startsWith(`${name}.`)));
  const columns = all.flatMap((pipeline) =>
    pipeline.tables.flatMap((table) => {
      const fixed = fixedColumns(pipeline, table, undefined);
      const names = table.columns.map(({ name }) => name).filter((name) => !fixed.has(name));
      return names.map((name) => `${table.name}.${name}`).filter((name) => !sources.has(name));
    }),
  );
  return fc.record({ without: fc.subarray(free), withoutColumns: fc.subarray(columns) }).map((drawn) => ({
    without: drawn.without,
    withoutColumns: drawn.withoutColumns.filter((name) => !drawn.without.some((table) => name.startsWith(`${table}.`))),
  }));
}

const sandbox = await startSandbox({ blocks: 3300 });
expect(await exportAll(full)).toMatchObject({ complete: true });
const drawn: readonly Selection[] = fc.sample(anySelection(await keySources()), { seed: 41, numRuns: 2 });
afterAll(() => sandbox.close());

describe('an export of some tables and columns', () => {
  test.each([
    [0, 'w'],
    [1, 'w.duckdb'],
  ])(
    'is what the whole export has of them, and running without the selection makes it whole (%i in %s)',
    async (at, name) => {
      const selection = drawn[at] ?? {};
      const warehouse = join(freshFolder(), name);
      const narrow = selectFrom(all, selection);
      const events: unknown[] = [];
      const first = await exportAll(warehouse, selection, (event) => event.event === 'problem' && events.push(event));
      expect(events).toEqual([]);
      expect(first).toMatchObject({ complete: true, quarantined: 0 });
      expect(await strayValues(warehouse, narrow)).toBe(0);
      expect(await contents(warehouse, narrow)).toEqual(await contents(full, narrow));

      expect(await exportAll(warehouse, selection)).toMatchObject({ complete: true, spans: 0 });
      expect(await exportAll(warehouse)).toMatchObject({ complete: true });
      expect(await contents(warehouse, all)).toEqual(await contents(full, all));
      const opened = await openWarehouse(warehouse);
      const held = await opened.query(
        'SELECT pipeline, span_from, count(*) FROM _commits GROUP BY ALL HAVING count(*) > 1',
      );
      await opened.close();
      // Readings of a time stay; what a block holds is there once.
      const lookups = all.filter(({ walk }) => walk.kind === 'lookup').map((pipeline) => pipeline.name);
      expect(held.rows.map(([pipeline]) => String(pipeline)).filter((each) => !lookups.includes(each))).toEqual([]);
    },
  );
});
