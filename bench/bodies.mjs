// Peak memory by the size of bodies: as they are, of 1 MB and of 16 MB, into both stores.
//   npm run build && node bench/bodies.mjs [--blocks 2000] [--laps 5] [--write]
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '2000' },
    laps: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});
const laps = Number(values.laps);
const folder = scratch();
const last = 1000 + Number(values.blocks);
/** Pages of 1 MB are those of single masterchain blocks. */
const kinds = [
  { title: 'pages as the sandbox makes them', megabytes: 0, more: [] },
  { title: 'one masterchain block a page, filled up to 1 MB', megabytes: 1, more: ['--walk', 'masterchain'] },
  { title: 'pages of 1,000 filled up to 16 MB', megabytes: 16, more: [] },
];

const rows = [];
for (const { title, megabytes, more } of kinds) {
  const server = await startServer(last + 1000, ['--fill-mb', String(megabytes)]);
  for (const store of ['w', 'w.duckdb']) {
    const results = [];
    for (let lap = 0; lap < laps; lap++) {
      const warehouse = join(folder, store);
      rmSync(warehouse, { recursive: true, force: true });
      const args = [
        'run',
        '--network',
        server.url,
        '--range',
        `1000:${last}`,
        '--warehouse',
        warehouse,
        '--json',
        ...more,
      ];
      results.push(await must(process.execPath, [cli, ...args]));
      process.stderr.write(`lap ${lap + 1} of ${laps}: ${title}: ${results.at(-1).peakMb} MB\n`);
    }
    const report = JSON.parse(results[0].stdout.trim().split('\n').at(-1));
    rows.push({
      bodies: title,
      store: store === 'w' ? 'parquet' : 'duckdb',
      transactions: count(report.rows.transactions),
      requests: count(report.requests),
      seconds: round(median(results.map(({ seconds }) => seconds))),
      'peak MB': Math.max(...results.map(({ peakMb }) => peakMb ?? 0)) || '-',
    });
  }
  server.close();
}
publish(
  'bodies',
  `${table(rows)}\n\nMedian time of ${laps} laps, the greatest peak. What fills the pages up are blanks.`,
);
