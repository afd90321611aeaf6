import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

const KEY = 'd3b07384d113edec49eaa6238ad5ff00d3b07384d113edec49eaa6238ad5ff00';
/** What a source with a debugging aid sends back. */
const ECHO = `"debug":{"headers":"X-Api-Key: ${KEY}","again":"${KEY}"}`;

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  let transfers = 0;
  sandbox.answer = async ({ forward }) => {
    const { status, body } = await forward();
    const echoed = body
      .replaceAll('"transaction_hash":', `${ECHO},"transaction_hash":`)
      .replaceAll('"prev_trans_hash":', `${ECHO},"prev_trans_hash":`)
      .replace(/"amount":"\d+"/g, (amount) => (transfers++ % 7 === 0 ? `"amount":"${KEY}"` : amount));
    return { status, body: echoed };
  };
});

test('a key that the source sends back reaches neither rows nor quarantine, nor what is told', async () => {
  const warehouse = join(freshFolder(), 'w');
  const events: RunEvent[] = [];
  await run({
    ...{
      pipelines: ['transactions', 'jetton_transfers'],
      range: '1000:1003',
      network: sandbox.url,
      warehouse,
      workers: 0,
    },
    ...{ env: { TONLAKE_API_KEY: KEY }, onEvent: (event) => events.push(event) },
  });
  const told = JSON.stringify(events);
  expect(told).toContain('"event":"quarantine"');
  const kept = await query(warehouse, 'SELECT raw, reason, request, pointer FROM quarantine');
  const rows = await query(
    warehouse,
    'SELECT _extra FROM transactions WHERE _extra IS NOT NULL UNION ALL SELECT _extra FROM jetton_transfers',
  );
  expect(JSON.stringify(kept)).toContain('"debug');
  expect(JSON.stringify(rows)).toContain('[redacted]');
  for (const text of [told, JSON.stringify(kept), JSON.stringify(rows)]) expect(text).not.toContain(KEY);
  const [[hash]] = (await query(warehouse, 'SELECT hash FROM transactions LIMIT 1')) as [[string]];
  const env = { TONLAKE_API_KEY: KEY };
  for (const args of [
    ['show', 'transactions', hash, '--live', '--network', sandbox.url, '--warehouse', warehouse],
    ['run', 'jetton_transfers', '--range', '1004:1005', '--network', sandbox.url, '--warehouse', warehouse, '--json'],
  ]) {
    const { stdout, stderr } = await tonlake(args, { env });
    expect(stdout + stderr).not.toContain(KEY);
  }
});
