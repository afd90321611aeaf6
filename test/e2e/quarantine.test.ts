import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { exportRange, hashTables, query } from './export.ts';

const RANGE = '1000:1029';
const BROKEN = { seqno: 1010, index: 1, kind: 'lt' } as const;

const sandbox = await startTestSandbox({ hasTrueHashes: true });
const path = join(freshFolder(), 'w');
await exportRange(sandbox.url, RANGE, path);
const wanted = await hashTables(path);

beforeEach(() => {
  sandbox.setFaults(NO_FAULTS);
  sandbox.requests.reset();
});

async function statusOf(path: string): Promise<Record<string, unknown>> {
  const { code, stdout } = await tonlake(['status', '--warehouse', path, '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

test.each(['w', 'w.duckdb'])(
  'a record that cannot be decoded waits in the quarantine of %s until it can',
  async (name) => {
    sandbox.setFaults({ broken: [BROKEN] });
    const path = join(freshFolder(), name);
    const { code, report, events, stderr } = await exportRange(sandbox.url, RANGE, path);
    expect(code).toBe(1);
    expect(report).toMatchObject({ quarantined: 1, complete: false });
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'quarantine', seqno: 1010, pointer: '/transactions/1/lt' }),
    );
    expect(stderr).toMatch(/^quarantined: transactions 1010: .* at \/transactions\/1\/lt\n$/);

    const kept = await query(path, 'select pipeline, mc_block_seqno, pointer, reason, request, raw from quarantine');
    expect(kept).toHaveLength(1);
    const [pipeline, seqno, pointer, reason, request, raw] = kept[0] ?? [];
    expect({ pipeline, seqno, pointer }).toEqual({
      pipeline: 'transactions',
      seqno: '1010',
      pointer: '/transactions/1/lt',
    });
    expect(reason).toMatch(/expected .*, got /);
    expect(request).toContain('GET /transactionsByMasterchainBlock?seqno=1010');
    expect(JSON.parse(raw ?? '')).toMatchObject({ mc_block_seqno: 1010, lt: expect.anything() });
    // The day of its block, and the day on which it was found: here today.
    const days = `select block_date::VARCHAR, found_date = to_timestamp(found_at)::TIMESTAMP::DATE, found_date > block_date,
      (select block_time from _headers where workchain = -1 and seqno = 1010) = block_time
      from quarantine where block_date = date '2026-05-01'`;
    expect(await query(path, days)).toEqual([['2026-05-01', 'true', 'true', 'true']]);
    const half = `select count(*) from transactions where mc_block_seqno = 1010
    union all select count(*) from messages where tx_mc_block_seqno = 1010`;
    expect(await query(path, half)).toEqual([['0'], ['0']]);

    const held = { from: 1010, to: 1010 };
    expect(await statusOf(path)).toMatchObject({
      quarantined: 1,
      pipelines: [
        { pipeline: 'blocks', missing: [] },
        {
          pipeline: 'transactions',
          missing: [{ why: 'quarantined', spans: [held] }],
          proven: [
            { from: 1000, to: 1009 },
            { from: 1011, to: 1029 },
          ],
        },
      ],
    });
    const told = await tonlake(['status', '--long', '--warehouse', path]);
    expect(told.stdout).toMatch(/missing +1010 \(quarantined\)\n/);
    expect(told.stdout).toMatch(/1 records? in quarantine/);

    // Asked again while it is still broken: one entry, not two.
    expect((await exportRange(sandbox.url, RANGE, path)).report).toMatchObject({ quarantined: 1, complete: false });
    expect(await query(path, 'select count(*) from quarantine')).toEqual([['1']]);

    sandbox.setFaults({ broken: [] });
    sandbox.requests.reset();
    const mended = await exportRange(sandbox.url, RANGE, path);
    expect(mended).toMatchObject({ code: 0, stderr: '', report: { quarantined: 0, complete: true } });
    // One proven block is compared with the source; no header is read again.
    const headers = sandbox.requests.entries().filter((entry) => entry.path === 'blocks');
    expect(headers.map((entry) => new URLSearchParams(entry.query).get('limit'))).toEqual(['1']);
    expect(await query(path, 'select count(*) from quarantine')).toEqual([['0']]);
    expect(await statusOf(path)).toMatchObject({ quarantined: 0 });
    expect(await hashTables(path)).toEqual(wanted);
  },
);

test.each(['window', 'masterchain'])(
  'a header that cannot be decoded, by the walk %s, waits in the quarantine with the transactions of its block',
  async (mode) => {
    sandbox.setFaults({ broken: [{ seqno: 1010, index: 1, kind: 'root_hash' }] });
    const path = join(freshFolder(), 'w');
    const { code, report, events } = await exportRange(sandbox.url, RANGE, path, ['--walk', mode]);
    expect(code).toBe(1);
    expect(report).toMatchObject({ complete: false });
    const told = events.filter(({ event }) => event === 'quarantine');
    expect(told).toMatchObject([
      { pipeline: 'blocks', seqno: 1010, pointer: expect.stringMatching(/^\/blocks\/\d+\/root_hash$/) },
    ]);
    const raw = await query(path, "select raw->>'$.root_hash' from quarantine");
    expect(raw).toEqual([['12x']]);
    const kept = await query(path, 'select count(*), count(*) filter (mc_block_seqno = 1010) from blocks');
    expect(kept[0]?.[1]).toBe('0');
    const parts = [
      { from: 1000, to: 1009 },
      { from: 1011, to: 1029 },
    ];
    expect(await statusOf(path)).toMatchObject({
      pipelines: [
        { pipeline: 'blocks', missing: [{ why: 'quarantined', spans: [{ from: 1010, to: 1010 }] }], proven: parts },
        { pipeline: 'transactions', proven: parts },
      ],
    });
    expect(await tonlake(['verify', '--warehouse', path])).toMatchObject({ code: 0 });

    sandbox.setFaults({ broken: [] });
    expect(await exportRange(sandbox.url, RANGE, path)).toMatchObject({ code: 0, report: { complete: true } });
    expect(await hashTables(path)).toEqual(wanted);
  },
);

test('records that cannot be decoded are no matter where their blocks were not asked for, though they come with others', async () => {
  const broken = [999, 1030].flatMap((seqno) =>
    Array.from({ length: 40 }, (_, index) => ({ seqno, index, kind: 'lt' as const })),
  );
  sandbox.setFaults({ broken });
  const path = join(freshFolder(), 'w');
  expect(await exportRange(sandbox.url, RANGE, path)).toMatchObject({
    code: 0,
    stderr: '',
    report: { complete: true },
  });
  expect(await hashTables(path)).toEqual(wanted);
});

test('a field that nobody declared is kept in _extra of its row and told once', async () => {
  sandbox.setFaults({ extraField: 1 });
  const path = join(freshFolder(), 'w');
  const { code, report, events } = await exportRange(sandbox.url, '1000:1009', path);
  expect(code).toBe(0);
  expect(report.complete).toBe(true);
  const told = events.filter(({ event }) => event === 'unknown-field');
  expect(told.map(({ field }) => field)).toContain('transactions /suspended');
  for (const table of ['blocks', 'transactions', 'messages']) {
    const field = `_extra->>'$."/new_in_2027"'`;
    const rows = await query(path, `select count(*), count(${field}), min(${field}) from ${table}`);
    const [count, kept, value] = rows[0] ?? [];
    expect(kept, table).toBe(count);
    expect(JSON.parse(value ?? ''), table).toEqual({ a: [1, 2] });
  }
  sandbox.setFaults({ extraField: 0 });
  const clean = join(freshFolder(), 'w');
  await exportRange(sandbox.url, '1000:1009', clean);
  expect(await hashTables(path)).toEqual(await hashTables(clean));
});
