import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { readStatus, storedSpans } from '../../src/warehouse/query/status.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

const sandbox = await startTestSandbox({ blocks: 400 });
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
    (await readStatus(warehouse)).pipelines.map((status) => [status.pipeline, storedSpans(status)]),
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
    doubling('/actions', 'mc_seqno', 'actions', Number.POSITIVE_INFINITY);
    const { report, done, problems } = await exported(sandbox.url, ['actions', 'traces'], '60:72');
    expect(report.complete).toBe(false);
    expect(done).toMatchObject({ actions: WITHOUT_66, traces: [{ from: 60, to: 72 }] });
    expect(problems).toMatchObject([
      {
        ...{ pipeline: 'actions', from: 66, to: 66, code: 'double-key' },
        message: expect.stringMatching(/^audit actions 66: expected rows with keys of their own, got two with /),
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
