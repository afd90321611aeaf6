import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { DEEP_LIES, NO_FAULTS, type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { Database } from '../../src/sql/database.ts';
import { openHeld } from '../../src/verify/damaged-warehouse.ts';
import { formatFinding } from '../../src/verify/finding.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { fillLedger } from '../../src/verify/restore-ledger.ts';
import { freshFolder } from '../scratch.ts';
import {
  contentOf,
  copyOf,
  dropFile,
  exportWarehouse,
  fileOf,
  ledgerFiles,
  type Repaired,
  readEntry,
  repair,
  rewrite,
  verify,
} from './support.ts';

const TABLES = ['blocks', 'transactions', 'messages', 'account_states'] as const;
/** Requests that one damaged file of a span may cost: its pages, and two states of shards and the ends for headers. */
const A_SPAN = 5;
/** Selects over the rows of a file, `old`: all but one, and one of them twice. */
const WITHOUT_ONE = 'SELECT * EXCLUDE (rowid) FROM (SELECT *, rowid FROM old) WHERE rowid <> 20';
const WITH_ONE_TWICE = 'FROM old UNION ALL (FROM old LIMIT 1)';

let sandbox: Sandbox;
let sound: string;
let wanted: unknown;

beforeAll(async () => {
  sandbox = await startSandbox();
  sound = await exportWarehouse(sandbox);
  wanted = await contentOf(sound);
});

afterAll(async () => {
  await sandbox.close();
});

/** Repairs, and holds the result against the warehouse as it was. @returns requests, and what was found before */
async function expectMended(path: string, most: number, deep = false): Promise<Repaired> {
  const repaired = await repair(sandbox, path, { deep });
  const { report, requests } = repaired;
  expect(report).toMatchObject({ proven: true, findings: 0 });
  expect(requests).toBeLessThanOrEqual(most);
  // With the same rows, what --deep would follow is as sound as it was.
  const { findings, report: after } = await verify(path, { deep, content: true });
  expect(findings).toEqual([]);
  expect(after.content).toEqual(wanted);
  return repaired;
}

describe('a sound warehouse', () => {
  test('is proven from its own files, and costs a repair no request', async () => {
    sandbox.requests.reset();
    const { report, findings } = await verify(sound, { deep: true, content: true });
    expect(findings).toEqual([]);
    expect(report).toMatchObject({
      proven: true,
      spans: { blocks: [{ from: 1080, to: 1159 }], transactions: [{ from: 1080, to: 1159 }] },
      entries: 6,
      unsigned: 0,
    });
    expect(report.edges.transactionsBefore).toBeGreaterThan(0);
    expect(sandbox.requests.stats().requests).toBe(0);
    expect((await expectMended(copyOf(sound), 0)).requests).toBe(0);
  });

  test('is proven without checksums too, and says how many files have none', async () => {
    const path = copyOf(sound, true);
    expect((await verify(path)).report).toMatchObject({ proven: true, unsigned: 12 });
  });

  test('a range is proven by itself; what of it is not done is a finding', async () => {
    expect((await verify(sound, { range: '1090:1150', deep: true })).findings).toEqual([]);
    const { findings, report } = await verify(sound, { range: '1150:1169' });
    expect(report.proven).toBe(false);
    expect(findings.map(formatFinding)).toEqual([
      'audit blocks 1160:1169: expected 1160:1169 done, got no entry that says so',
      'audit transactions 1160:1169: expected 1160:1169 done, got no entry that says so',
    ]);
    await expect(verify(sound, { range: '7:3' })).rejects.toMatchObject({ code: 'wrong-range' });
    await expect(verify(sound, { range: '2000:' })).rejects.toMatchObject({
      hint: 'the last block of the warehouse is 1159',
    });
  });

  test('a day is proven where the blocks around it show that it is whole', async () => {
    const { findings, report } = await verify(sound, { range: '2026-05-01' });
    expect(report.proven).toBe(false);
    expect(findings.map(formatFinding)).toEqual([
      'audit blocks 1080:1159: expected 2026-05-01 from its first block to the first of the day after, got only a part of it',
    ]);
    await expect(verify(sound, { range: '2026-05-01:2026-05-03' })).rejects.toMatchObject({
      ...{ code: 'wrong-range', message: 'usage: expected a day that the warehouse holds, got 2026-05-03' },
      hint: 'it holds 2026-05-01',
    });
    const path = join(freshFolder(), 'w');
    const network = sandbox.url;
    await run({ pipelines: ['blocks'], network, range: '2026-05-01', warehouse: path });
    expect((await verify(path, { range: '2026-05-01' })).report).toMatchObject({ proven: true });
    // The day after is under way.
    expect((await verify(path, { range: '2026-05-02' })).report).toMatchObject({ proven: false });
  });
});

describe.each(TABLES)('damage to a file of %s', (table) => {
  test('a flipped byte is found wherever it is, and repaired', async () => {
    const path = copyOf(sound);
    const file = fileOf(path, table, 1100);
    const bytes = readFileSync(join(path, file));
    const flip = (part: number): void => {
      const flipped = Buffer.from(bytes);
      const at = Math.floor((part * bytes.length) / 4);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << part);
      writeFileSync(join(path, file), flipped);
    };
    for (const part of table === 'transactions' ? [1, 2] : []) {
      flip(part);
      expect((await verify(path)).findings).toContainEqual(
        expect.objectContaining({ kind: 'file-changed', table, file }),
      );
    }
    flip(3);
    const { requests, findings } = await expectMended(path, A_SPAN);
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'file-changed', table, file }));
    // What follows from the transactions is computed from them.
    if (table === 'account_states') expect(requests).toBe(0);
  });

  test('a missing file is found and repaired', async () => {
    const path = copyOf(sound);
    const file = fileOf(path, table, 1100);
    dropFile(path, file);
    const { findings } = await expectMended(path, A_SPAN);
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'file-missing', table, file }));
  });

  // With checksums it is the file that tells, whatever its table.
  test.each([
    ...(table === 'transactions'
      ? ([
          ['removed', 'with checksums', false, WITHOUT_ONE],
          ['doubled', 'with checksums', false, WITH_ONE_TWICE],
        ] as const)
      : []),
    ['removed', 'without checksums', true, WITHOUT_ONE],
    ['doubled', 'without checksums', true, WITH_ONE_TWICE],
  ] as const)('a %s row is found %s, and repaired', async (_, __, isUnsigned, select) => {
    const path = copyOf(sound, isUnsigned);
    await rewrite(path, fileOf(path, table, 1100), select);
    expect((await expectMended(path, A_SPAN)).kinds).toContain('rows-changed');
  });
});

describe('damage that is told alike for every table', () => {
  test('a truncated file is found and repaired', async () => {
    const path = copyOf(sound);
    const file = fileOf(path, 'transactions', 1100);
    truncateSync(join(path, file), 2000);
    const { kinds } = await expectMended(path, A_SPAN);
    expect(kinds).toEqual(expect.arrayContaining(['file-changed', 'file-unreadable']));
  });

  test("another span's file in its place is found and repaired", async () => {
    const path = copyOf(sound, true);
    copyFileSync(join(path, fileOf(path, 'transactions', 1150)), join(path, fileOf(path, 'transactions', 1100)));
    expect((await expectMended(path, A_SPAN)).kinds).toContain('rows-outside');
  });
});

describe('damage to the ledger', () => {
  test.each([
    ['rows', (entry: string) => entry.replace(/"transactions":\{"rows":\d+/, '"transactions":{"rows":7')],
    ['a sum', (entry: string) => entry.replace(/"total_fees":"\d+"/, '"total_fees":"12"')],
    ['a hash of keys', (entry: string) => entry.replace(/"keyHash":"\d+"/, '"keyHash":"12"')],
  ])('%s that were edited are found, and told again from the rows, which are sound', async (_, edit) => {
    const path = copyOf(sound);
    const [, , , entry = ''] = ledgerFiles(path);
    writeFileSync(entry, edit(readFileSync(entry, 'utf8')));
    const { kinds, requests } = await expectMended(path, 0);
    expect(kinds).toEqual(['rows-changed']);
    expect(requests).toBe(0);
  });

  test('a span that was widened is found', async () => {
    const path = copyOf(sound);
    const last = ledgerFiles(path).at(-1) ?? '';
    writeFileSync(last, readFileSync(last, 'utf8').replace('"to":1159', '"to":1190'));
    expect((await verify(path)).kinds).toContain('no-headers');
  });

  // The first, one in the middle and the last: of both pipelines.
  test.each([0, 3, 5])('a deleted entry (%i) is found, and what it held is brought in again', async (at) => {
    const path = copyOf(sound);
    const file = ledgerFiles(path)[at] ?? '';
    const { number, pipeline, span } = readEntry(file);
    rmSync(file);
    const { findings } = await expectMended(path, A_SPAN + 1);
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'entry-lost', entry: number, pipeline, span }));
  });

  test('a torn entry is found, kept aside, and what it held is brought in again', async () => {
    const path = copyOf(sound);
    truncateSync(ledgerFiles(path)[2] ?? '', 100);
    const { findings } = await expectMended(path, A_SPAN + 1);
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'entry-broken', entry: 3 }));
  });
});

describe('deep damage, which no count shows', () => {
  test.each([
    ['prev_trans_lt', 'transactions', 'prev_trans_lt - 1', 'account-chain'],
    ['prev_trans_hash', 'transactions', 'hash', 'account-chain'],
    ['account_state_hash_before', 'transactions', 'hash', 'account-chain'],
    ['msg_hash', 'messages', 'tx_hash', 'message-ends'],
  ])('another %s is found only by --deep, and repaired', async (column, table, value, kind) => {
    const path = copyOf(sound, true);
    const condition =
      table === 'messages'
        ? "direction = 'in' AND value IS NOT NULL AND tx_mc_block_seqno = 1110"
        : 'mc_block_seqno = 1110 AND account IN (SELECT account FROM old WHERE mc_block_seqno < 1110)';
    const chosen = table === 'messages' ? 'min(tx_lt)' : 'min(lt)';
    const own = table === 'messages' ? 'tx_lt' : 'lt';
    await rewrite(
      path,
      fileOf(path, table, 1110),
      `SELECT * REPLACE (CASE WHEN ${condition} AND ${own} = (SELECT ${chosen} FROM old WHERE ${condition})
        THEN ${value} ELSE ${column} END AS ${column}) FROM old`,
    );
    const shallow = (await verify(path)).kinds;
    expect(shallow).not.toContain(kind);
    expect((await expectMended(path, A_SPAN, true)).kinds).toContain(kind);
  });

  test('a message that its sender lists under another name is found by --deep', async () => {
    const path = copyOf(sound, true);
    await rewrite(
      path,
      fileOf(path, 'messages', 1100),
      `SELECT * REPLACE (CASE WHEN direction = 'out' AND msg_hash = (SELECT min(msg_hash) FROM old WHERE direction = 'out'
        AND msg_hash IN (SELECT msg_hash FROM old WHERE direction = 'in')) THEN tx_hash ELSE msg_hash END AS msg_hash) FROM old`,
    );
    expect((await verify(path)).kinds).not.toContain('message-ends');
    expect((await expectMended(path, A_SPAN, true)).kinds).toContain('message-ends');
  });
});

describe('a lost message', () => {
  test.each([
    ['sent', "direction = 'out'"],
    ['sent', "direction = 'out' AND destination IS NULL"],
    ['sent', 'bounced'],
    ['received', "direction = 'in'"],
  ])('that was %s (%s) is a finding without --deep, and repaired', async (end, condition) => {
    const path = copyOf(sound, true);
    const lost = `(SELECT min(msg_hash) FROM old WHERE ${condition})`;
    await rewrite(
      path,
      fileOf(path, 'messages', 1100),
      `FROM old WHERE NOT (msg_hash = ${lost} AND ${end === 'sent' ? "direction = 'out'" : "direction = 'in'"})`,
    );
    const { findings } = await verify(path);
    expect(findings.filter(({ kind }) => kind === 'messages').map(formatFinding)).toEqual([
      expect.stringMatching(
        new RegExp(`^audit transactions \\d+: expected \\d+ ${end} messages, got \\d+ at \\d+ \\(messages\\)$`),
      ),
    ]);
    await expectMended(path, A_SPAN);
  });
});

describe('what a source does', () => {
  afterEach(() => sandbox.setFaults(NO_FAULTS));

  test.each([...DEEP_LIES])(
    'the lie %s agrees with every header, is found by --deep, and repaired by the truth',
    async (kind) => {
      sandbox.setFaults({ lies: [{ seqno: 1101, kind }] });
      const path = await exportWarehouse(sandbox);
      expect((await verify(path)).findings).toEqual([]);
      sandbox.setFaults(NO_FAULTS);
      expect((await expectMended(path, 4, true)).findings.length).toBeGreaterThan(0);
    },
  );

  test('a span in quarantine is no finding; its damaged file is brought in again', async () => {
    sandbox.setFaults({ broken: [{ seqno: 1101, index: 1, kind: 'lt' }] });
    const path = await exportWarehouse(sandbox);
    expect((await verify(path, { deep: true })).report).toMatchObject({ proven: true, findings: 0 });
    dropFile(path, fileOf(path, 'quarantine', 1101));
    expect((await verify(path)).kinds).toEqual(['file-missing']);
    expect((await repair(sandbox, path)).report).toMatchObject({ proven: true });
    sandbox.setFaults(NO_FAULTS);
    await run({ pipelines: ['transactions'], network: sandbox.url, range: '1080:1159', warehouse: path });
    expect(await contentOf(path)).toEqual(wanted);
  });

  test('a block that the source has no more leaves a hole, which is a finding; the rest of its span is kept', async () => {
    const path = copyOf(sound);
    dropFile(path, fileOf(path, 'transactions', 1100));
    sandbox.setFaults({ lies: [{ seqno: 1101, kind: 'transaction-missing-first' }] });
    const { report } = await repair(sandbox, path);
    expect(report).toMatchObject({
      proven: false,
      findings: 1,
      spans: {
        transactions: [
          { from: 1080, to: 1100 },
          { from: 1102, to: 1159 },
        ],
      },
    });
    sandbox.setFaults(NO_FAULTS);
    await run({ pipelines: ['transactions'], network: sandbox.url, range: '1080:1159', warehouse: path });
    expect(await contentOf(path)).toEqual(wanted);
  });

  test('a source that is away leaves the damage as it is, for the next repair', async () => {
    const other = await startSandbox();
    const path = await exportWarehouse(other);
    await other.close();
    dropFile(path, fileOf(path, 'transactions', 1100));
    const ledger = ledgerFiles(path);
    const report = await repairWarehouse({ warehouse: path, signal: AbortSignal.timeout(1000) }).catch(String);
    expect(report).not.toMatchObject({ proven: true });
    expect(ledgerFiles(path)).toEqual(ledger);
    expect((await verify(path)).kinds).toEqual(['file-missing']);
    const back = await startSandbox({ port: other.port });
    expect((await repair(back, path)).report).toMatchObject({ proven: true });
    await back.close();
    expect(await contentOf(path)).toEqual(wanted);
  });
});

describe('a one-file warehouse', () => {
  const edit = async (path: string, sql: string): Promise<void> => {
    const database = await Database.open(path);
    await database.run(sql);
    database.close();
  };
  let file: string;

  beforeAll(async () => {
    file = await exportWarehouse(sandbox, 'w.duckdb');
  });

  test('is proven, with the same content', async () => {
    const { report, findings } = await verify(file, { deep: true, content: true });
    expect(findings).toEqual([]);
    expect(report.content).toEqual(wanted);
  });

  test.each<readonly [what: string, sql: string, kind: string, most: number]>([
    ['a removed transaction', 'DELETE FROM _rows.transactions WHERE rowid = 777', 'block-rows', 1],
    [
      'a doubled transaction',
      'INSERT INTO _rows.transactions (FROM _rows.transactions LIMIT 1)',
      'transaction-twice',
      1,
    ],
    ['a removed header', 'DELETE FROM _rows.blocks WHERE rowid = 77', 'rows-changed', A_SPAN + 1],
    ['a removed state', 'DELETE FROM _rows.account_states WHERE rowid = 77', 'states', 0],
    ...['in', 'out'].map(
      (end) =>
        [
          `a removed message ${end}`,
          `DELETE FROM _rows.messages WHERE rowid = (SELECT min(rowid) FROM _rows.messages WHERE direction = '${end}')`,
          'messages',
          1,
        ] as const,
    ),
    ['a deleted entry', 'DELETE FROM _ledger WHERE number = 4', 'entry-lost', A_SPAN + 1],
    [
      'rows of no entry',
      'INSERT INTO _rows.messages (SELECT * REPLACE (99 AS _entry) FROM _rows.messages LIMIT 5)',
      'entry-lost',
      0,
    ],
  ])('%s is found and repaired', async (_, sql, kind, most) => {
    const path = copyOf(file);
    await edit(path, sql);
    expect((await expectMended(path, most)).kinds).toContain(kind);
  });

  test('what is committed after a look at a damaged file stays when that damage is repaired', async () => {
    const path = copyOf(file);
    const registry = await loadRegistry();
    await edit(
      path,
      `INSERT INTO _rows.messages (SELECT * REPLACE ((SELECT max(number) + 1 FROM _ledger) AS _entry)
        FROM _rows.messages LIMIT 5)`,
    );
    const held = await openHeld({ path, registry, spill: join(freshFolder(), 'spill'), memoryMb: 256 });
    held.close();
    expect(held.lost).toHaveLength(1);
    // Another one repairs it meanwhile, and writes on.
    await expectMended(path, 0);
    await run({ pipelines: ['transactions'], network: sandbox.url, range: '1160:1169', warehouse: path });
    const before = await verify(path, { content: true });
    await fillLedger(held, registry.tables, realEffects);
    const after = await verify(path, { content: true });
    expect(after.findings).toEqual([]);
    expect(after.report).toMatchObject({ proven: true, content: before.report.content });
  });
});
