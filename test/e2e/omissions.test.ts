import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf } from '../verify/support.ts';
import { query } from './export.ts';

const RANGE = '1000:1039';
/** Blocks before, so that transactions tell of every row of the range. */
const WIDER = '995:1039';
/** Lists that transactions prove, and a share of their records that leaves some out of this range. */
const PROVEN = [
  ['traces', 'traces', 0.02],
  ['message_links', 'messages', 0.01],
  ['jetton_transfers', 'jetton/transfers', 0.1],
  ['jetton_burns', 'jetton/burns', 0.3],
  ['nft_transfers', 'nft/transfers', 0.3],
] as const;

let sandbox: TestSandbox;
/** A warehouse with the transactions alone, to be copied. */
let proof: string;
const truth = new Map<string, unknown>();

async function runInto(warehouse: string, pipelines: readonly string[], range = RANGE) {
  const problems: RunEvent[] = [];
  const report = await run({
    ...{ pipelines, network: sandbox.url, range, warehouse, effects: hurriedEffects() },
    onEvent: (event) => {
      if (event.event === 'problem') problems.push(event);
    },
  });
  return { report, problems };
}

/** Rows of a list; an order that was aborted may be one that the index could not read, and is asked for twice at most. */
function rowsOf(warehouse: string, pipeline: string): Promise<unknown> {
  const where = /burns|transfers/.test(pipeline) ? 'WHERE tx_aborted IS NOT TRUE' : '';
  return query(warehouse, `SELECT count(*), sum(hash(t)::HUGEINT) FROM ${pipeline} t ${where}`);
}

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 4000 });
  proof = join(freshFolder(), 'w');
  await runInto(proof, ['transactions'], WIDER);
  const warehouse = copyOf(proof);
  await runInto(
    warehouse,
    PROVEN.map(([pipeline]) => pipeline),
  );
  for (const [pipeline] of PROVEN) truth.set(pipeline, await rowsOf(warehouse, pipeline));
});
afterEach(() => sandbox.setFaults(NO_FAULTS));

describe('a list that leaves rows out with status 200', () => {
  test.each(PROVEN)('%s: what one answer lacks is asked for again', async (pipeline, path, rate) => {
    const warehouse = copyOf(proof);
    sandbox.setFaults({ omits: [{ path, rate, lasting: false }] });
    const { report, problems } = await runInto(warehouse, [pipeline]);
    expect(problems).toEqual([]);
    expect(report.complete).toBe(true);
    expect(await rowsOf(warehouse, pipeline)).toEqual(truth.get(pipeline));
  });

  test.each(PROVEN)('%s: what no answer has leaves its blocks open, and told', async (pipeline, path, rate) => {
    const warehouse = copyOf(proof);
    sandbox.setFaults({ omits: [{ path, rate, lasting: true }] });
    const lied = await runInto(warehouse, [pipeline]);
    expect(lied.report.complete).toBe(false);
    expect(lied.problems.length).toBeGreaterThan(0);
    expect(lied.problems[0]).toMatchObject({ pipeline, code: 'unproven', message: expect.stringMatching(/expected/) });
    sandbox.setFaults(NO_FAULTS);
    const { report, problems } = await runInto(warehouse, [pipeline]);
    expect(problems).toEqual([]);
    expect(report.complete).toBe(true);
    expect(await rowsOf(warehouse, pipeline)).toEqual(truth.get(pipeline));
  });
});
