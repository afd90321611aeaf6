// A warehouse of many entries: copies of one commit, whose files are linked under new names.
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The newest entry of a ledger. */
export function newestEntry(warehouse) {
  const ledger = join(warehouse, '_ledger');
  const entries = readdirSync(ledger)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort();
  return JSON.parse(readFileSync(join(ledger, entries.at(-1)), 'utf8'));
}

/** Adds a copy of an entry with another number. `tops`: folders in which its files are linked. */
export function addEntry(warehouse, seed, number, { supersedes = [], tops = ['tables', 'pinned'] } = {}) {
  const id = `c${number.toString(36)}`;
  const place = (path) => path.replace(/[^/]+$/, `${number}-${number}-${id}.parquet`);
  const tables = {};
  for (const [name, part] of Object.entries(seed.tables)) {
    tables[name] = { ...part, files: part.files.map((file) => ({ ...file, path: place(file.path) })) };
    for (const { path } of part.files) {
      for (const top of tops) {
        const to = join(warehouse, place(path).replace(/^tables/, top));
        mkdirSync(dirname(to), { recursive: true });
        linkSync(join(warehouse, path), to);
      }
    }
  }
  const entry = { ...seed, number, id, span: { from: number + 100_000, to: number + 100_000 }, tables, supersedes };
  writeFileSync(join(warehouse, '_ledger', `${String(number).padStart(8, '0')}.json`), JSON.stringify(entry));
  return id;
}
