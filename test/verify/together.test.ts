import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import type { Database } from '../../src/sql/database.ts';
import { withDamagedStore } from '../../src/verify/damaged-warehouse.ts';
import { type EntryState, readEntryStates } from '../../src/verify/entry-state.ts';
import { type Finding, formatFinding } from '../../src/verify/finding.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import type { DamagedStore } from '../../src/warehouse/index.ts';
import type { ColumnBounds, LedgerEntry, TableFile } from '../../src/warehouse/store.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, dropFile, fileOf, ledgerFiles, readEntry, rewrite, sign, verify } from './support.ts';

const BLOCKS = Array.from({ length: 20 }, (_, at) => 1080 + 2 * at);
const TABLES = 4;

const sandbox = await startTestSandbox();
const registry = await loadRegistry();
/** Entries of one block each, which are not adjacent. */
const sound = await exportScattered('w');

async function exportScattered(name: string): Promise<string> {
  const warehouse = join(freshFolder(), name);
  const range = BLOCKS.join(',');
  await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse });
  return warehouse;
}

interface Read {
  readonly states: readonly EntryState[];
  readonly findings: readonly Finding[];
  readonly statements: number;
}

/** Reads batches of entries and counts the statements. */
async function readBatches(held: DamagedStore, batches: readonly (readonly LedgerEntry[])[]): Promise<Read> {
  let statements = 0;
  const findings: Finding[] = [];
  const states: EntryState[] = [];
  const query: Database['query'] = (sql, parameters) => {
    statements++;
    return held.database.query(sql, parameters);
  };
  const database: Database = Object.assign(Object.create(held.database), { query });
  for (const batch of batches) {
    states.push(...(await readEntryStates({ ...held, database }, registry, batch, (each) => findings.push(each))));
  }
  return { states, findings, statements };
}

/** Reads all entries together and one by one; the results must be equal. */
async function expectAlike(path: string): Promise<Read> {
  return withDamagedStore({ path, registry, memoryMb: 256 }, async (held) => {
    const together = await readBatches(held, [held.entries]);
    const alone = await readBatches(
      held,
      held.entries.map((entry) => [entry]),
    );
    expect(together.findings).toEqual(alone.findings);
    expect(together.states).toEqual(alone.states);
    expect(together.states).toHaveLength(2 * BLOCKS.length);
    return together;
  });
}

/** File of the entry of a pipeline that begins with a block. */
function entryFile(path: string, pipeline: string, seqno: number): string {
  const name = ledgerFiles(path).find((file) => {
    const entry = readEntry(file);
    return entry.pipeline === pipeline && entry.span.from === seqno;
  });
  if (name === undefined) throw new Error(`no entry of ${pipeline} ${seqno}`);
  return name;
}

/** Changes the entry of a pipeline that begins with a block, in the ledger. */
function edit(path: string, pipeline: string, seqno: number, change: (entry: LedgerEntry) => unknown): void {
  const name = entryFile(path, pipeline, seqno);
  writeFileSync(name, JSON.stringify(change(readEntry(name))));
}

test.each(['w', 'a [b]*', 'w.duckdb'])('entries of %s are read with one statement per table', async (name) => {
  const path = name === 'w' ? sound : name === 'w.duckdb' ? await exportScattered(name) : copyOf(sound, name);
  const { findings, statements } = await expectAlike(path);
  expect(findings).toEqual([]);
  expect(statements).toBe(TABLES);
  expect((await verify(path)).report).toMatchObject({ proven: true, entries: 2 * BLOCKS.length });
});

test('damage is found in many entries read together as in each entry read alone', async () => {
  const path = copyOf(sound);
  const at = (index: number): number => BLOCKS[index] ?? 0;
  dropFile(path, fileOf(path, 'messages', at(1)));
  truncateSync(join(path, fileOf(path, 'transactions', at(2))), 100);
  await rewrite(path, fileOf(path, 'transactions', at(4)), 'FROM old OFFSET 1');
  // Damaged files with matching checksums.
  truncateSync(join(path, fileOf(path, 'messages', at(6))), 200);
  sign(path, fileOf(path, 'messages', at(6)));
  await rewrite(path, fileOf(path, 'transactions', at(8)), 'FROM old OFFSET 2');
  sign(path, fileOf(path, 'transactions', at(8)));
  await rewrite(path, fileOf(path, 'blocks', at(9)), 'SELECT * REPLACE (7 AS mc_block_seqno) FROM old');
  sign(path, fileOf(path, 'blocks', at(9)));
  edit(path, 'transactions', at(13), ({ tables: { messages: _, ...tables }, ...entry }) => ({ ...entry, tables }));
  const { tables } = readEntry(entryFile(path, 'blocks', at(12)));
  edit(path, 'blocks', at(11), (entry) => ({ ...entry, tables }));
  edit(path, 'blocks', at(15), (entry) => ({ ...entry, span: { from: at(15) + 1, to: at(15) + 1 } }));

  const { findings } = await expectAlike(path);
  const told = new Map<string, string[]>();
  for (const { span, table, kind } of findings) {
    const key = `${span?.from} ${table}`;
    told.set(key, [...(told.get(key) ?? []), kind]);
  }
  expect(Object.fromEntries(told)).toEqual({
    [`${at(1)} messages`]: ['file-missing'],
    [`${at(2)} transactions`]: ['file-changed', 'file-unreadable'],
    [`${at(4)} transactions`]: ['file-changed', 'rows-changed', 'rows-changed'],
    [`${at(6)} messages`]: ['file-unreadable'],
    [`${at(8)} transactions`]: ['rows-changed'],
    [`${at(9)} blocks`]: ['rows-outside'],
    // Its files are those of the entry after it, which is as it was.
    [`${at(11)} blocks`]: ['rows-outside'],
    [`${at(13)} messages`]: ['table-missing'],
    [`${at(15) + 1} blocks`]: ['rows-outside'],
  });
  const whole = await verify(path);
  expect(whole.findings.map(formatFinding)).toEqual(expect.arrayContaining(findings.map(formatFinding)));
});

/** Lies about the files of transactions, whose rows are as they were committed. */
const lies: Readonly<
  Record<string, { readonly change: (file: TableFile) => Partial<TableFile>; readonly told: RegExp }>
> = {
  'a greater least value': {
    change: ({ bounds }) => ({
      bounds: { ...bounds, lt: [String(1n + BigInt(bounds?.['lt']?.[0] ?? 0)), bounds?.['lt']?.[1] ?? '', 0] },
    }),
    told: /^lt from \d+ to \d+, 0 nulls as in the ledger$/,
  },
  'nulls that are not there': {
    change: ({ bounds }) => ({
      bounds: { ...bounds, now: [...(bounds?.['now']?.slice(0, 2) ?? []), 2] as unknown as ColumnBounds },
    }),
    told: /^now from \d+ to \d+, 2 nulls as in the ledger$/,
  },
  'no values': {
    change: ({ bounds }) => ({ bounds: { ...bounds, block_seqno: [null, null, 0] } }),
    told: /^block_seqno from null to null, 0 nulls as in the ledger$/,
  },
  'bounds of a column that entries do not record': {
    change: ({ bounds }) => ({ bounds: { ...bounds, total_fees: ['0', '1', 0] } }),
    told: /^total_fees from 0 to 1, 0 nulls as in the ledger$/,
  },
  'bounds of a column that is not declared': {
    change: ({ bounds }) => ({ bounds: { ...bounds, nonsense: ['0', '1', 0] } }),
    told: /^nonsense from 0 to 1, 0 nulls as in the ledger$/,
  },
  'another number of rows': { change: ({ rows }) => ({ rows: rows + 1 }), told: /^\d+ rows as in the ledger$/ },
};

test('a lie of an entry about a file is found, whether entries are read together or alone, and a repair writes the truth', async () => {
  const path = copyOf(sound);
  const names = Object.keys(lies);
  const changeFiles = (seqno: number, change: (file: TableFile) => TableFile): void =>
    edit(path, 'transactions', seqno, (entry) => {
      const part = entry.tables['transactions'];
      return { ...entry, tables: { ...entry.tables, transactions: { ...part, files: part?.files.map(change) } } };
    });
  for (const [at, name] of names.entries()) {
    changeFiles(BLOCKS[at] ?? 0, (file) => ({ ...file, ...lies[name]?.change(file) }));
  }
  const { findings } = await expectAlike(path);
  expect(findings.map(({ kind, span, table }) => [kind, span?.from, table])).toEqual(
    names.map((_, at) => ['rows-changed', BLOCKS[at], 'transactions']),
  );
  for (const [at, name] of names.entries()) expect(findings[at]?.expected).toMatch(lies[name]?.told ?? /never/);
  await repairWarehouse({ warehouse: path, network: sandbox.url });
  expect((await verify(path)).report).toMatchObject({ proven: true, entries: 2 * BLOCKS.length });
});
