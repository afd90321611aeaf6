import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Header } from '../../src/chain/headers.ts';
import { BlockWindows } from '../../src/export/block-windows.ts';
import { planRun } from '../../src/export/plan.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { hashTables } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { type Passing, type Replied, startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf } from '../verify/support.ts';

const RANGE = '1000:1015';
const BLOCKS = 16;
const LISTS = ['traces', 'actions'];

async function runInto(warehouse: string, more: Partial<Parameters<typeof run>[0]> = {}) {
  const events: RunEvent[] = [];
  const report = await run({
    ...{
      pipelines: LISTS,
      network: sandbox.url,
      range: RANGE,
      warehouse,
      effects: hurriedEffects(),
      waitMs: 0,
    },
    ...{ onEvent: (event: RunEvent) => events.push(event), ...more },
  });
  const problems = events.filter((event) => event.event === 'problem' || event.event === 'quarantine');
  return { report, problems, rows: await hashTables(warehouse) };
}

type Change = (asked: Passing, answer: Replied, isWindow: boolean) => Replied | undefined;

/** Changes answers of the lists from now on. @returns their requests: of windows, and of which blocks */
function counting(change: Change = () => undefined) {
  const asked = { windows: 0, blocks: new Set<string>() };
  sandbox.answer = async (passing) => {
    const { path, query } = passing;
    const answer = await passing.forward();
    if (!LISTS.includes(path.slice(1))) return answer;
    const isWindow = query.has('start_lt');
    const seqno = query.get('mc_seqno');
    if (isWindow) asked.windows++;
    if (seqno !== null) asked.blocks.add(`${path} ${seqno}`);
    return change(passing, answer, isWindow) ?? answer;
  };
  return asked;
}

const sandbox = await startTestSandbox({ blocks: 4000, activity: 0.5 });
/** A warehouse with the transactions alone, to be copied. */
const proof = join(freshFolder(), 'w');
await runInto(proof, { pipelines: ['transactions'], range: '995:1015' });
const { rows: truth } = await runInto(copyOf(proof), { walk: 'masterchain' });
afterEach(() => {
  sandbox.answer = undefined;
});
afterAll(() => sandbox.close());

describe('lists of blocks whose transactions are in the warehouse', () => {
  test('are requested in windows, and give the rows of requests block by block', async () => {
    const asked = counting();
    const { report, problems, rows } = await runInto(copyOf(proof));
    expect({ problems, complete: report.complete, rows }).toEqual({ problems: [], complete: true, rows: truth });
    // One of traces, whose number the transactions tell, and one of actions.
    expect(asked).toEqual({ windows: 2, blocks: new Set() });
  });

  test('are requested block by block with --walk masterchain, and before the transactions are there', async () => {
    const asked = counting();
    await runInto(copyOf(proof), { walk: 'masterchain' });
    await runInto(join(freshFolder(), 'w'), { range: '1000:1003' });
    expect(asked.windows).toBe(0);
    expect(asked.blocks.size).toBe(2 * BLOCKS);
  });

  test('are quoted in windows, or block by block where the transactions will not be there', async () => {
    counting();
    const quoted = async (warehouse: string, pipelines: readonly string[]) => {
      const plan = await planRun({ pipelines, network: sandbox.url, range: RANGE, warehouse });
      return plan.pipelines.find(({ pipeline }) => pipeline === 'traces')?.requests['/traces'];
    };
    expect(await quoted(proof, ['traces'])).toBeLessThan(BLOCKS / 2);
    const none = join(freshFolder(), 'w');
    expect(await quoted(none, ['traces', 'transactions'])).toBeLessThan(BLOCKS / 2);
    expect(await quoted(none, ['traces'])).toBe(BLOCKS);
  });

  test('of which a window lacks rows are requested by themselves', async () => {
    const asked = counting((target, answer, isWindow) =>
      isWindow ? withRows(answer, target.path.slice(1), (rows) => rows.slice(1)) : undefined,
    );
    const { report, problems, rows } = await runInto(copyOf(proof), { pipelines: ['traces'] });
    expect({ problems, complete: report.complete }).toEqual({ problems: [], complete: true });
    expect(rows['traces']).toBe(truth['traces']);
    expect(asked.blocks.size).toBeGreaterThan(0);
    expect(asked.blocks.size).toBeLessThan(BLOCKS);
  });

  test('of which a window has a row in the wrong block are requested by themselves', async () => {
    const asked = counting(({ path }, answer, isWindow) => {
      if (!isWindow) return undefined;
      const [wrong, right] = path === '/traces' ? ['"1011"', '"1010"'] : ['1009', '1010'];
      return { ...answer, body: answer.body.replace(`mc_seqno_end":${right}`, `mc_seqno_end":${wrong}`) };
    });
    const { report, problems, rows } = await runInto(copyOf(proof));
    expect({ problems, complete: report.complete, rows }).toEqual({ problems: [], complete: true, rows: truth });
    expect([...asked.blocks].sort()).toEqual(['/actions 1009', '/actions 1010', '/traces 1010', '/traces 1011']);
  });

  test('are proven though the windows come from a server that does not have them', async () => {
    const asked = counting((target, answer, isWindow) =>
      isWindow ? withRows(answer, target.path.slice(1), () => []) : undefined,
    );
    const { report, problems, rows } = await runInto(copyOf(proof));
    expect({ problems, complete: report.complete, rows }).toEqual({ problems: [], complete: true, rows: truth });
    expect(asked.blocks.size).toBeGreaterThan(BLOCKS);
  });

  test('stay open if no server has them', async () => {
    counting((target, answer, isWindow) => {
      if (target.path === '/traces') return undefined;
      if (target.query.get('mc_seqno') !== null) return NOT_FOUND;
      return isWindow || target.query.has('trace_id') ? withRows(answer, 'actions', () => []) : undefined;
    });
    const { report, problems, rows } = await runInto(copyOf(proof));
    expect(report.complete).toBe(false);
    expect(problems[0]).toMatchObject({ pipeline: 'actions', code: 'not-indexed' });
    expect(rows['actions']).toBeUndefined();
    expect(rows['traces']).toBe(truth['traces']);
  });

  test('are compared with the transactions, although others are not indexed or take too long to answer', async () => {
    const lacking = new Set(['1005', '1008']);
    counting(({ path, query }, answer) => {
      const seqno = query.get('mc_seqno') ?? '';
      if (path !== '/traces' || seqno === '') return undefined;
      if (seqno === '1010') return NOT_FOUND;
      if (seqno === '1011') return { status: 500, body: '{"error":"context deadline exceeded"}' };
      return lacking.delete(seqno) ? withRows(answer, 'traces', (rows) => rows.slice(1)) : undefined;
    });
    const warehouse = copyOf(proof);
    const { report, problems } = await runInto(warehouse, { pipelines: ['traces'], walk: 'masterchain' });
    expect({ complete: report.complete, left: lacking.size }).toEqual({ complete: false, left: 0 });
    expect(problems).toMatchObject([
      { event: 'problem', pipeline: 'traces', from: 1010, to: 1010, code: 'not-indexed' },
      { event: 'problem', pipeline: 'traces', from: 1011, to: 1011, code: 'server-error' },
    ]);
    sandbox.answer = undefined;
    const { rows } = await runInto(warehouse, { pipelines: ['traces'] });
    expect(rows['traces']).toBe(truth['traces']);
  });

  test('are requested again twice each, however often others were', async () => {
    // A block that came twice in a window, once with rows of another; and a list that lacks a row of another block.
    let wrong = 1;
    counting(({ path, query }, answer, isWindow) => {
      if (path !== '/traces') return undefined;
      const seqno = query.get('mc_seqno');
      if (seqno === '1004' && wrong-- > 0) return { ...answer, body: answer.body.replaceAll('"1004"', '"1003"') };
      if (!isWindow) return undefined;
      return withRows<Record<string, unknown>>(answer, 'traces', (rows) => {
        const twice = rows.filter((row) => row['mc_seqno_end'] === '1004');
        return [...rows.filter((row) => row['mc_seqno_end'] !== '1012'), ...twice];
      });
    });
    const { report, problems, rows } = await runInto(copyOf(proof), { pipelines: ['traces'] });
    expect({ problems, complete: report.complete, wrong }).toEqual({ problems: [], complete: true, wrong: -1 });
    expect(rows['traces']).toBe(truth['traces']);
  });

  test('are requested by themselves if windows are never whole, or the source does not know them', async () => {
    const asked = counting((target, answer, isWindow) => {
      if (!isWindow) return undefined;
      return target.path === '/traces' ? unfiltered(answer) : { ...answer, body: answer.body.slice(0, 100) };
    });
    const { report, rows } = await runInto(copyOf(proof));
    expect({ complete: report.complete, rows }).toEqual({ complete: true, rows: truth });
    expect(asked.blocks.size).toBe(2 * BLOCKS);
    // A window that is full for good is not halved for ever.
    expect(asked.windows).toBeLessThan(4 * BLOCKS);
  });

  test('with a record that cannot be decoded leave one block open', async () => {
    let broken = '';
    counting((target, answer) => {
      if (target.path !== '/traces') return undefined;
      return withRows<Record<string, unknown>>(answer, 'traces', (rows) =>
        rows.map((row) => {
          if (broken === '' && row['mc_seqno_end'] === '1010') broken = String(row['trace_id']);
          return row['trace_id'] === broken ? { ...row, end_lt: 'none' } : row;
        }),
      );
    });
    const { report, problems } = await runInto(copyOf(proof), { pipelines: ['traces'] });
    expect(report.complete).toBe(false);
    expect(problems).toMatchObject([{ event: 'quarantine', pipeline: 'traces', seqno: 1010 }]);
    expect(problems).toHaveLength(1);
  });
});

const NOT_FOUND: Replied = { status: 404, body: '{"error":"masterchain block not found"}' };

/** Always a full page, whatever the window is. */
function unfiltered(answer: Replied): Replied {
  return withRows<Record<string, unknown>>(answer, 'traces', ([row]) =>
    Array.from({ length: 200 }, (_, at) => ({ ...row, trace_id: String(at) })),
  );
}

describe('windows of blocks', () => {
  const header = (mcSeqno: number, startLt: number, endLt: number, txCount = 10): Header => ({
    ...{ workchain: 0, shard: '-9223372036854775808', seqno: mcSeqno, mcSeqno, txCount, utime: 0 },
    ...{ startLt: BigInt(startLt), endLt: BigInt(endLt) },
  });
  /** Block 3 includes a block of a shard that was late. */
  const late = new Map([
    [1, [header(1, 100, 199)]],
    [2, [header(2, 200, 299)]],
    [3, [header(3, 150, 180), header(3, 300, 399)]],
  ]);

  test('cover the span, share no logical time, and have about as many transactions each', () => {
    const windows = new BlockWindows({ from: 1, to: 3 }, late);
    windows.plan(40, 20);
    expect(windows.transactions).toBe(40);
    expect(windows.planned).toEqual([
      { from: 100n, to: 299n },
      { from: 300n, to: 399n },
    ]);
  });

  test('answer a block when all that it meets came', () => {
    const windows = new BlockWindows({ from: 1, to: 3 }, late);
    windows.plan(40, 20);
    const [first = NOWHERE, second = NOWHERE] = windows.planned;
    windows.take(first);
    expect([...windows.answered]).toEqual([1, 2]);
    const halves = windows.halve(second);
    // It has the rows of one block.
    expect(halves).toEqual([]);
    expect(windows.answered.has(3)).toBe(false);
  });

  test('that are full are halved, and answer a block when both halves came', () => {
    const windows = new BlockWindows({ from: 1, to: 3 }, late);
    windows.plan(1, 20);
    const [whole = NOWHERE] = windows.planned;
    const halves = windows.halve(whole);
    expect(halves).toEqual([
      { from: 100n, to: 249n },
      { from: 250n, to: 399n },
    ]);
    windows.take(halves[0] ?? NOWHERE);
    expect([...windows.answered]).toEqual([1]);
    windows.take(halves[1] ?? NOWHERE);
    expect([...windows.answered]).toEqual([1, 2, 3]);
  });

  test('leave a block without a header unanswered', () => {
    const windows = new BlockWindows({ from: 1, to: 4 }, late);
    windows.plan(1, 20);
    for (const window of windows.planned) windows.take(window);
    expect([...windows.answered]).toEqual([1, 2, 3]);
  });
});

const NOWHERE = { from: -1n, to: -1n };
