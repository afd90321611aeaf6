// What publishing Iceberg tables to a bucket costs by the number of entries of a warehouse: requests, bytes, seconds.
//   npm run build && TONLAKE_VERSITYGW=PROGRAM TONLAKE_DUCKDB_EXTENSIONS=FOLDER node bench/iceberg-bucket.mjs [--sizes 100,10000] [--write]
// The entries are copies of one commit of transactions with their headers, messages and states, linked into the folder of the server.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addEntry, newestEntry } from './lib/many-entries.mjs';
import { accessTo, startObjectStore, startRelay } from './lib/object-store.mjs';
import { cli, must, scratch } from './lib/process.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '100,10000' }, write: { type: 'boolean', default: false } },
});
const SERVER_PORT = 17_480;
const folder = scratch();
/** Requests by what they are for, and bytes of bodies both ways. */
const seen = { requests: {}, bytes: 0 };
const relay = await startRelay(await startObjectStore('versitygw', folder, SERVER_PORT), {
  see: (_, url) => {
    const isLedger = url.includes('/_ledger/') || url.includes('_checkpoints');
    const key = isLedger ? 'ledger' : url.includes('/iceberg') ? 'metadata' : 'other';
    seen.requests[key] = (seen.requests[key] ?? 0) + 1;
  },
  count: (bytes) => (seen.bytes += bytes),
});
const env = accessTo(relay);
const tonlake = (...args) => must(process.execPath, [cli, ...args], { env });

async function publishOnce(address) {
  Object.assign(seen, { requests: {}, bytes: 0 });
  const { stdout, cpu } = await tonlake('publish', 'iceberg', '--warehouse', address, '--json');
  const { seconds } = JSON.parse(stdout.trim().split('\n').at(-1));
  return { seconds, cpu, ...seen };
}

const lines = [];
for (const size of values.sizes.split(',').map(Number)) {
  const [address, place] = [`s3://lake/w${size}`, join(folder, `lake/w${size}`)];
  const run = (pipeline, range) =>
    tonlake('run', pipeline, '--network', 'sandbox', '--range', range, '--warehouse', address);
  await run('transactions', '1000:1009');
  const seed = newestEntry(place);
  const tops = ['tables'];
  const ids = [];
  for (let number = seed.number + 1; number <= size; number++) ids.push(addEntry(place, seed, number, { tops }));
  // Writes a checkpoint of the ledger.
  await run('blocks', '2000:2000');
  const { number } = newestEntry(place);
  const steps = {
    'first time': () => {},
    'one more commit': () => addEntry(place, seed, number + 1, { tops }),
    'ten commits merged': () => addEntry(place, seed, number + 2, { tops, supersedes: ids.slice(40, 50) }),
    'nothing new': () => {},
  };
  for (const [what, prepare] of Object.entries(steps)) {
    prepare();
    const { seconds, cpu, requests, bytes } = await publishOnce(address);
    const { ledger = 0, metadata = 0, other = 0 } = requests;
    lines.push({
      publication: `${count(size)} entries: ${what}`,
      ...{ 'requests for the ledger': ledger, 'for metadata': metadata, 'for the rest': other },
      ...{ 'kB in both directions': count(bytes / 1000), seconds: round(seconds, 1), 'CPU, s': round(cpu, 1) },
    });
  }
}
publish(
  'iceberg-bucket',
  `${table(lines)}\n\nBlocks, transactions, messages and account states, one file each an entry; an object store on the same machine.`,
);
process.exit();
