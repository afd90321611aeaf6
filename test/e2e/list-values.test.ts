import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, verify } from '../verify/support.ts';
import { query } from './export.ts';

const RANGE = '1000:1039';
/** Received by a jetton wallet, as an order. */
const TRANSFER = 0x0f8a7ea5;

type Row = Readonly<Record<string, unknown>>;

/** How a list contradicts the transactions, in one of its rows. */
interface Contradiction {
  readonly name: string;
  readonly pipeline: 'message_links' | 'traces' | 'jetton_transfers' | 'jetton_burns' | 'nft_transfers';
  readonly change: (row: Row) => Row;
}

const ACCOUNT = `0:${'1'.repeat(64)}`;
/** A day, in seconds. */
const DAY = 86_400;
const later = (value: unknown, by = DAY): unknown =>
  typeof value === 'string' ? String(BigInt(value) + BigInt(by)) : Number(value) + by;

/** Changes one key of rows. */
const changing = (
  pipeline: Contradiction['pipeline'],
  key: string,
  change: (value: unknown) => unknown,
): Contradiction => ({
  ...{ name: `${pipeline}: ${key}`, pipeline },
  change: (row) => ({ ...row, [key]: change(row[key]) }),
});

const CONTRADICTIONS: readonly Contradiction[] = [
  changing('message_links', 'source', () => ACCOUNT),
  changing('message_links', 'destination', () => ACCOUNT),
  changing('message_links', 'value', (value) => (value === null ? '1' : later(value, 1))),
  changing('message_links', 'value', () => null),
  changing('message_links', 'created_lt', (value) => later(value, 1)),
  changing('message_links', 'created_at', later),
  changing('traces', 'end_lt', (value) => later(value, 1)),
  changing('traces', 'end_utime', later),
  changing('traces', 'start_lt', () => '1'),
  changing('traces', 'start_utime', later),
  ...(['jetton_transfers', 'jetton_burns', 'nft_transfers'] as const).flatMap((pipeline) => [
    changing(pipeline, 'transaction_lt', (value) => later(value, 1)),
    changing(pipeline, 'transaction_now', later),
    changing(pipeline, 'transaction_aborted', (value) => value !== true),
  ]),
  changing('jetton_transfers', 'source_wallet', () => ACCOUNT),
  changing('jetton_burns', 'jetton_wallet', () => ACCOUNT),
  changing('nft_transfers', 'nft_address', () => ACCOUNT),
];

const PATHS = {
  message_links: ['/messages', 'messages'],
  traces: ['/traces', 'traces'],
  jetton_transfers: ['/jetton/transfers', 'jetton_transfers'],
  jetton_burns: ['/jetton/burns', 'jetton_burns'],
  nft_transfers: ['/nft/transfers', 'nft_transfers'],
} as const;

let sandbox: TestSandbox;
/** A warehouse with the transactions alone, to be copied. */
let proof: string;

async function runInto(warehouse: string, pipelines: readonly string[], range = RANGE) {
  const problems: Extract<RunEvent, { readonly event: 'problem' }>[] = [];
  const report = await run({
    ...{ pipelines, network: sandbox.url, range, warehouse, effects: hurriedEffects() },
    onEvent: (event) => {
      if (event.event === 'problem') problems.push(event);
    },
  });
  return { report, problems };
}

/** Changes the list of a pipeline, in all answers. */
function answer(pipeline: Contradiction['pipeline'], change: (rows: readonly Row[]) => readonly Row[]): void {
  const [path, key] = PATHS[pipeline];
  sandbox.changeAnswers((passing, given) =>
    passing.path === path && given.status === 200 ? withRows<Row>(given, key, change) : undefined,
  );
}

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 4000, hasTrueHashes: true });
  proof = join(freshFolder(), 'w');
  await runInto(proof, ['transactions'], '995:1039');
});

describe('a row of a list whose transaction says otherwise', () => {
  test.each(CONTRADICTIONS)(
    '$name: its blocks stay open, until the source tells the truth',
    async ({ pipeline, change }) => {
      const warehouse = copyOf(proof);
      let first: unknown;
      const keyOf = (row: Row): unknown => row['transaction_hash'] ?? row['hash'] ?? row['trace_id'];
      answer(pipeline, (rows) => {
        const at = Math.floor(rows.length / 2);
        first ??= rows[at] && keyOf(rows[at]);
        return rows.map((row) => (keyOf(row) === first ? change(row) : row));
      });
      const { report, problems } = await runInto(warehouse, [pipeline]);
      expect(report.complete).toBe(false);
      expect(problems[0]).toMatchObject({
        pipeline,
        code: 'unproven',
        message: expect.stringContaining(String(first)),
      });
      sandbox.answer = undefined;
      expect(await runInto(warehouse, [pipeline])).toMatchObject({ problems: [], report: { complete: true } });
      expect((await verify(warehouse)).findings).toEqual([]);
    },
  );
});

describe('an order that was aborted, listed as a transfer', () => {
  /** Lists an aborted order beside the rows of its time. */
  const listing = async (change: (row: Row) => Row): Promise<string> => {
    const [order = []] = await query(
      proof,
      `SELECT t.hash, t.lt, t.now, t.account, t.trace_id FROM transactions t
       JOIN messages m ON m.tx_hash = t.hash AND m.direction = 'in' AND m.opcode = ${TRANSFER}
       WHERE t.aborted AND t.mc_block_seqno BETWEEN 1005 AND 1030 ORDER BY t.lt LIMIT 1`,
    );
    const [hash = '', lt = '', now, account, trace] = order;
    const made = { transaction_hash: hash, transaction_lt: lt, transaction_now: Number(now), source_wallet: account };
    const [path, key] = PATHS.jetton_transfers;
    sandbox.changeAnswers((passing, given) => {
      const [from, to] = ['start_lt', 'end_lt'].map((name) => BigInt(passing.query.get(name) ?? -1));
      if (passing.path !== path || (from ?? 0n) > BigInt(lt) || (to ?? 0n) < BigInt(lt)) return undefined;
      return withRows<Row>(given, key, (rows) =>
        rows.length === 0 ? rows : [...rows, change({ ...rows[0], ...made, trace_id: trace, amount: '999' })],
      );
    });
    return hash;
  };

  test.each([
    ['as one that succeeded', (row: Row) => row],
    ['as one that was aborted', (row: Row) => ({ ...row, transaction_aborted: true })],
    ['without saying what became of it', ({ transaction_aborted: _, ...row }: Row) => row],
  ])('%s, leaves its blocks open', async (_, change) => {
    const warehouse = copyOf(proof);
    const hash = await listing(change);
    const { report, problems } = await runInto(warehouse, ['jetton_transfers']);
    expect(report.complete).toBe(false);
    expect(problems[0]).toMatchObject({ code: 'unproven', message: expect.stringContaining(hash) });
  });

  test('is taken from a server that never says so, as those of 2024', async () => {
    const warehouse = copyOf(proof);
    const hash = await listing((row) => row);
    const change = sandbox.answer;
    sandbox.answer = async (passing) => {
      const given = (await change?.(passing)) ?? (await passing.forward());
      if (passing.path !== '/jetton/transfers') return given;
      return withRows<Row>(given, 'jetton_transfers', (rows) => rows.map(({ transaction_aborted: _, ...row }) => row));
    };
    expect((await runInto(warehouse, ['jetton_transfers'])).report.complete).toBe(true);
    expect(await query(warehouse, `SELECT amount FROM jetton_transfers WHERE tx_hash = '${hash}'`)).toEqual([['999']]);
  });
});
