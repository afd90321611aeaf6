import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Header } from '../../src/chain/headers.ts';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { ROLES } from '../../src/declare/roles.ts';
import { ListProof } from '../../src/export/list-proof.ts';
import { run } from '../../src/export/run.ts';
import type { ProvableRows } from '../../src/export/span-walk.ts';
import { accountsOfTies } from '../../src/export/split-ties.ts';
import { readHeaders, storeSink } from '../../src/export/store-sink.ts';
import type { WalkContext } from '../../src/export/walk-context.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import type { Query } from '../../src/sql/query-result.ts';
import { openStore } from '../../src/warehouse/open-store.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const BLOCKS = [1000, 1002, 1004, 1005, 1006];

const sandbox = await startSandbox();
const registry = await loadRegistry();
afterAll(() => sandbox.close());

/** A store, and the statements that it was asked. */
async function openWatched(path: string, network: string) {
  const { tables } = registry;
  const store = await openStore({ ...{ path, network, tables }, pipelines: [], effects: realEffects });
  const statements: string[] = [];
  const query: Query = (sql, parameters) => {
    statements.push(sql);
    return store.query(sql, parameters);
  };
  const close = (): Promise<void> => store.close();
  const [ledger, stage]: readonly [Store['ledger'], Store['stage']] = [
    () => store.ledger(),
    (span) => store.stage(span),
  ];
  return { store: { ...store, query, close, ledger, stage, rows: store.rows }, statements };
}

test.each(['w', 'w.duckdb'])(
  'headers and transactions of some blocks of %s are read from the files of these alone',
  async (name) => {
    const warehouse = join(freshFolder(), name);
    // Each in an entry of its own.
    for (const block of BLOCKS) {
      await run({ pipelines: ['transactions'], network: sandbox.url, range: String(block), warehouse });
    }
    const { store, statements } = await openWatched(warehouse, sandbox.url);
    const sink = storeSink(store, registry);
    const held = await readHeaders(store.query, { from: 1003, to: 1005 });
    statements.length = 0;
    const headers = await sink.headers({ from: 1003, to: 1005 });
    expect([...headers.keys()]).toEqual([1004, 1005]);
    expect(sorted(headers)).toEqual(sorted(held));
    expect(await sink.headers({ from: 1, to: 9 })).toEqual(new Map());
    const blocks =
      (await sink.transactions([
        { from: 1000, to: 1001 },
        { from: 1006, to: 2000 },
      ])) ?? [];
    expect(new Set(blocks.map(({ mcSeqno }) => mcSeqno))).toEqual(new Set([1000, 1006]));
    const counts = [...headers.values()].flat().map(({ txCount }) => txCount);
    expect(
      await sink.txCount?.([
        { from: 1004, to: 1004 },
        { from: 1005, to: 1005 },
      ]),
    ).toBe(counts.reduce((sum, count) => sum + count, 0));
    await store.close();
    if (name === 'w') expect(statements.map(countFiles)).toEqual([2, 0, 2, 2]);
  },
);

test('of an entry of several days, the files of the days of some blocks are read alone', async () => {
  const warehouse = join(freshFolder(), 'w');
  const { url: network } = await startTestSandbox({ blocks: 60, blockTimeMs: 86_400_000 / 4 });
  await run({ pipelines: ['transactions'], network, range: '20:39', warehouse });
  const { store, statements } = await openWatched(warehouse, network);
  const sink = storeSink(store, registry);
  const whole = await readHeaders(store.query, { from: 20, to: 39 });
  statements.length = 0;
  for (const seqno of [20, 31, 39]) {
    expect(sorted(await sink.headers({ from: seqno, to: seqno }))).toEqual(
      new Map([[seqno, sorted(whole).get(seqno)]]),
    );
    const promised = whole.get(seqno)?.reduce((sum, { txCount }) => sum + txCount, 0);
    expect(await sink.txCount?.([{ from: seqno, to: seqno }])).toBe(promised);
    expect((await sink.transactions([{ from: seqno, to: seqno }])).map(({ mcSeqno }) => mcSeqno)).toContain(seqno);
    expect(await sink.rootHash?.(seqno)).toMatch(/^.{44}$/);
  }
  await store.close();
  expect(new Set(statements.map(countFiles))).toEqual(new Set([1]));
});

/**
 * Of eight blocks, each with a file of headers, of transactions and of messages: the first header of the run, headers near the
 * block, messages sent by it and those received since; for rows by block, all of the 2,000 blocks before; the edges; headers near the block
 * again, and rows at one time.
 */
const FILES_NEAR = [
  ...[1, 4, 2, ...[1, 16], 1, ...[4, 2]],
  // Traces read transactions beside messages, and count those of the block.
  ...[1, 4, 2, ...[1, 16], 1, 1, ...[4, 2]],
];

test.each(['w', 'w.duckdb'])(
  'lists are compared with the transactions near them in %s',
  { timeout: 120_000 },
  async (name) => {
    const at = { from: 1007, to: 1007 };
    const found = [];
    for (const ranges of [['1000:1007'], Array.from({ length: 8 }, (_, block) => String(1000 + block))]) {
      const warehouse = join(freshFolder(), name);
      for (const range of ranges) await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse });
      const { store, statements } = await openWatched(warehouse, sandbox.url);
      const sink = storeSink(store, registry);
      const headers = (await sink.headers(at)).get(1007) ?? [];
      const [low, high] = [headers.map(({ startLt }) => startLt), headers.map(({ endLt }) => endLt)].map(bigSort);
      const range = { from: low?.[0] ?? 0n, to: high?.at(-1) ?? 0n };
      const { rows: received } = await store.query(
        `SELECT tx_lt, opcode FROM _message_ends WHERE direction = 'in' AND opcode IS NOT NULL AND tx_mc_block_seqno = 1007
       ORDER BY tx_lt, opcode LIMIT 1`,
      );
      const [lt, opcode] = received[0] ?? [];
      statements.length = 0;
      const results: unknown[] = [];
      for (const list of ['message_links', 'traces']) {
        const context = { sink, registry, pipeline: registry.pipeline(list) } as unknown as WalkContext;
        const stage = async () => {
          const open = store.stage(at);
          return { staged: await open.finish(), discard: async () => {} };
        };
        // Nothing of the list came, nor comes.
        const rows = { stage, fetch: async () => 0, signal: new AbortController().signal } as unknown as ProvableRows;
        const proof = new ListProof(context);
        results.push(
          await proof.compareSpan(rows, at, range),
          await proof.compareBlocks(rows, [at]),
          await proof.traces(at),
          await proof.edgesOf([{ span: at, range: { ...range, from: 0n } }]),
          await accountsOfTies(context, Number(opcode), at, BigInt(String(lt))),
        );
      }
      await store.close();
      found.push({ results, files: statements.map(countFiles) });
    }
    const [whole, parts] = found;
    expect(parts?.results).toEqual(whole?.results);
    expect(whole?.results).toEqual(
      expect.arrayContaining([
        [
          {
            seqno: 1007,
            code: 'unproven',
            reason: expect.stringMatching(/^expected message .*, got no link, and \d+ more/),
          },
        ],
        [{ seqno: 1007, code: 'unproven', reason: expect.stringMatching(/^expected trace .*, got none/) }],
      ]),
    );
    if (name === 'w') expect(parts?.files).toEqual(FILES_NEAR);
  },
);

test('a comparison of a block names no view of all rows, whose files it would read', async () => {
  const warehouse = join(freshFolder(), 'w');
  const lists = ['traces', 'message_links', 'jetton_transfers', 'actions'];
  const { network } = await run({ pipelines: lists, network: sandbox.url, range: '1000:1007', warehouse });
  const { store, statements } = await openWatched(warehouse, network);
  const at = { from: 1004, to: 1004 };
  for (const list of lists) {
    const context = { sink: storeSink(store, registry), registry, pipeline: registry.pipeline(list) };
    const stage = async () => ({ staged: await store.stage(at).finish(), discard: async () => {} });
    const rows = { stage, fetch: async () => 0, signal: new AbortController().signal } as unknown as ProvableRows;
    const before = statements.length;
    await new ListProof(context as unknown as WalkContext).compareSpan(rows, at, { from: 0n, to: 1n << 60n });
    expect(statements.length).toBeGreaterThan(before);
  }
  await store.close();
  const views = Object.values(ROLES).map(({ relation }) => relation);
  expect(statements.flatMap((sql) => views.filter((view) => sql.includes(view)))).toEqual([]);
});

/** Headers of a block come in any order. */
function sorted(headers: ReadonlyMap<number, readonly Header[]>): ReadonlyMap<number, readonly Header[]> {
  const nameOf = ({ workchain, shard, seqno }: Header): string => `${workchain} ${shard} ${seqno}`;
  return new Map(
    [...headers].map(([seqno, own]) => [seqno, own.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))]),
  );
}

function bigSort(values: readonly bigint[]): readonly bigint[] {
  return values.toSorted((a, b) => (a < b ? -1 : 1));
}

/** Number of files that a statement names. */
function countFiles(sql: string): number {
  return sql.match(/\.parquet'/g)?.length ?? 0;
}
