import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import type { VerifyEvent } from '../../src/verify/verify.ts';
import { query } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freePort } from '../free-port.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { editFile } from '../warehouse/warehouses.ts';
import { contentOf, copyOf, dropFile, fileOf, repair, replaceRows } from './support.ts';

/** A table of every kind of walk. */
const TABLES = [
  'blocks',
  'transactions',
  'messages',
  'traces',
  'actions',
  'message_links',
  'jetton_transfers',
  'jetton_masters',
  'account_latest',
] as const;
const PIPELINES = TABLES.filter((name) => name !== 'messages');
const WITHOUT_SOME = 'SELECT * EXCLUDE (rowid) FROM (SELECT *, rowid FROM old) WHERE rowid NOT IN (2, 3)';

interface Block {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly tx_count: number;
}

let sandbox: TestSandbox;
/** Closed before the tests, so that nobody listens on its port. */
let gone: TestSandbox;
const warehouses: Record<'parquet' | 'duckdb', string> = { parquet: '', duckdb: '' };
let sound: unknown;

async function exportInto(path: string): Promise<void> {
  await run({ pipelines: PIPELINES, network: gone.url, range: '1008:1019', warehouse: path });
}

beforeAll(async () => {
  // Nobody else gets this port while the sandbox is away.
  gone = await startTestSandbox({ blocks: 4000, port: await freePort() });
  warehouses.parquet = join(freshFolder(), 'w');
  warehouses.duckdb = join(freshFolder(), 'w.duckdb');
  await exportInto(warehouses.parquet);
  await exportInto(warehouses.duckdb);
  sound = await contentOf(warehouses.duckdb);
  await buildMarts(warehouses.parquet, { names: ['transactions_daily'] });
  await gone.close();
  sandbox = await startTestSandbox({ blocks: 4000, port: gone.port });
  await sandbox.close();
});

async function rowsOf(path: string): Promise<Readonly<Record<string, string>>> {
  const counts: Record<string, string> = {};
  const warehouse = await openWarehouse(path);
  try {
    for (const table of TABLES) {
      counts[table] = await warehouse
        .query(`SELECT count(*), sum(hash(t)::HUGEINT) FROM ${table} t`)
        .then(({ rows }) => String(rows))
        .catch(() => 'unreadable');
    }
    return counts;
  } finally {
    await warehouse.close();
  }
}

/** Hashes of all files of a folder, except the catalog, which is rebuilt on opening. */
function filesOf(path: string): Readonly<Record<string, string>> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['warehouse.duckdb', 'catalog.sha256', 'settled.json'].includes(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.fromEntries(files.sort().map((file) => [relative(path, file), hash(file)]));
}

const stateOf = async (path: string) => (path.endsWith('.duckdb') ? rowsOf(path) : filesOf(path));

/** One of each kind of walk, file and store. `verify.test.ts` and `repair-lists.test.ts` damage all tables. */
const DAMAGED = {
  missing: ['transactions', 'actions', 'message_links', 'jetton_masters', 'account_latest'],
  removed: ['traces', 'messages'],
  deleted: ['transactions', 'account_latest'],
};

/** Without a source, a repair changes neither rows nor findings. */
async function expectKept(path: string): Promise<void> {
  const before = await stateOf(path);
  const told: Finding[] = [];
  const onEvent = (event: VerifyEvent): void => {
    if (event.event === 'finding') told.push(event);
  };
  await expect(repairWarehouse({ warehouse: path, effects: hurriedEffects(), onEvent })).rejects.toThrow();
  expect(told.length).toBeGreaterThan(0);
  expect(await stateOf(path)).toEqual(before);
}

const missing = (path: string, table: string): void => dropFile(path, fileOf(path, table, 1015));
const removed = (path: string, table: string): Promise<void> =>
  replaceRows(path, fileOf(path, table, 1015), WITHOUT_SOME);
const deleted = (path: string, table: string): Promise<void> =>
  editFile(path, `DELETE FROM _rows.${table} WHERE rowid IN (SELECT rowid FROM _rows.${table} LIMIT 2 OFFSET 3)`);

describe('a repair without a source changes neither rows nor findings', () => {
  test.each(DAMAGED.missing)('a missing file of %s', async (table) => {
    const path = copyOf(warehouses.parquet);
    missing(path, table);
    await expectKept(path);
  });

  test.each(DAMAGED.removed)('rows removed from a file of %s', async (table) => {
    const path = copyOf(warehouses.parquet);
    await removed(path, table);
    await expectKept(path);
  });

  test.each(DAMAGED.deleted)('rows removed from a DuckDB file: %s', async (table) => {
    const path = copyOf(warehouses.duckdb);
    await deleted(path, table);
    await expectKept(path);
  });
});

test('with the source back, all of it is repaired', async () => {
  const [folder, file] = [copyOf(warehouses.parquet), copyOf(warehouses.duckdb)];
  for (const table of DAMAGED.missing) missing(folder, table);
  for (const table of DAMAGED.removed) await removed(folder, table);
  for (const table of DAMAGED.deleted) await deleted(file, table);
  await expectKept(folder);
  await expectKept(file);
  sandbox = await startTestSandbox({ blocks: 4000, port: gone.port });
  try {
    for (const path of [folder, file]) {
      const { report } = await repair(sandbox, path);
      // The report is that of a look at the warehouse after the last repair.
      expect(report).toMatchObject({ proven: true, findings: 0 });
      expect(await contentOf(path)).toEqual(sound);
    }
  } finally {
    await sandbox.close();
  }
});

test('a source that counts a transaction fewer, and does not show it, is not believed', async () => {
  const path = copyOf(warehouses.parquet);
  const [[hash, block] = []] = await query(
    path,
    `SELECT hash, concat_ws(':', block_workchain, block_shard, block_seqno) FROM transactions
     WHERE mc_block_seqno = 1015 AND block_workchain = 0 AND descr = 'ord' ORDER BY lt DESC LIMIT 1`,
  );
  // The headers that count it are lost, too.
  for (const table of ['blocks', 'transactions']) missing(path, table);
  sandbox = await startTestSandbox({ blocks: 4000, port: gone.port });
  let isLying = true;
  sandbox.answer = async ({ forward }) => {
    const answer = await forward();
    if (!isLying) return answer;
    const shown = withRows<{ hash: string }>(answer, 'transactions', (rows) => rows.filter((row) => row.hash !== hash));
    return withRows<Block>(shown, 'blocks', (rows) =>
      rows.map((row) => {
        const name = [row.workchain, BigInt.asIntN(64, BigInt(`0x${row.shard}`)), row.seqno].join(':');
        return name === block ? { ...row, tx_count: row.tx_count - 1 } : row;
      }),
    );
  };
  try {
    const told: string[] = [];
    const onProblem = (event: { pipeline: string; code?: string }): void =>
      void told.push(`${event.pipeline} ${event.code}`);
    const { report } = await repair(sandbox, path, { effects: hurriedEffects(), onProblem });
    expect({ proven: report.proven, told }).toEqual({ proven: false, told: ['transactions fewer-rows'] });
    isLying = false;
    // The false header was taken; a run reads it again where it contradicts the rows.
    await repair(sandbox, path, { keepReadable: true });
    await run({ pipelines: ['transactions'], network: sandbox.url, range: '1008:1019', warehouse: path });
    expect((await repair(sandbox, path)).report).toMatchObject({ proven: true, findings: 0 });
    expect(await contentOf(path)).toEqual(sound);
  } finally {
    await sandbox.close();
  }
});

test('a damaged mart is rebuilt from the tables, without a source', async () => {
  const path = copyOf(warehouses.parquet);
  const daily = 'SELECT sum(tx_count) FROM transactions_daily';
  const before = await query(path, daily);
  dropFile(path, fileOf(path, 'transactions_daily', 1015));
  const report = await repairWarehouse({ warehouse: path });
  expect(report).toMatchObject({ proven: true, requests: 0 });
  expect(await query(path, daily)).toEqual(before);
});
