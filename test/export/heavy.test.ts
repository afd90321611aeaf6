import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { hashTables, query } from '../e2e/export.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { testClock } from '../follow/support.ts';
import { freshFolder } from '../scratch.ts';

const TIMEOUT = { status: 500, body: '{"error":"timeout: context deadline exceeded"}' };

const sandbox = await startTestSandbox({ blocks: 900 });
afterEach(() => {
  sandbox.answer = undefined;
  sandbox.requests.reset();
});
afterAll(() => sandbox.close());

/** Runs without waiting between attempts. */
async function runOver(range: string, pipelines: readonly string[], network = sandbox.url) {
  const warehouse = join(freshFolder(), 'w');
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines, range, network, warehouse, effects: testClock(), commitEveryMs: 0 },
    onEvent: (event) => events.push(event),
  });
  const halved = events.flatMap((event) => (event.event === 'halved' ? [event.pipeline] : []));
  const problems = events.flatMap((event) =>
    event.event === 'problem' ? [`${event.pipeline} ${event.from}:${event.to} ${event.code}`] : [],
  );
  return { warehouse, report, halved, problems };
}

/** Requests for rows with this logical time, or for this block, are a timeout. */
function answerHeavily(path: string, lt: bigint, seqno: number) {
  sandbox.answer = (passing) => {
    const { query } = passing;
    const [from, to] = [BigInt(query.get('start_lt') ?? 1), BigInt(query.get('end_lt') ?? 0)];
    const isOfBlock = passing.path.endsWith('ByMasterchainBlock') && query.get('seqno') === String(seqno);
    return isOfBlock || (passing.path === path && from <= lt && lt <= to) ? TIMEOUT : passing.forward();
  };
}

describe('a source that takes too long for many rows', () => {
  test('is asked for fewer, which is told once for each list; the rows are the same', async () => {
    const pipelines = ['transactions', 'traces'];
    const whole = await runOver('100:160', pipelines);
    sandbox.setFaults({ heavyRows: 130 });
    const { warehouse, report, halved, problems } = await runOver('100:160', pipelines);
    sandbox.setFaults(NO_FAULTS);
    expect(halved).toEqual(['blocks', 'transactions', 'traces']);
    expect({ problems, complete: report.complete }).toEqual({ problems: [], complete: true });
    expect(await hashTables(warehouse)).toEqual(await hashTables(whole.warehouse));
  });

  test('is asked three times for further pages of the list, unless something else is wrong with them', async () => {
    const isPage = (each: string) => each.startsWith('/transactions?');
    let busy = 4;
    sandbox.answer = (passing) => {
      const pages = new Set(sandbox.requests.targets.filter(isPage));
      // The first half of the first page.
      const isHalf = sandbox.requests.targets.at(-1) === [...pages][1];
      return isHalf && busy-- > 0 ? { status: 429, body: '{"result":"Ratelimit exceed"}' } : passing.forward();
    };
    sandbox.setFaults({ heavyRows: 130 });
    const { report } = await runOver('100:160', ['transactions'], sandbox.url);
    sandbox.setFaults(NO_FAULTS);
    expect(report.complete).toBe(true);
    const pages = sandbox.requests.targets.filter(isPage);
    const tries = [...new Set(pages)].map((each) => pages.filter((other) => other === each).length);
    expect(tries[0]).toBe(8);
    expect(tries[1]).toBeGreaterThan(4);
    expect(new Set(tries.slice(2))).toEqual(new Set([3, 1]));
  });

  test.each([
    // The last time of block 118 is above its safe horizon, so it belongs to the window of the next block.
    ['jetton_transfers', '/jetton/transfers', 119],
    ['transactions', '/transactions', 118],
  ])('of one block leaves out this block alone (%s)', async (pipeline, path, left) => {
    const whole = await runOver('110:125', ['transactions']);
    const [[lt = ''] = []] = await query(
      whole.warehouse,
      'select max(lt) from transactions where mc_block_seqno = 118',
    );
    answerHeavily(path, BigInt(lt), 118);
    const { report, problems, warehouse } = await runOver('110:125', [pipeline], sandbox.url);
    expect(problems).toEqual([`${pipeline} ${left}:${left} server-error`]);
    expect(report.complete).toBe(false);
    const relayed = sandbox.requests.targets.length;
    sandbox.answer = undefined;
    const again = await run({ pipelines: [pipeline], network: sandbox.url, range: '110:125', warehouse });
    // Only the block that was left out is requested.
    expect({ complete: again.complete, rows: again.spans }).toEqual({ complete: true, rows: 1 });
    expect(relayed).toBeLessThan(200);
  });

  test('of one block with many pages, all of which fail, leaves out this block by its number', async () => {
    sandbox.answer = async (passing) => {
      if (passing.path.startsWith('/transactions')) return TIMEOUT;
      const answer = await passing.forward();
      if (passing.path !== '/blocks') return answer;
      return { status: 200, body: answer.body.replace(/"tx_count":\d+/, '"tx_count":5500') };
    };
    const { report, problems } = await runOver('118', ['transactions'], sandbox.url);
    expect(problems).toEqual(['transactions 118:118 server-error']);
    expect(report).toMatchObject({ complete: false, rows: { transactions: 0 } });
    expect(sandbox.requests.targets.filter((each) => each.startsWith('/transactions')).length).toBeGreaterThan(8);
  });

  test('for each request of a list, however small, ends the run after some of them', async () => {
    sandbox.answer = (passing) => (passing.path === '/transactions' ? TIMEOUT : passing.forward());
    await expect(runOver('100:300', ['transactions'], sandbox.url)).rejects.toMatchObject({ code: 'server-error' });
    expect(sandbox.requests.targets.length).toBeLessThan(200);
  });

  test('is not asked for fewer when it answers nothing at all', async () => {
    let isDown = false;
    sandbox.answer = (passing) => {
      isDown ||= passing.path === '/transactions';
      return isDown ? TIMEOUT : passing.forward();
    };
    await expect(runOver('100:120', ['transactions'], sandbox.url)).rejects.toMatchObject({ code: 'server-error' });
    const asked = sandbox.requests.targets.filter((each) => each.startsWith('/transactions'));
    expect(asked.length).toBe(8 * new Set(asked).size);
  });
});
