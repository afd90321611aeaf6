// How time, requests, memory and bytes grow with the range: 10 thousand, 100 thousand, 1 million transactions.
//   npm run build && node bench/growth.mjs [--sizes 10000,100000,1000000] [--laps 5] [--no-picture] [--write]
// The server keeps all pages in memory (about 3.6 GB for a million). The picture is docs/growth.svg, drawn by Observable Plot.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawGrowth } from './lib/picture.mjs';
import { cli, must, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    laps: { type: 'string', default: '5' },
    'no-picture': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
/** Transactions of a masterchain block of the sandbox. */
const ROWS_A_BLOCK = 18.2;
const sizes = values.sizes.split(',').map(Number);
const laps = Number(values.laps);
const folder = scratch();
const server = await startServer(1000 + Math.ceil(Math.max(...sizes) / ROWS_A_BLOCK) + 1000);

async function run(size, store) {
  const warehouse = join(folder, store === 'duckdb' ? 'w.duckdb' : 'w');
  rmSync(warehouse, { recursive: true, force: true });
  const range = `1000:${1000 + Math.ceil(size / ROWS_A_BLOCK)}`;
  const args = ['--network', server.url, '--range', range, '--warehouse', warehouse, '--json'];
  const result = await must(process.execPath, [cli, 'run', ...args]);
  const files = await must('du', ['-sb', store === 'duckdb' ? warehouse : join(warehouse, 'tables')]);
  const report = JSON.parse(result.stdout.trim().split('\n').at(-1));
  return {
    ...result,
    requests: report.requests,
    rows: report.rows.transactions,
    bytes: Number.parseInt(files.stdout, 10),
  };
}

const runs = ['parquet', 'duckdb'].flatMap((store) => sizes.map((size) => ({ store, size })));
for (const { size } of runs.slice(0, sizes.length)) await run(size, 'parquet');
const results = runs.map(() => []);
for (let lap = 0; lap < laps; lap++) {
  for (const [at, { store, size }] of runs.entries()) {
    results[at].push(await run(size, store));
    process.stderr.write(`lap ${lap + 1} of ${laps}: ${store} ${size}: ${results[at].at(-1).seconds} s\n`);
  }
}
server.close();

const points = results.map((all, at) => ({
  store: runs[at].store,
  rows: all[0].rows,
  requests: all[0].requests,
  bytes: all[0].bytes,
  seconds: median(all.map(({ seconds }) => seconds)),
  cpu: median(all.map(({ cpu }) => cpu)),
  peakMb: Math.max(...all.map(({ peakMb }) => peakMb ?? 0)),
}));
const text = table(
  points.map(({ store, rows, requests, bytes, seconds, cpu, peakMb }, at) => {
    const before = points[at - 1]?.store === store ? points[at - 1] : undefined;
    return {
      store,
      transactions: count(rows),
      seconds: round(seconds),
      'time / 10 x the rows':
        before === undefined ? '' : `${round(((seconds / before.seconds) * 10 * before.rows) / rows)} x`,
      'tx/s': count(rows / seconds),
      'CPU s per 10k tx': round((cpu / rows) * 10_000, 3),
      requests: count(requests),
      'tx per request': count(rows / requests),
      MB: round(bytes / 1e6, 1),
      'peak MB': peakMb || '-',
      'of the peak before': before === undefined ? '' : `${round(peakMb / before.peakMb)} x`,
    };
  }),
);
const isDrawn = values.write && !values['no-picture'];
const picture = isDrawn ? drawGrowth(points.filter(({ store }) => store === 'parquet')) : undefined;
publish(
  'growth',
  `${text}\n\nMedian of ${laps} laps, the greatest peak.${picture === undefined ? '' : `\n\n![growth](${picture})`}`,
);
