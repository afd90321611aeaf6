import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { readStatus, thereOf } from '../../src/warehouse/query/status.ts';
import { query } from '../e2e/export.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import type { LieKind } from '../faults/lie-kinds.ts';
import { withRows } from '../faults/lists.ts';
import { type Passing, type Replied, startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 400 });
});
afterEach(() => sandbox.setFaults(NO_FAULTS));
afterAll(() => sandbox.close());

async function exported(
  network: string,
  pipelines: readonly string[],
  range: string,
  warehouse = join(freshFolder(), 'w'),
) {
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines, network, range, warehouse, effects: hurriedEffects(), waitMs: 2000 },
    ...{ onEvent: (event: RunEvent) => events.push(event) },
  });
  const done = Object.fromEntries(
    (await readStatus(warehouse)).pipelines.map((status) => [status.pipeline, thereOf(status)]),
  );
  return { warehouse, report, done, problems: events.filter((event) => event.event === 'problem') };
}

const WITHOUT_66 = [
  { from: 60, to: 65 },
  { from: 67, to: 72 },
];

describe('a row that a list of one block has twice', () => {
  /** Doubles a row of block 66, so often. */
  const doubling = (path: string, parameter: string, key: string, times: number) => {
    let left = times;
    sandbox.changeAnswers((target, answer) => {
      if (target.path !== path || target.query.get(parameter) !== '66' || left-- <= 0) return undefined;
      return withRows(answer, key, (rows) => [...rows, ...rows.slice(0, 1)]);
    });
  };

  test.each([
    ['shard_state', '/masterchainBlockShardState', 'seqno', 'blocks'],
    ['traces', '/traces', 'mc_seqno', 'traces'],
    ['actions', '/actions', 'mc_seqno', 'actions'],
  ])('is asked for again (%s)', async (pipeline, path, parameter, key) => {
    const truth = await exported(sandbox.url, [pipeline], '60:72');
    doubling(path, parameter, key, 1);
    const { report, problems } = await exported(sandbox.url, [pipeline], '60:72');
    expect(problems).toEqual([]);
    expect(report).toMatchObject({ complete: true, rows: truth.report.rows });
  });

  test('leaves only its block open, and later pipelines run', async () => {
    doubling('/masterchainBlockShardState', 'seqno', 'blocks', Number.POSITIVE_INFINITY);
    const { report, done, problems } = await exported(sandbox.url, ['shard_state', 'traces'], '60:72');
    expect(report.complete).toBe(false);
    expect(done).toMatchObject({ shard_state: WITHOUT_66, traces: [{ from: 60, to: 72 }] });
    expect(problems).toMatchObject([
      {
        ...{ pipeline: 'shard_state', from: 66, to: 66, code: 'double-key' },
        message: expect.stringMatching(
          /^audit shard_state 66: expected rows with keys of their own, got two with mc_seqno 66, workchain -?\d, shard -?\d+, seqno \d+$/,
        ),
      },
    ]);
  });

  test('of two blocks leaves both open', async () => {
    sandbox.changeAnswers((target, answer) => {
      if (target.path !== '/traces' || target.query.get('mc_seqno') !== '67') return undefined;
      // One of its traces has the id of a trace of block 66.
      return { ...answer, body: answer.body.replace(/"trace_id":"[^"]+"/, `"trace_id":"${idOf66}"`) };
    });
    const idOf66 = await firstTrace(66);
    const { done } = await exported(sandbox.url, ['traces'], '60:72');
    expect(done['traces']).toEqual([
      { from: 60, to: 65 },
      { from: 68, to: 72 },
    ]);
  });

  async function firstTrace(seqno: number): Promise<string> {
    const text = await (await fetch(`${sandbox.url}/traces?mc_seqno=${seqno}&limit=1&sort=asc`)).text();
    const answer: { traces: { trace_id: string }[] } = JSON.parse(text);
    return answer.traces[0]?.trace_id ?? '';
  }
});

describe('a state of the shards', () => {
  const isState66 = (target: Passing): boolean =>
    target.path === '/masterchainBlockShardState' && target.query.get('seqno') === '66';

  test.each(['shard_state', 'blocks,shard_state'])('without a shard is never taken for whole (%s)', async (names) => {
    sandbox.changeAnswers((target, answer) =>
      isState66(target) ? withRows(answer, 'blocks', (rows) => rows.slice(0, -1)) : undefined,
    );
    const { done, problems } = await exported(sandbox.url, names.split(','), '60:72');
    expect(done['shard_state']).toEqual(WITHOUT_66);
    expect(problems).toMatchObject([
      { from: 66, to: 66, code: 'unbalanced', message: expect.stringContaining('expected') },
    ]);
  });

  test('without its masterchain block is never taken for whole', async () => {
    sandbox.changeAnswers((target, answer) =>
      isState66(target)
        ? withRows<{ workchain: number }>(answer, 'blocks', (rows) => rows.filter(({ workchain }) => workchain === 0))
        : undefined,
    );
    expect((await exported(sandbox.url, ['shard_state'], '60:72')).done['shard_state']).toEqual(WITHOUT_66);
  });

  test('that lacks a shard once is asked for again', async () => {
    let left = 2;
    sandbox.changeAnswers((target, answer) =>
      isState66(target) && left-- > 0 ? withRows(answer, 'blocks', (rows) => rows.slice(1)) : undefined,
    );
    const { report, problems } = await exported(sandbox.url, ['shard_state'], '60:72');
    expect(problems).toEqual([]);
    expect(report.complete).toBe(true);
  });

  test.each<LieKind>(['state-older', 'state-shard-missing'])(
    'is held against the headers in the warehouse (%s)',
    async (kind) => {
      const { warehouse } = await exported(sandbox.url, ['blocks'], '50:72');
      sandbox.setFaults({ lies: [{ seqno: 66, kind }] });
      const lied = await exported(sandbox.url, ['shard_state'], '60:72', warehouse);
      expect(lied.done['shard_state']).toEqual(WITHOUT_66);
      sandbox.setFaults(NO_FAULTS);
      const { report, done } = await exported(sandbox.url, ['shard_state'], '60:72', warehouse);
      expect(report.complete).toBe(true);
      expect(done['shard_state']).toEqual([{ from: 60, to: 72 }]);
    },
  );

  test('where the index begins lacks shards for good, which the headers prove', async () => {
    // The first block with a shard that has no block in it: an index that begins there knows nothing older.
    interface Row {
      readonly masterchain_block_ref: { readonly seqno: number };
    }
    let first = 2;
    for (; ; first++) {
      const text = await (await fetch(`${sandbox.url}/masterchainBlockShardState?seqno=${first}`)).text();
      const { blocks }: { blocks: readonly Row[] } = JSON.parse(text);
      if (blocks.some((block) => block.masterchain_block_ref.seqno < first)) break;
    }
    sandbox.changeAnswers((target, answer): Replied | undefined => {
      if (target.path === '/masterchainInfo') {
        const info: Record<string, unknown> = JSON.parse(answer.body);
        return { ...answer, body: JSON.stringify({ ...info, first: { ...Object(info['first']), seqno: first } }) };
      }
      return withRows<Row>(answer, 'blocks', (rows) => rows.filter((row) => row.masterchain_block_ref.seqno >= first));
    });
    const alone = await exported(sandbox.url, ['shard_state'], `${first}`);
    expect(alone.problems).toMatchObject([{ code: 'unbalanced', message: expect.stringContaining('every shard') }]);
    const proven = await exported(sandbox.url, ['blocks', 'shard_state'], `${first}`);
    expect(proven.report.complete).toBe(true);
    const [[states] = [], [headers] = []] = await query(
      proven.warehouse,
      'SELECT count(*) FROM shard_state UNION ALL SELECT count(*) FROM blocks',
    );
    expect(states).toBe(headers);
  });
});
