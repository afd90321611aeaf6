import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { formatSpans, intersectSpans, spanSize } from '../../src/core/span.ts';
import { run } from '../../src/export/run.ts';
import { spansIn } from '../../src/warehouse/query/coverage.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { query } from '../e2e/export.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, repair, verify } from './support.ts';

const LISTS = ['traces', 'actions'];
const RANGE = '1000:1029';
const LIE = { omits: [{ path: 'traces', rate: 0.05, lasting: true }] };

let sandbox: TestSandbox;
/** A warehouse with missing traces, which nothing could prove when they were exported. */
let lied: string;
/** A copy of it. */
let warehouse: string;
/** Traces that the network has: their names, and the blocks they end in. */
let traces: readonly (readonly string[])[];

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 4000 });
  const truth = join(freshFolder(), 'truth');
  await run({ pipelines: ['traces'], network: sandbox.url, range: RANGE, warehouse: truth });
  traces = await query(truth, 'SELECT trace_id, mc_seqno_end FROM traces');
  sandbox.setFaults(LIE);
  warehouse = join(freshFolder(), 'w');
  await exportInto(LISTS);
  await exportInto(['transactions'], '990:1029');
  lied = warehouse;
});
beforeEach(() => {
  sandbox.setFaults(LIE);
  warehouse = copyOf(lied);
});

async function exportInto(pipelines: readonly string[], range = RANGE) {
  return run({ pipelines, network: sandbox.url, range, warehouse, effects: hurriedEffects() });
}

/** Traces that the network has and the warehouse does not, those of actions and of tick-tocks. */
async function missing(): Promise<readonly string[]> {
  const held = new Set((await query(warehouse, 'SELECT trace_id FROM traces')).map(([id]) => id));
  return traces.filter(([id]) => !held.has(id)).map(([id, at]) => `${id} ${at}`);
}

test('every missing trace is a finding of traces and not of actions, and a repair fetches only their blocks', async () => {
  sandbox.setFaults(NO_FAULTS);
  const lacking = await missing();
  expect(lacking.length).toBeGreaterThan(5);
  const { findings } = await verify(warehouse);
  expect(findings.map(({ pipeline, kind }) => `${pipeline} ${kind}`)).toEqual(findings.map(() => 'traces list'));
  const accused = findings.flatMap(({ span }) => (span === undefined ? [] : [span]));
  for (const text of lacking) {
    const seqno = Number(text.split(' ')[1]);
    expect(
      accused.some(({ from, to }) => from <= seqno && seqno <= to),
      text,
    ).toBe(true);
  }
  const blocks = accused.reduce((sum, span) => sum + spanSize(span), 0);
  const { report, requests } = await repair(sandbox, warehouse);
  expect(report).toMatchObject({ proven: true, findings: 0 });
  expect(requests).toBeLessThanOrEqual(blocks + 3);
  expect(await missing()).toEqual([]);
});

test('a repair that gets the same rows again ends, keeps the rows where it is asked to, and leaves the blocks to the next run', async () => {
  const rows = await query(warehouse, 'SELECT trace_id FROM traces ORDER BY ALL');
  const { findings: before } = await verify(warehouse);
  const { report, requests } = await repair(sandbox, warehouse, { effects: hurriedEffects(), keepReadable: true });
  expect(report.proven).toBe(false);
  // Each block twice, each trace by itself twice, and the newest block.
  expect(requests).toBeLessThan(140);
  expect(await query(warehouse, 'SELECT trace_id FROM traces ORDER BY ALL')).toEqual(rows);
  const { findings } = await verify(warehouse);
  expect(findings.map(({ expected }) => expected)).toEqual(before.map(({ expected }) => expected));
  const { pipelines } = await readStatus(warehouse);
  const lacks = pipelines.find(({ pipeline }) => pipeline === 'traces')?.missing ?? [];
  // Blocks before those of the lists are there for the lists alone.
  const open = intersectSpans(spansIn(lacks), [{ from: 1000, to: 1029 }]);
  expect(formatSpans(open)).toBe(formatSpans(before.flatMap(({ span }) => span ?? [])));
  // Still missing: reported, and requested once each.
  expect((await exportInto(LISTS)).complete).toBe(false);
  expect(await query(warehouse, 'SELECT trace_id FROM traces ORDER BY ALL')).toEqual(rows);
  sandbox.setFaults(NO_FAULTS);
  // Of rows that are known to be wrong, no part is replaced by itself.
  const several = open.find((span) => spanSize(span) > 1);
  expect((await exportInto(['traces'], `${several?.from}:${several?.from}`)).complete).toBe(true);
  expect(await query(warehouse, 'SELECT trace_id FROM traces GROUP BY ALL HAVING count(*) > 1')).toEqual([]);
  expect((await missing()).length).toBeGreaterThan(0);
  expect((await exportInto(LISTS)).complete).toBe(true);
  expect(await missing()).toEqual([]);
  expect((await verify(warehouse)).findings).toEqual([]);
});

test('rows that were compared with nothing are reported as unproven, and proven by a later verification', async () => {
  sandbox.setFaults(NO_FAULTS);
  const path = join(freshFolder(), 'w');
  const more = { network: sandbox.url, range: RANGE, warehouse: path } as const;
  const span = [{ why: 'compared with nothing', spans: [{ from: 1000, to: 1029 }] }];
  const first = await run({ ...more, pipelines: ['traces', 'jetton_masters'] });
  expect(first).toMatchObject({ complete: true, unproven: { traces: span } });
  expect(Object.keys(first.unproven)).toEqual(['traces', 'jetton_masters']);
  expect((await verify(path)).report.unproven).toMatchObject({ traces: span });
  const second = await run({ ...more, pipelines: ['actions', 'message_links', 'transactions'] });
  expect(second.unproven).toEqual({ actions: span });
  const { report } = await verify(path);
  expect(Object.keys(report.unproven).sort()).toEqual(['actions', 'jetton_masters']);
  const { pipelines } = await readStatus(path);
  const unproven = pipelines.filter((each) => each.unproven.length > 0).map(({ pipeline }) => pipeline);
  expect(unproven).toEqual(['actions', 'jetton_masters', 'traces']);
  const from = 'SELECT DISTINCT account AS address FROM transactions LIMIT 3';
  const given = await run({ ...more, pipelines: ['account_latest'], from });
  expect(given).toMatchObject({ complete: true, unproven: { account_latest: span } });
  // Rows of some keys prove nothing of the blocks.
  expect((await verify(path)).report.spans).not.toHaveProperty('account_latest');
});
