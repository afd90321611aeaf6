// Requests of a whole run, headers included, beside the least that pages of 1,000 rows allow; and the same rows by both walks.
//   npm run build && node bench/requests.mjs [--blocks 4000,20000] [--write]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contentHash } from '../dist/src/audit/content-hash.js';
import { loadRegistry } from '../dist/src/declare/registry.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { openReader } from '../dist/src/warehouse/index.js';
import { cli, must, scratch } from './lib/process.mjs';
import { count, publish, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: { blocks: { type: 'string', default: '4000,20000' }, write: { type: 'boolean', default: false } },
});
const sizes = values.blocks.split(',').map(Number);

async function hashesOf(warehouse) {
  const reader = await openReader(warehouse, (await loadRegistry()).tables);
  try {
    const hashes = [];
    for (const name of ['blocks', 'transactions', 'messages', 'account_states']) {
      const found = (await loadRegistry()).tables.find((each) => each.name === name);
      const { rows, hash } = await contentHash(reader.query, found);
      hashes.push(`${name} ${rows} ${hash}`);
    }
    return hashes.join('\n');
  } finally {
    await reader.close();
  }
}

let requests = 0;
const sandbox = await startSandbox({
  blocks: Math.max(...sizes) + 1000,
  intercept: (_, answer) => {
    requests++;
    return answer();
  },
});
const folder = scratch();
const rows = [];
for (const blocks of sizes) {
  const hashes = new Set();
  for (const walk of ['window', 'auto', 'masterchain']) {
    const warehouse = join(folder, `${walk}-${blocks}`);
    requests = 0;
    const args = ['run', 'transactions', '--network', sandbox.url, '--range', `2:${blocks + 1}`, '--json'];
    const { stdout } = await must(process.execPath, [cli, ...args, '--walk', walk, '--warehouse', warehouse]);
    const report = JSON.parse(stdout.trim().split('\n').at(-1));
    const least = Math.ceil((report.rows.transactions + report.rows.blocks) / 1000);
    hashes.add(await hashesOf(warehouse));
    rows.push({
      blocks: count(blocks),
      walk,
      transactions: count(report.rows.transactions),
      headers: count(report.rows.blocks),
      'least pages': count(least),
      requests: count(requests),
      ratio: (requests / least).toFixed(3),
    });
  }
  if (hashes.size !== 1) throw new Error('the walks brought different rows');
}
await sandbox.close();
publish('requests', `${table(rows)}\n\nAll tables have the same content hash by each walk.`);
