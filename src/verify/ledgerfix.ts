import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import type { Effects } from '../effects.ts';
import { Database } from '../store/database.ts';
import { makeFolder, putText } from '../store/disk.ts';
import { LedgerFolder, layoutOf } from '../store/ledger.ts';
import { takeLock } from '../store/lock.ts';
import { insertEntry, pathsOf, readColumns, rowsOf } from '../store/onefile.ts';
import type { LedgerEntry } from '../store/store.ts';
import type { Held, LostEntry } from './held.ts';

/**
 * Fills the numbers of lost entries, so that the ledger can be read and written again: with an entry that supersedes itself, and
 * is therefore never in force. Broken entries are kept aside. Rows of a one-file warehouse that no entry in force names go.
 *
 * @throws {StoreError} `busy`
 */
export async function fillLedger(held: Held, tables: readonly TableDef[], effects: Effects): Promise<void> {
  const { kind, path, lost, entries } = held;
  const lockPath = kind === 'parquet' ? layoutOf(path).lock : pathsOf(path).lock;
  const lock = await takeLock({
    path: lockPath,
    subject: `warehouse ${path}`,
    command: 'tonlake verify --repair',
    effects,
  });
  try {
    if (kind === 'parquet') await fillFolder(held, effects);
    else {
      const database = await Database.open(path);
      try {
        await database.transaction(async () => {
          for (const each of lost) {
            await database.run('DELETE FROM _ledger WHERE number = $number', { number: BigInt(each.number) });
            if (each.isGap) await insertEntry(database, voidEntry(held, each, effects));
          }
          const numbers = entries.map(({ number }) => number).join(', ') || '-1';
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
  } finally {
    await lock.release();
  }
}

async function fillFolder(held: Held, effects: Effects): Promise<void> {
  const { path, lost } = held;
  const ledger = new LedgerFolder(path);
  const { stage } = layoutOf(path);
  await makeFolder(stage);
  for (const each of lost.filter(({ isGap }) => isGap)) {
    const entry = voidEntry(held, each, effects);
    const to = ledger.entryPath(each.number);
    if (each.isBroken) await rename(to, join(ledger.path, `.broken-${each.number}-${entry.id}.json`));
    await putText(to, `${JSON.stringify(entry)}\n`, stage, entry.id);
  }
}

function voidEntry(held: Held, { number, pipeline, span }: LostEntry, effects: Effects): LedgerEntry {
  const id = effects.freshId();
  return {
    format: 1,
    number,
    id,
    network: held.network,
    pipeline: pipeline ?? 'blocks',
    version: 1,
    span: span ?? { from: 0, to: 0 },
    verdict: 'sealed',
    tables: {},
    requests: 0,
    retries: 0,
    supersedes: [id],
    committedAt: new Date(effects.now()).toISOString(),
  };
}
