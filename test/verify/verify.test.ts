import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { publishWarehouse } from '../../src/iceberg/publish-warehouse.ts';
import { Database } from '../../src/sql/database.ts';
import { withDamagedStore } from '../../src/verify/damaged-warehouse.ts';
import { type Finding, formatFinding } from '../../src/verify/finding.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { nextSteps } from '../../src/verify/show-findings.ts';
import { PARTIAL } from '../../src/warehouse/index.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { DEEP_LIES } from '../faults/lie-kinds.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freePort } from '../free-port.ts';
import { list, number, readParquet, readStruct } from '../parquet/thrift-reader.ts';
import { freshFolder } from '../scratch.ts';
import { editFile } from '../warehouse/warehouses.ts';
import {
  anyDamage,
  breakFile,
  DAMAGES,
  type Damaged,
  FILE_DAMAGES,
  findingOf,
  LOST_MESSAGES,
  loseMessage,
} from './damages.ts';
import {
  contentOf,
  copyOf,
  dropFile,
  entriesOf,
  exportWarehouse,
  fileOf,
  ledgerFiles,
  type Repaired,
  readEntry,
  repair,
  replaceRows,
  verify,
} from './support.ts';

/** Warehouses with any damage, and where to begin: TONLAKE_DAMAGES=200 for more. */
const DAMAGED = Number(process.env['TONLAKE_DAMAGES'] ?? 4);
const SEED = Number(process.env['TONLAKE_SEED'] ?? 1);
/** Requests that restore a file or an entry: its pages, and for headers two shard states and the ends of the index. */
const A_FILE = 6;

let sandbox: TestSandbox;
let sound: string;
let wanted: unknown;

beforeAll(async () => {
  // Nobody else gets this port while the source is unavailable.
  sandbox = await startTestSandbox({ port: await freePort() });
  sound = await exportWarehouse(sandbox);
  wanted = await contentOf(sound);
});

/** Repairs, and holds what the warehouse has after it against what it had. @returns requests, and what was found before */
async function expectRepaired(path: string, most: number, deep = false): Promise<Repaired> {
  const repaired = await repair(sandbox, path, { deep });
  const { report, requests } = repaired;
  expect(report).toMatchObject({ proven: true, findings: 0 });
  expect(requests).toBeLessThanOrEqual(most);
  expect(await contentOf(path)).toEqual(wanted);
  return repaired;
}

describe('a sound warehouse', () => {
  test('is proven from its own files, and its repair makes no request', async () => {
    sandbox.requests.reset();
    const { report, findings } = await verify(sound, { deep: true, content: true });
    expect(findings).toEqual([]);
    expect(report).toMatchObject({
      proven: true,
      spans: { blocks: [{ from: 1080, to: 1159 }], transactions: [{ from: 1080, to: 1159 }] },
      entries: 6,
    });
    expect(report.edges.transactionsBefore).toBeGreaterThan(0);
    expect(sandbox.requests.stats().requests).toBe(0);
    expect((await expectRepaired(copyOf(sound), 0)).requests).toBe(0);
  });

  test('a range can be verified alone; blocks of it that are not done are a finding', async () => {
    expect((await verify(sound, { range: '1090:1150', deep: true })).findings).toEqual([]);
    const { findings, report } = await verify(sound, { range: '1150:1169' });
    expect(report.proven).toBe(false);
    expect(findings.map(formatFinding)).toEqual([
      'audit blocks 1160:1169: expected 1160:1169 done, got none',
      'audit transactions 1160:1169: expected 1160:1169 done, got none',
    ]);
    expect(await stepsOf(report, findings, '1150:1169')).toBe(
      `  fetch what is missing: tonlake run blocks transactions --range 1160:1169 --network ${sandbox.url} --warehouse w\n`,
    );
    await expect(verify(sound, { range: '7:3' })).rejects.toThrow('usage: range start 7 is after its end 3');
    await expect(verify(sound, { range: '2000:' })).rejects.toMatchObject({
      hint: 'the last block of the warehouse is 1159',
    });
  });

  test('a day is proven if the blocks around it show that it is complete', async () => {
    const { findings, report } = await verify(sound, { range: '2026-05-01' });
    expect(report.proven).toBe(false);
    expect(findings.map(formatFinding)).toEqual([
      'audit blocks 1080:1159: expected 2026-05-01 from its first block to the first of the day after, got only a part of it',
    ]);
    expect(await stepsOf(report, findings, '2026-05-01')).toContain('run blocks transactions --range 2026-05-01 ');
    await expect(verify(sound, { range: '2026-05-01:2026-05-03' })).rejects.toMatchObject({
      ...{ code: 'not-stored', message: 'usage: expected a day that the warehouse has, got 2026-05-03' },
      hint: 'it has 2026-05-01',
    });
    await expect(verify(sound, { range: 'today' })).rejects.toMatchObject({
      message: expect.stringMatching(/^usage: expected a day that the warehouse has, got \d{4}-\d\d-\d\d$/),
    });
    const path = join(freshFolder(), 'w');
    // A day of 43 blocks; the first one begins late.
    const { url: network } = await startTestSandbox({ blocks: 50, blockTimeMs: 2_000_000 });
    await run({ pipelines: ['blocks'], network, range: '2026-05-02', warehouse: path });
    expect((await verify(path, { range: '2026-05-02' })).report).toMatchObject({ proven: true });
    // The day after is under way.
    expect((await verify(path, { range: '2026-05-03' })).report).toMatchObject({ proven: false });
  });
});

test('damage is repaired, and what was never exported is fetched by a run', async () => {
  const report = { network: 'mainnet', spans: {} };
  const gap = { kind: 'not-done', pipeline: 'blocks', expected: 'done', got: 'none' } as const;
  const gaps = Array.from({ length: 9 }, (_, nr) => ({ ...gap, span: { from: 2 * nr, to: 2 * nr } }));
  expect(await stepsOf(report, gaps, '0:16')).toBe(
    '  fetch what is missing: tonlake run blocks --range 0:16 --network mainnet --warehouse w\n',
  );
  const damage = { ...gap, kind: 'file-missing' } as const;
  const both = [damage, gaps[0] ?? gap];
  expect(await stepsOf(report, both, '0')).toMatch(/^ {2}run the same command with --repair .*\n {2}fetch .*\n$/);
  expect(await stepsOf({ ...report, requests: 0 }, both, '0')).toMatch(/^ {2}fetch [^\n]*\n$/);
  // Blocks of a lost entry are fetched by a repair, too.
  expect(await stepsOf(report, [{ ...gap, entry: 3 }], undefined)).toMatch(/^ {2}run the same .*\n$/);
  expect(await stepsOf(report, [], '0:16')).toBe('');
});

/** What is told to be done after a verification of `w`. */
async function stepsOf(report: Parameters<typeof nextSteps>[0], findings: readonly Finding[], range?: string) {
  return nextSteps(report, findings, { warehouse: 'w', range, registry: await loadRegistry() });
}

/** Damages and, if told, repairs a copy. */
async function expectFound(damages: readonly Damaged[], path: string, most?: number): Promise<void> {
  const deep = damages.some(({ isDeep }) => isDeep);
  const expected = damages.map(({ finds }) => {
    const { kind, table = '', span } = finds;
    const isOfFile = kind === 'file-changed' || kind === 'file-missing';
    return isOfFile ? { ...finds, file: fileOf(path, table, span?.from ?? 0) } : finds;
  });
  for (const damage of damages) await damage.apply(path);
  const kinds = damages.map(({ finds }) => finds.kind);
  if (deep) expect((await verify(path)).kinds.filter((kind) => kinds.some((each) => each === kind))).toEqual([]);
  const { findings } = await (most === undefined ? verify(path, { deep }) : expectRepaired(path, most, deep));
  for (const finds of expected) expect(findings).toContainEqual(expect.objectContaining(finds));
}

/** Those that are repaired alone, and all others at once. */
function testDamages(what: string, damages: readonly Damaged[], warehouse: () => string): void {
  const repaired = damages.filter(({ most }) => most !== undefined);
  const others = damages.filter(({ most }) => most === undefined);
  test.each(repaired)('$name is found, and repaired', (damage) =>
    expectFound([damage], copyOf(warehouse()), damage.most),
  );
  test(`of ${what}, each of ${others.length} damages is found among the others`, () =>
    expectFound(others, copyOf(warehouse())));
}

describe('damage', () => {
  for (const [what, damages] of Object.entries(DAMAGES)) testDamages(what, damages, () => sound);

  test('any file, any byte, any entry: found, repaired, content restored', { timeout: 7_200_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(anyDamage(sound), async (damages) => {
        const path = copyOf(sound);
        for (const damage of damages) breakFile(path, damage);
        const { findings } = await expectRepaired(path, damages.length * A_FILE);
        const [finds] = damages.map((damage) => findingOf(sound, damage));
        // Of two, one may hide the other until it is repaired.
        if (finds !== undefined) expect(findings).not.toEqual([]);
        if (finds !== undefined && damages.length === 1) {
          expect(findings).toContainEqual(expect.objectContaining(finds));
        }
        rmSync(path, { recursive: true });
      }),
      { numRuns: DAMAGED, seed: SEED, endOnFailure: true },
    );
  });

  test('a table whose folder is empty is found and restored, and without a request if a publication has its files', async () => {
    const { tables } = await loadRegistry();
    for (const isPublished of [false, true]) {
      const path = copyOf(sound);
      if (isPublished) await publishWarehouse({ warehouse: path, tables });
      const files = readdirSync(join(path, 'tables', 'transactions'), { recursive: true, encoding: 'utf8' });
      const lost = files.filter((name) => name.endsWith('.parquet'));
      for (const name of lost) rmSync(join(path, 'tables', 'transactions', name));
      const { findings } = await expectRepaired(path, isPublished ? 0 : lost.length * A_FILE);
      const missing = findings.filter(({ kind, table }) => kind === 'file-missing' && table === 'transactions');
      expect(missing.map(({ file }) => file).sort()).toEqual(lost.map((name) => `tables/transactions/${name}`).sort());
    }
  });

  test('a file of others in the folder of a table is found, and stays', async () => {
    const path = copyOf(sound);
    const file = 'tables/blocks/mine.parquet';
    cpSync(join(path, fileOf(path, 'blocks', 1100)), join(path, file));
    writeFileSync(join(path, 'tables', 'blocks', 'README.md'), 'Programs do not read this as rows.');
    const { findings, report } = await verify(path);
    expect(report.proven).toBe(false);
    expect(findings.map(formatFinding)).toEqual([
      `audit: expected only files that the ledger names, got another one (${file})`,
    ]);
    const { report: after } = await repair(sandbox, path);
    expect(after).toMatchObject({ proven: false, findings: 1 });
    expect(existsSync(join(path, file))).toBe(true);
    expect(await stepsOf(report, findings)).toBe(`  move it out of the folder of the table: ${file}\n`);
  });

  test('a lost newest entry is fetched again, also if the repair of another file takes its number', async () => {
    const path = copyOf(sound);
    breakFile(path, { part: 'rows', file: fileOf(path, 'blocks', 1100), how: 'flipped', place: 500_000, bit: 1 });
    rmSync(ledgerFiles(path).at(-1) ?? '');
    await expectRepaired(path, 2 * A_FILE);
  });

  test('a lost entry of headers is fetched again before rows that they count', async () => {
    const path = copyOf(sound);
    dropFile(path, fileOf(path, 'messages', 1140));
    const ofHeaders = ledgerFiles(path).findLast((file) => readEntry(file).pipeline === 'blocks');
    rmSync(ofHeaders ?? '');
    await expectRepaired(path, 2 * A_FILE);
  });

  test('lost and damaged schemas of files are found, and made again without a request', async () => {
    const path = copyOf(sound);
    const names = readdirSync(join(path, '_ledger')).filter((name) => name.startsWith('schema-'));
    const [gone = '', ...others] = names.map((name) => join(path, '_ledger', name));
    rmSync(gone);
    for (const file of others) writeFileSync(file, readFileSync(file, 'utf8').slice(1));
    const { findings } = await expectRepaired(path, 0);
    expect(findings.filter(({ kind }) => kind === 'schema-broken')).toHaveLength(names.length);
  });

  test('an entry that names a schema which never was is read again, and needs none once it is superseded', async () => {
    const path = copyOf(sound);
    const last = ledgerFiles(path).at(-1) ?? '';
    const entry = JSON.parse(readFileSync(last, 'utf8'));
    entry.tables.transactions.schema = entry.tables.transactions.schema.replace(/^./, (digit: string) =>
      digit === '0' ? '1' : '0',
    );
    writeFileSync(last, `${JSON.stringify(entry)}\n`);
    await expectRepaired(path, A_FILE);
    rmSync(join(path, '_checkpoints'), { recursive: true });
    expect(await contentOf(path)).toEqual(wanted);
  });

  test('a Bloom filter that denies its rows is found, and so is a page index with other bounds', async () => {
    const path = copyOf(sound);
    const damaged = [emptyFilter, raiseBound].map((damage, at) => ({
      damage,
      file: fileOf(path, 'transactions', [1085, 1150][at] ?? 0),
    }));
    for (const { damage, file } of damaged) {
      const count = () => countHash(join(path, file), 'hash');
      expect(await count()).toBe(1);
      damage(join(path, file), 'hash');
      // DuckDB believes filters, and does not read the page index.
      expect(await count()).toBe(damage === emptyFilter ? 0 : 1);
    }
    const { findings } = await verify(path);
    for (const { file } of damaged) {
      expect(findings).toContainEqual(expect.objectContaining({ kind: 'file-changed', table: 'transactions', file }));
    }
  });

  test('a widened span is found', async () => {
    const path = copyOf(sound);
    const last = ledgerFiles(path).at(-1) ?? '';
    writeFileSync(last, readFileSync(last, 'utf8').replace('"to":1159', '"to":1190'));
    expect((await verify(path)).kinds).toContain('no-headers');
  });

  test('messages that one end lost are found without --deep', async () => {
    const path = copyOf(sound);
    for (const [end, condition] of LOST_MESSAGES) await loseMessage(path, end, condition);
    const { findings } = await verify(path);
    const told = findings.filter(({ kind }) => kind === 'messages').map(formatFinding);
    const lost = [
      '1119: expected 2 sent',
      '1133: expected 1 sent',
      '1135: expected 2 sent',
      '1138: expected 1 received',
    ];
    expect(told.sort()).toEqual(
      lost.map((each) =>
        expect.stringMatching(new RegExp(`^audit transactions ${each} messages, got \\d+ at \\d+ \\(messages\\)$`)),
      ),
    );
  });
});

/** Rows with the greatest value of a column, found by that value. */
async function countHash(file: string, column: string): Promise<number> {
  const database = await Database.open();
  const { rows } = await database.query(`SELECT max(${column}) FROM '${file}'`);
  const { rows: found } = await database.query(
    `SELECT count(*) FROM '${file}' WHERE ${column} = '${String(rows[0]?.[0])}'`,
  );
  database.close();
  return Number(found[0]?.[0]);
}

function chunkOf(file: string, column: string) {
  const { bytes, chunks } = readParquet(file);
  const chunk = chunks.find(({ name }) => name === column);
  if (chunk?.columnIndex === undefined) throw new Error(`${column} has no index`);
  return { bytes, meta: chunk.meta, index: chunk.columnIndex };
}

/** Clears all bits of a filter, so that it denies every value. */
function emptyFilter(file: string, column: string): void {
  const { bytes, meta } = chunkOf(file, column);
  const { fields, end } = readStruct(bytes, number(meta, 14));
  writeFileSync(file, bytes.fill(0, end, end + number(fields, 1)));
}

/** Raises the lower bound of a page, so that it denies most values. */
function raiseBound(file: string, column: string): void {
  const { bytes, index } = chunkOf(file, column);
  const [min] = list<Buffer>(index, 2);
  if (min === undefined) throw new Error('expected a bound');
  min.fill(0x7a);
  writeFileSync(file, bytes);
}

describe('what a source does', () => {
  afterEach(() => sandbox.setFaults(NO_FAULTS));

  test('false rows that match every header are found by --deep, and repaired', async () => {
    const places = [1090, 1110, 1130, 1097, 1103];
    const lies = [...DEEP_LIES].map((kind, at) => ({ kind, seqno: places[at] ?? 0 }));
    sandbox.setFaults({ lies });
    const path = await exportWarehouse(sandbox);
    expect((await verify(path)).findings).toEqual([]);
    sandbox.setFaults(NO_FAULTS);
    const { findings } = await expectRepaired(path, 4 * lies.length, true);
    // The last look of a repair is that of a verification of its own.
    const after = await verify(path, { deep: true, content: true });
    expect({ findings: after.findings, content: after.report.content }).toEqual({ findings: [], content: wanted });
    for (const { kind, seqno } of lies) {
      expect(
        findings.some(({ span }) => span !== undefined && span.from <= seqno && seqno <= span.to),
        kind,
      ).toBe(true);
    }
  });

  test('headers whose times go back are found, and fetched again', async () => {
    const warehouse = join(freshFolder(), 'w');
    await run({ pipelines: ['blocks'], network: sandbox.url, range: '1080:1089', warehouse });
    const later = 'gen_utime + CASE WHEN workchain = -1 AND seqno = 1085 THEN 1 ELSE 0 END AS gen_utime';
    await replaceRows(warehouse, fileOf(warehouse, 'blocks', 1085), `SELECT * REPLACE (${later}) FROM old`);
    const { findings } = await verify(warehouse);
    const found = { kind: 'block-order', table: 'blocks', span: { from: 1085, to: 1086 } };
    expect(findings).toMatchObject([found]);
    expect((await repair(sandbox, warehouse)).report).toMatchObject({ proven: true, findings: 0 });
  });

  test.each<readonly [string, string, object]>([
    [
      'a branch of a shard before its merge',
      `SELECT * REPLACE (CASE WHEN after_merge AND seqno IN (SELECT max(seqno) FROM old WHERE after_merge)
         THEN to_json([from_json(prev_blocks, '["JSON"]')[1]])::VARCHAR ELSE prev_blocks END AS prev_blocks) FROM old`,
      { kind: 'block-missing', expected: expect.stringMatching(/^blocks of 0:[0-9A-F]+ before 0:/) },
    ],
    [
      'one half of a split',
      'FROM old WHERE NOT (workchain = 0 AND shard = -6917529027641081856)',
      { kind: 'block-missing', expected: expect.stringContaining(' beside 0:') },
    ],
    [
      'the masterchain block of a shard block',
      `SELECT * REPLACE (CASE WHEN workchain = 0 AND seqno IN (SELECT max(seqno) FROM old WHERE mc_block_seqno = 1120 AND workchain = 0)
         THEN 1130 ELSE mc_block_seqno END AS mc_block_seqno) FROM old`,
      { kind: 'block-order', got: expect.stringMatching(/^masterchain block \d+ before 1130$/) },
    ],
  ])('headers without %s are found, and fetched again', async (_, select, found) => {
    const path = copyOf(sound);
    for (const seqno of [1100, 1150]) await replaceRows(path, fileOf(path, 'blocks', seqno), select);
    expect((await verify(path)).findings).toContainEqual(expect.objectContaining(found));
    expect((await repair(sandbox, path)).report).toMatchObject({ proven: true });
    expect(await contentOf(path)).toEqual(wanted);
  });

  test('a quarantined span is not a finding; its damaged file is fetched again', async () => {
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

  test('a block that the source no longer has: nothing changes, unless what is readable shall be kept; then it is a hole, and a finding', async () => {
    const path = copyOf(sound);
    dropFile(path, fileOf(path, 'transactions', 1100));
    sandbox.setFaults({ lies: [{ seqno: 1101, kind: 'transaction-missing-first' }] });
    const ledger = ledgerFiles(path);
    const messages: string[] = [];
    const onProblem = (problem: object): void =>
      void messages.push('message' in problem ? String(problem.message) : '');
    expect((await repair(sandbox, path, { onProblem })).kinds).toContain('file-missing');
    expect(ledgerFiles(path)).toEqual(ledger);
    expect(messages.join('\n')).toContain(
      `1101 cannot be fetched, nothing is changed; hint: tonlake verify --repair --keep-readable --warehouse ${path} keeps what can be read`,
    );
    const { report } = await repair(sandbox, path, { keepReadable: true });
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

  test('a repair that is killed between its entries has changed nothing: rows that the source lost stay', async () => {
    const path = copyOf(sound);
    dropFile(path, fileOf(path, 'transactions', 1100));
    const damaged = await entriesOf(path);
    const { length: before } = ledgerFiles(path);
    sandbox.setFaults({ lies: [{ seqno: 1101, kind: 'transaction-missing-first' }] });
    expect((await repair(sandbox, path, { keepReadable: true })).report.proven).toBe(false);
    sandbox.setFaults(NO_FAULTS);
    // What is sound before and after the block that the source lost, and its old rows.
    for (const kept of [before, before + 1, before + 2, before + 3]) {
      const killed = copyOf(path);
      for (const file of ledgerFiles(killed).slice(kept)) rmSync(file);
      const isOver = kept === before + 3;
      expect((await entriesOf(killed)).length).toBe(damaged.length + (isOver ? 2 : 0));
      if (!isOver) expect(await entriesOf(killed)).toEqual(damaged);
    }
  });

  test('what a repair could keep in part only is whole after a later repair, if it is damaged again', async () => {
    const path = copyOf(sound);
    dropFile(path, fileOf(path, 'transactions', 1100));
    sandbox.setFaults({ lies: [{ seqno: 1101, kind: 'transaction-missing-first' }] });
    expect((await repair(sandbox, path, { keepReadable: true })).report.proven).toBe(false);
    sandbox.setFaults(NO_FAULTS);
    const [kept] = (await entriesOf(path)).filter(({ scope }) => scope === PARTIAL);
    dropFile(path, kept?.tables['messages']?.files[0]?.path ?? '');
    expect((await repair(sandbox, path)).report).toMatchObject({ proven: true });
    expect(await contentOf(path)).toEqual(wanted);
  });

  test('if the source is unavailable, the damage stays for the next repair', async () => {
    const path = copyOf(sound);
    const { port } = sandbox;
    await sandbox.close();
    const nobody = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(nobody, 'listening');
    dropFile(path, fileOf(path, 'transactions', 1100));
    const ledger = ledgerFiles(path);
    let reached: string[] = [];
    for (const moment of ['start', 'finding', 'request', 'first retry', 'second retry']) {
      reached = [];
      const stop = new AbortController();
      const reach = (name: string): void => {
        reached.push(name);
        if (name === moment) stop.abort();
      };
      const toRequest = (): void => reach('request');
      nobody.once('connection', toRequest);
      reach('start');
      const report = await repairWarehouse({
        ...{ warehouse: path, signal: stop.signal },
        onEvent: ({ event }) => void (event === 'finding' && reach(event)),
        onRetry: () => reach(reached.includes('first retry') ? 'second retry' : 'first retry'),
      }).catch(String);
      nobody.off('connection', toRequest);
      expect(report).not.toMatchObject({ proven: true });
      expect({ moment, ledger: ledgerFiles(path) }).toEqual({ moment, ledger });
    }
    expect(reached).toEqual(['start', 'finding', 'request', 'first retry', 'second retry']);
    expect((await verify(path)).kinds).toEqual(['file-missing']);
    nobody.close();
    await once(nobody, 'close');
    sandbox = await startTestSandbox({ port });
    expect((await repair(sandbox, path)).report).toMatchObject({ proven: true });
    expect(await contentOf(path)).toEqual(wanted);
  });
});

describe('a one-file warehouse', () => {
  let file: string;

  beforeAll(async () => {
    file = await exportWarehouse(sandbox, 'w.duckdb');
  });

  test('is proven, with the same content', async () => {
    const { report, findings } = await verify(file, { deep: true, content: true });
    expect(findings).toEqual([]);
    expect(report.content).toEqual(wanted);
  });

  testDamages('rows', FILE_DAMAGES, () => file);

  test('rows committed between a verification and its repair are kept', async () => {
    const path = copyOf(file);
    const registry = await loadRegistry();
    await editFile(
      path,
      `INSERT INTO _rows.messages (SELECT * REPLACE ((SELECT max(number) + 1 FROM _ledger) AS _entry)
        FROM _rows.messages LIMIT 5)`,
    );
    const held = await withDamagedStore({ path, registry }, async (opened) => opened);
    expect(held.lost).toHaveLength(1);
    // Another one repairs it meanwhile, and writes on.
    await expectRepaired(path, 0);
    await run({ pipelines: ['transactions'], network: sandbox.url, range: '1160:1169', warehouse: path });
    const before = await verify(path, { content: true });
    await held.fillLedger({ effects: realEffects, command: 'tonlake verify --repair' });
    const after = await verify(path, { content: true });
    expect(after.findings).toEqual([]);
    expect(after.report).toMatchObject({ proven: true, content: before.report.content });
  });
});
