import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import { type Span, subtractSpans } from '../../src/core/span.ts';
import { blockColumn } from '../../src/declare/block-column.ts';
import { BackgroundMarts } from '../../src/marts/background-marts.ts';
import type { MartBuiltEvent } from '../../src/marts/build-marts.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { loadMarts, type MartDef } from '../../src/marts/load-marts.ts';
import {
  type LedgerEntry,
  openReader,
  openStore,
  type Store,
  spansOf,
  stageRewrite,
} from '../../src/warehouse/index.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, exportSandbox, hashMarts, marts, registry, sqlFolder } from './support.ts';

const source = join(freshFolder(), 'w');
// Three commits of two days.
for (const range of ['4996:5000', '5001:5005', '5006:5010']) await exportSandbox(range, ['transactions'], source);

const named = (...names: readonly string[]) => marts.filter(({ name }) => names.includes(name));

interface Opened {
  readonly clock: { ms: number };
  readonly store: Store;
  readonly background: BackgroundMarts;
  readonly builds: MartBuiltEvent[];
  readonly failures: string[];
}

/** A copy of the warehouse, opened, with a clock that moves by so much with each commit. */
async function open(chosen: readonly MartDef[], commitMs = 0, all: readonly MartDef[] = marts): Promise<Opened> {
  const clock = { ms: 0 };
  const effects: Effects = { ...realEffects, monotonic: () => clock.ms };
  const onStep = async (step: string): Promise<void> => {
    if (step === 'put entry') clock.ms += commitMs;
  };
  const store = await openStore({
    ...{ path: await copyOf(source), network: 'sandbox', effects: { ...effects, monotonic: realEffects.monotonic } },
    ...{ tables: registry.tables, pipelines: registry.pipelines, marts: all.map(({ table }) => table), onStep },
  });
  const [builds, failures]: [MartBuiltEvent[], string[]] = [[], []];
  const background = new BackgroundMarts({
    ...{ marts: all, chosen, registry, network: 'sandbox', effects },
    onEvent: (event) => builds.push(event),
    onFailure: (mart) => failures.push(mart),
  });
  onTestFinished(async () => {
    await background.end();
    await store.close();
  });
  return { clock, store, background, builds, failures };
}

async function turn({ background, store, clock }: Opened, ms: number): Promise<void> {
  clock.ms += ms;
  background.look(store);
  await background.idle();
}

/** Puts another entry in the place of each of the transactions, without its first block. */
async function rewrite(store: Store): Promise<void> {
  const pipeline = registry.pipeline('transactions');
  for (const entry of store.ledger().filter((each) => each.pipeline === pipeline.name)) {
    const context = { store, tables: registry.tables };
    const keep = subtractSpans(spansOf(entry), [{ from: entry.span.from, to: entry.span.from }]);
    await store.commitTogether(await stageRewrite(context, { pipeline, old: [entry], keep, read: [] }));
  }
}

test('marts are built as mart build builds them, and again only after a commit', async () => {
  const opened = await open(marts);
  await turn(opened, 0);
  expect(opened.background.lags()['accounts']).toBe(0);
  const names = opened.builds.map(({ name }) => name);
  expect(names).toContain('transactions_daily');
  expect(names).not.toContain('dex_swaps');
  await turn(opened, 600_000);
  expect(opened.builds).toHaveLength(names.length);
  const once = await copyOf(source);
  await buildMarts(once);
  expect(await hashMarts(opened.store.path, names)).toEqual(await hashMarts(once, names));
  await opened.background.end();
  await opened.store.close();
  // The next build finds nothing to do.
  const again = await buildMarts(opened.store.path);
  expect(again.filter(({ status }) => status === 'built')).toEqual([]);
});

test('builds take a tenth of the time, and each mart has its turn', async () => {
  const chosen = named('transactions_daily', 'accounts', 'gas_fees_daily', 'block_times');
  const opened = await open(chosen, 10_000);
  await turn(opened, 0);
  // The saved time is used up by the first mart.
  expect(opened.builds.map(({ name }) => name)).toEqual([chosen[0]?.name]);
  await turn(opened, 20_000);
  expect(opened.builds).toHaveLength(1);
  for (let minutes = 0; minutes < 16; minutes++) await turn(opened, 60_000);
  expect(opened.builds.map(({ name }) => name)).toEqual(chosen.map(({ name }) => name));
  const spent = opened.store.ledger().filter(({ mart }) => mart !== undefined).length * 10_000;
  expect(spent / opened.clock.ms).toBeLessThanOrEqual(0.1);
});

test('what changed is built again after a minute, and until then the mart is behind', async () => {
  const opened = await open(named('transactions_daily'));
  await turn(opened, 0);
  await rewrite(opened.store);
  await turn(opened, 59_000);
  await turn(opened, 999);
  expect(opened.builds).toHaveLength(1);
  expect(opened.background.lags()).toEqual({ transactions_daily: 0.999 });
  await turn(opened, 1);
  expect(opened.builds).toHaveLength(2);
  expect(opened.background.lags()).toEqual({ transactions_daily: 0 });
});

test('a select that fails is told, tried again after a minute, and holds up no other mart', async () => {
  const broken = `-- A select that fails.\n-- question: Which?\n-- grain: one block\n-- key: n\n-- inputs: blocks\n-- units: none
SELECT CASE WHEN count(*) > 0 THEN error('no such row') ELSE 1 END::BIGINT AS n FROM blocks`;
  const own = await loadMarts(registry, await sqlFolder({ 'broken.sql': broken }));
  const chosen = own.filter(({ name }) => ['broken', 'transactions_daily'].includes(name));
  const opened = await open(chosen, 0, own);
  await turn(opened, 0);
  expect(opened.failures).toEqual(['broken']);
  expect(opened.builds.map(({ name }) => name)).toEqual(['transactions_daily']);
  await turn(opened, 59_999);
  expect(opened.failures).toHaveLength(1);
  await turn(opened, 1);
  expect(opened.failures).toEqual(['broken', 'broken']);
  expect(opened.background.lags()).toMatchObject({ broken: 60 });
});

/** Lets a test do something before and after each select of a mart. */
function aroundSelects(store: Store, run: <T>(select: () => Promise<T>) => Promise<T>): void {
  const connect = store.connect.bind(store);
  store.connect = async () => {
    const connection = await connect();
    return {
      ...{ interrupt: () => connection.interrupt(), close: () => connection.close() },
      define: (functions) => connection.define(functions),
      query: (sql, parameters) => {
        const select = () => connection.query(sql, parameters);
        return sql.startsWith('COPY') ? run(select) : select();
      },
    };
  };
}

/** Commits the transactions of some blocks that another warehouse has. */
async function commitFrom(other: string, store: Store, span: Span): Promise<void> {
  const pipeline = registry.pipeline('transactions');
  const [like] = store.ledger().filter((entry) => entry.pipeline === pipeline.name);
  const stage = store.stage(span);
  await mkdir(stage.folder, { recursive: true });
  for (const table of pipeline.tables) {
    const column = blockColumn(pipeline, table);
    const file = join(stage.folder, `${table.name}.parquet`);
    const rows = `read_parquet('${other}/tables/${table.name}/**/*.parquet', hive_partitioning = false)`;
    const within = `${column} BETWEEN ${span.from} AND ${span.to}`;
    await store.query(`COPY (SELECT * FROM ${rows} WHERE ${within} ORDER BY ${table.sort.join(', ')}) TO '${file}'`);
    await stage.adopt(table, file, { isSorted: true });
  }
  const { version = 1, content, declaration } = like ?? {};
  await store.commit(await stage.finish(), {
    ...{ network: 'sandbox', pipeline: pipeline.name, version, span, content, declaration },
    ...{ verdict: 'accepted', requests: 1, retries: 0, supersedes: [] },
  });
}

test.each([
  ['a new block comes during a select of all rows', undefined, [5016, 5020]],
  ['a new block comes during a select of new rows', [5011, 5015], [5016, 5020]],
  ['a hole is filled during a select of all rows', [5021, 5030], [5011, 5020]],
] as const)('each transaction is counted once if %s', async (when, before, [from, to]) => {
  const opened = await open(named('accounts'));
  const { store } = opened;
  const later = await exportSandbox('5011:5030', ['transactions']);
  let more: Span | undefined;
  aroundSelects(store, async (select) => {
    const span = more;
    more = undefined;
    if (span !== undefined) await commitFrom(later, store, span);
    return select();
  });
  if (when.endsWith('new rows')) await turn(opened, 0);
  if (before !== undefined) await commitFrom(later, store, { from: before[0], to: before[1] });
  more = { from, to };
  await turn(opened, 60_000);
  expect(more).toBeUndefined();
  await turn(opened, 60_000);
  expect(opened.builds.at(-1)?.isMerged ?? false).toBe(!when.includes('hole'));
  const { rows } = await store.query(
    'SELECT (SELECT sum(tx_count) FROM accounts)::VARCHAR, (SELECT count(*) FROM transactions)::VARCHAR',
  );
  const [counted, there] = Object.values(rows[0] ?? {});
  expect(Number(there)).toBeGreaterThan(0);
  expect(counted).toBe(there);
});

test('rows that were selected while something was committed are built again', async () => {
  const opened = await open(named('transactions_daily'));
  const { store } = opened;
  let isFirst = true;
  aroundSelects(store, async (select) => {
    const rows = await select();
    if (isFirst) await rewrite(store);
    isFirst = false;
    return rows;
  });
  const stampsIn = (ledger: readonly LedgerEntry[]) => ledger.flatMap(({ mart }) => mart?.inputs ?? []);
  await turn(opened, 0);
  expect(isFirst).toBe(false);
  expect(opened.builds.map((build) => build.days.length)).toEqual([2]);
  // They have the stamp of neither state: if the commit went away, they would still be built again.
  const before = await copyOf(source);
  await buildMarts(before, { names: ['transactions_daily'] });
  const reader = await openReader(before, registry.tables);
  const sound = stampsIn(await reader.ledger());
  await reader.close();
  expect(stampsIn(store.ledger()).filter((stamp) => !sound.includes(stamp))).not.toEqual([]);
  await turn(opened, 60_000);
  expect(opened.builds[1]?.days.length).toBeGreaterThan(0);
  expect(opened.background.lags()).toEqual({ transactions_daily: 0 });
});

test('status says that a mart is current, or how many commits it lacks', async () => {
  const path = await copyOf(source);
  const behindOf = async () => (await readStatus(path)).marts.map(({ mart, behind }) => [mart, behind?.commits]);
  await buildMarts(path, { names: ['transactions_daily', 'accounts'] });
  expect(await behindOf()).toEqual([
    ['accounts', undefined],
    ['transactions_daily', undefined],
  ]);
  await exportSandbox('5011:5012', ['transactions'], path);
  expect(await behindOf()).toEqual([
    ['accounts', 1],
    ['transactions_daily', 1],
  ]);
});
