import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { formatError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { type ConsumedRows, type ConsumeOptions, consume } from '../../src/feed/consume.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { compactWarehouse, openStore } from '../../src/warehouse/index.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const TABLES = ['transactions', 'messages', 'jetton_transfers'];
const registry = await loadRegistry();

const sandbox = await startSandbox({ blocks: 120 });
/** Blocks 1:30 in three commits for each pipeline. */
const exported = join(freshFolder(), 'w');
for (const range of ['1:10', '11:20', '21:30']) await exportTo(exported, range);
afterAll(() => sandbox.close());

async function exportTo(warehouse: string, range: string, more: object = {}): Promise<void> {
  const pipelines = ['transactions', 'jetton_transfers'];
  await run({ pipelines, network: sandbox.url, range, warehouse, ...more });
}

function copyOf(warehouse: string): string {
  const copy = join(freshFolder(), 'w');
  cpSync(warehouse, copy, { recursive: true });
  return copy;
}

async function compact(warehouse: string): Promise<void> {
  const { tables, pipelines } = registry;
  await compactWarehouse({ warehouse, tables, pipelines, effects: realEffects });
}

/** A consumer whose effect is a table by key, stored together with the cursor. */
class Consumer {
  readonly rows = new Map<string, Map<string, number>>();
  cursor: string | undefined;
  readonly replaced: string[] = [];

  take({ batches, cursor, replaces, pipeline, spans }: ConsumedRows): void {
    if (replaces) this.replaced.push(`${pipeline} ${spans[0]?.from}:${spans.at(-1)?.to}`);
    for (const { table, batch } of batches) {
      const own = this.rows.get(table) ?? new Map<string, number>();
      this.rows.set(table, own);
      const keys = registry.table(table).key.map((name) => [...(batch.getChild(name) ?? [])].map(String));
      for (let row = 0; row < batch.numRows; row++) {
        const key = keys.map((column) => column[row]).join(' ');
        own.set(key, (own.get(key) ?? 0) + 1);
      }
    }
    this.cursor = cursor;
  }

  /** Rows, and how often the most frequent one came, by table. */
  counts(): Readonly<Record<string, readonly [number, number]>> {
    return Object.fromEntries(
      [...this.rows].sort().map(([table, own]) => [table, [own.size, Math.max(...own.values())] as const]),
    );
  }
}

async function take(
  consumer: Consumer,
  warehouse: string,
  more: Partial<ConsumeOptions> = {},
  most = 1e9,
): Promise<void> {
  let count = 0;
  for await (const rows of consume({ warehouse, tables: TABLES, cursor: consumer.cursor, wait: false, ...more })) {
    consumer.take(rows);
    if (++count >= most) return;
  }
}

/** Each row of the warehouse once. */
async function everything(path: string): Promise<Readonly<Record<string, readonly [number, number]>>> {
  const warehouse = await openWarehouse(path);
  const counts: Record<string, readonly [number, number]> = {};
  for (const table of [...TABLES].sort()) {
    const { rows } = await warehouse.query(`SELECT count(*)::INTEGER FROM ${table}`);
    const count = Number(rows[0]?.[0]);
    if (count > 0) counts[table] = [count, 1];
  }
  await warehouse.close();
  return counts;
}

describe('follow', () => {
  test('hands out every row once, with the values that queries read', async () => {
    const consumer = new Consumer();
    await take(consumer, exported);
    expect(consumer.counts()).toEqual(await everything(exported));
    expect(Object.keys(consumer.counts())).toContain('jetton_transfers');
    const warehouse = await openWarehouse(exported);
    const { columns, rows } = await warehouse.query('FROM transactions ORDER BY lt, account');
    await warehouse.close();
    const read: unknown[][] = [];
    for await (const { batches } of consume({ warehouse: exported, tables: ['transactions'], wait: false })) {
      for (const { batch } of batches) {
        expect(batch.schema.fields.map(({ name }) => name)).toEqual(columns.map(({ name }) => name));
        const [hash, lt, now, fees] = ['hash', 'lt', 'block_time', 'total_fees'].map((name) => batch.getChild(name));
        for (let at = 0; at < batch.numRows; at++)
          read.push([
            hash?.get(at),
            hash === null ? '' : String(lt?.get(at)),
            Number(now?.get(at)),
            String(fees?.get(at)),
          ]);
      }
    }
    const at = (name: string): number => columns.findIndex((column) => column.name === name);
    expect(read).toEqual(
      rows.map((row) => [
        ...[row[at('hash')], String(row[at('lt')])],
        ...[Number((row[at('block_time')] as { micros: bigint }).micros / 1000n), String(row[at('total_fees')])],
      ]),
    );
  });

  test('goes on with a cursor after each piece, also between the blocks of a commit, and while entries are merged', async () => {
    const path = copyOf(exported);
    const consumer = new Consumer();
    for (let at = 0; at < 400; at++) {
      const before = consumer.cursor;
      await take(consumer, path, { batchRows: 250 }, 1);
      if (consumer.cursor === before) break;
      if (at === 3) await exportTo(path, '31:40');
      if (at === 6) await compact(path);
    }
    expect(consumer.counts()).toEqual(await everything(path));
    expect(consumer.replaced).toEqual([]);
    await exportTo(path, '41:50');
    await exportTo(path, '51:60');
    await compact(path);
    await take(consumer, path);
    expect(consumer.counts()).toEqual(await everything(path));
  });

  test('waits for the next commit, and rejects with the reason when it is aborted', async () => {
    const path = copyOf(exported);
    const end = new AbortController();
    const reason = new Error('enough');
    const consumer = new Consumer();
    const sleep = async (): Promise<void> => {
      if (consumer.counts()['messages']?.[0] === (await everything(path))['messages']?.[0]) {
        const { to } = await lastSpan(path);
        if (to >= 36) end.abort(reason);
        else await exportTo(path, `${to + 1}:${to + 3}`);
      }
    };
    const effects = { ...realEffects, sleep };
    await expect(take(consumer, path, { wait: true, effects, signal: end.signal })).rejects.toBe(reason);
    expect(consumer.counts()).toEqual(await everything(path));
  });

  test('hands out blocks that are forgotten and exported again as rows that replace others', async () => {
    const path = copyOf(exported);
    const consumer = new Consumer();
    await take(consumer, path);
    const before = consumer.counts();
    await forgetRange({ warehouse: path, pipelines: ['blocks', 'transactions'], range: '5:12' });
    await take(consumer, path);
    expect(consumer.counts()).toEqual(before);
    await exportTo(path, '5:12');
    await take(consumer, path);
    expect(consumer.replaced).toEqual(['transactions 5:12']);
    expect(consumer.counts()['transactions']?.[0]).toBe(before['transactions']?.[0]);
  });

  test('hands out the rows of a wider selection as rows that replace others', async () => {
    const path = join(freshFolder(), 'w');
    await exportTo(path, '1:8', { withoutColumns: ['messages.body_boc'] });
    const consumer = new Consumer();
    await take(consumer, path);
    expect(consumer.replaced).toEqual([]);
    await exportTo(path, '1:8');
    await take(consumer, path);
    expect(consumer.replaced).toEqual(['transactions 1:8']);
  });

  test('reads a DuckDB warehouse between its writers', async () => {
    const path = join(freshFolder(), 'w.duckdb');
    await exportTo(path, '1:10');
    const consumer = new Consumer();
    await take(consumer, path, { batchRows: 30 }, 2);
    const { tables } = registry;
    const store = await openStore({
      path,
      network: (await lastSpan(path)).network,
      tables,
      pipelines: [],
      effects: realEffects,
    });
    await expect(take(consumer, path)).rejects.toMatchObject({ code: 'busy' });
    const end = new AbortController();
    // A consumer that waits tries again.
    const sleep = async (): Promise<void> => {
      await store.close();
      end.abort();
    };
    const effects = { ...realEffects, sleep };
    const aborted = take(consumer, path, { wait: true, effects, signal: end.signal });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await take(consumer, path);
    expect(consumer.counts()).toEqual(await everything(path));
  });
});

describe('a cursor', () => {
  test.each([
    [
      { cursor: '{"format":1}' },
      'a cursor as follow() gave it, got "{\\"format\\":1}"; hint: store the cursor unchanged',
    ],
    [{ cursor: 'x' }, 'a cursor as follow() gave it, got "x"; hint: store the cursor unchanged'],
    [
      { tables: ['transactionz'] },
      'a table that is exported by blocks, got transactionz; hint: did you mean transactions?',
    ],
    [
      { tables: ['jetton_masters'] },
      'a table that is exported by blocks, got jetton_masters; hint: its rows are readings',
    ],
    [{ tables: [] }, 'at least one table, got none'],
  ])('is refused: %j', async (options, says) => {
    const error: unknown = await take(new Consumer(), exported, options).catch((thrown: unknown) => thrown);
    expect(formatError(error)).toContain(`usage: expected ${says}`);
  });

  test('of another warehouse, or of other tables, is refused', async () => {
    const consumer = new Consumer();
    await take(consumer, exported);
    await expect(take(consumer, exported, { tables: ['messages'] })).rejects.toThrow(
      /^usage: expected the tables of the cursor, .*, got messages$/,
    );
    const other = join(freshFolder(), 'w');
    await exportTo(other, '1:30');
    await exportTo(other, '31:60');
    await exportTo(other, '61:90');
    await expect(take(consumer, other)).rejects.toMatchObject({ code: 'foreign-cursor' });
  });
});

async function lastSpan(path: string): Promise<{ readonly to: number; readonly network: string }> {
  const warehouse = await openWarehouse(path);
  const ledger = await warehouse.ledger();
  await warehouse.close();
  return { to: Math.max(...ledger.map(({ span }) => span.to)), network: warehouse.network };
}
