// What publishing Iceberg tables costs by the number of entries of a warehouse: at first, after one more commit, after a merge of ten files.
//   npm run build && node bench/iceberg.mjs [--sizes 100,10000] [--laps 3] [--write]
// The entries are copies of one commit of transactions with their headers, messages and states, whose files are linked under new names.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addEntry, newestEntry } from './lib/many-entries.mjs';
import { cli, must, scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100,10000' },
    laps: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const TABLES = ['transactions', 'messages', 'account_states'];
const folder = scratch();

const run = (warehouse, pipeline, range) =>
  must(process.execPath, [cli, 'run', pipeline, '--network', 'sandbox', '--range', range, '--warehouse', warehouse]);

/** A warehouse with one commit, and that entry. */
async function makeSeed(warehouse) {
  await run(warehouse, 'transactions', '1000:1009');
  return newestEntry(warehouse);
}

async function publishOnce(warehouse) {
  const { stdout, cpu } = await must(process.execPath, [cli, 'publish', 'iceberg', '--warehouse', warehouse, '--json']);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const tables = events.filter(({ event, table: name }) => event === 'table' && TABLES.includes(name));
  const sum = (key) => tables.reduce((total, each) => total + each[key], 0);
  return { seconds: events.at(-1).seconds, cpu, written: sum('written'), manifests: sum('manifests') };
}

const lines = [];
for (const size of values.sizes.split(',').map(Number)) {
  const told = { 'first time': [], 'one more commit': [], 'ten commits merged': [], 'nothing new': [] };
  for (let lap = 0; lap < Number(values.laps); lap++) {
    const warehouse = join(folder, `w-${size}`);
    const seed = await makeSeed(warehouse);
    const ids = [];
    for (let number = seed.number + 1; number <= size; number++) ids.push(addEntry(warehouse, seed, number));
    rmSync(join(warehouse, '_checkpoints'), { recursive: true, force: true });
    // Writes a checkpoint of the ledger, as a writer that made these entries would have.
    await run(warehouse, 'blocks', '2000:2000');
    const { number } = newestEntry(warehouse);
    told['first time'].push(await publishOnce(warehouse));
    addEntry(warehouse, seed, number + 1);
    told['one more commit'].push(await publishOnce(warehouse));
    addEntry(warehouse, seed, number + 2, { supersedes: ids.slice(40, 50) });
    told['ten commits merged'].push(await publishOnce(warehouse));
    told['nothing new'].push(await publishOnce(warehouse));
    rmSync(warehouse, { recursive: true });
  }
  for (const [what, laps] of Object.entries(told)) {
    const [{ written, manifests }] = laps;
    lines.push({
      publication: `${count(size)} entries: ${what}`,
      'seconds of publishing': round(median(laps.map(({ seconds }) => seconds))),
      'CPU of the command, s': round(median(laps.map(({ cpu }) => cpu)), 1),
      'manifests written': `${written} of ${manifests}`,
    });
  }
}
publish(
  'iceberg',
  `${table(lines)}\n\nTransactions, messages and account states, one file each an entry. Medians of ${values.laps} laps; reading the ledger is part of the seconds, the start of the program is not.`,
);
