import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../core/effects.ts';
import type { TableDef } from '../declare/table.ts';
import { makeFolder, putText } from '../files/disk.ts';
import { takeLock } from '../files/writer-lock.ts';
import { Database } from '../sql/database.ts';
import { insertEntry, pathsOf, readColumns, rowsOf } from '../warehouse/duckdb-store/database-file.ts';
import { LedgerFolder, layoutOf } from '../warehouse/ledger/ledger-folder.ts';
import type { LedgerEntry } from '../warehouse/store.ts';
import { type Held, type LostEntry, readRows } from './damaged-warehouse.ts';

/** What a repair is doing, for processes that it keeps waiting. */
export const REPAIR_COMMAND = 'tonlake verify --repair';

/**
 * Fills the numbers of lost entries, so that the ledger can be read and written again: with an entry that supersedes itself, and
 * is therefore never in force. Broken entries are kept aside. Rows of a one-file warehouse that no entry in force names go. What
 * is lost is looked for again once others are kept away: they may have repaired the ledger, and committed, since it was read.
 *
 * @throws {StoreError} `busy`
 */
export async function fillLedger(held: Held, tables: readonly TableDef[], effects: Effects): Promise<void> {
  const { kind, path } = held;
  const lockPath = kind === 'parquet' ? layoutOf(path).lock : pathsOf(path).lock;
  const lock = await takeLock({
    path: lockPath,
    subject: `warehouse ${path}`,
    command: REPAIR_COMMAND,
    effects,
  });
  try {
    if (kind === 'parquet') await fillFolder(held, effects);
    else await fillFile(held, tables, effects);
  } finally {
    await lock.release();
  }
}

async function fillFolder(held: Held, effects: Effects): Promise<void> {
  const { path, lost } = held;
  const ledger = new LedgerFolder(path);
  const { stage } = layoutOf(path);
  const unreadable = new Set<number>();
  await ledger.refresh(({ number }) => {
    if (number !== undefined) unreadable.add(number);
  });
  await makeFolder(stage);
  for (const each of lost.filter(({ isGap, number }) => isGap && unreadable.has(number))) {
    const entry = voidEntry(held, each, effects);
    const to = ledger.entryPath(each.number);
    if (each.isBroken) await rename(to, join(ledger.path, `.broken-${each.number}-${entry.id}.json`));
    await putText(to, `${JSON.stringify(entry)}\n`, stage, entry.id);
  }
}

async function fillFile(held: Held, tables: readonly TableDef[], effects: Effects): Promise<void> {
  const database = await Database.open(held.path);
  try {
    await database.transaction(async () => {
      const { entries } = await readRows(database, '_ledger');
      const known = new Set(entries.all.map(({ number }) => number));
      for (const each of held.lost.filter(({ number }) => !known.has(number))) {
        await database.run('DELETE FROM _ledger WHERE number = $number', { number: BigInt(each.number) });
        if (each.isGap) await insertEntry(database, voidEntry(held, each, effects));
      }
      const numbers = entries.effective.map(({ number }) => number).join(', ') || '-1';
      const present = await readColumns(database);
      for (const { name } of tables) {
        if (!present.has(name)) continue;
        await database.run(`DELETE FROM ${rowsOf(name)} WHERE _entry IS NULL OR _entry NOT IN (${numbers})`);
      }
    });
  } finally {
    database.close();
  }
}

function voidEntry(held: Held, { number, pipeline, span, spans }: LostEntry, effects: Effects): LedgerEntry {
  const id = effects.freshId();
  return {
    format: spans === undefined ? 1 : 2,
    number,
    id,
    network: held.network,
    pipeline: pipeline ?? 'unknown',
    version: 1,
    span: span ?? { from: 0, to: 0 },
    ...(spans === undefined ? {} : { spans }),
    verdict: 'sealed',
    tables: {},
    requests: 0,
    retries: 0,
    supersedes: [id],
    committedAt: new Date(effects.now()).toISOString(),
  };
}
