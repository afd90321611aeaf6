// `tonlake compact` of many small files, then of the files that it made.
//   npm run build && node bench/compact.mjs [--rows 300000] [--commits 30] [--laps 3] [--before DIST] [--write]
// --before: `dist` of an older build of this project, which takes turns with this one on copies of the same warehouses.
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../dist/src/export/run.js';
import { must, root, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '300000' },
    commits: { type: 'string', default: '30' },
    laps: { type: 'string', default: '3' },
    before: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const ROWS_A_BLOCK = 18.2;
/** Maximum file sizes of the first and the second compaction, in megabytes. */
const TARGETS = { first: Math.ceil(Number(values.rows) / 15_000), second: Math.ceil(Number(values.rows) / 5_000) };
const blocks = Math.ceil(Number(values.rows) / ROWS_A_BLOCK);
const size = Math.ceil(blocks / Number(values.commits));

const folder = scratch();
const server = await startServer(blocks + 2000);
const small = join(folder, 'small');
for (let from = 1000; from < 1000 + blocks; from += size) {
  const range = `${from}:${Math.min(from + size, 1000 + blocks) - 1}`;
  await run({ pipelines: ['transactions'], network: server.url, range, warehouse: small });
}
server.close();
const compact = (dist, path, targetMb) =>
  must(process.execPath, [
    join(dist, 'src/cli.js'),
    'compact',
    '--warehouse',
    path,
    '--target-mb',
    `${targetMb}`,
    '--json',
  ]);
const own = join(root, 'dist');
const large = join(folder, 'large');
cpSync(small, large, { recursive: true });
await compact(own, large, TARGETS.first);

const builds = { ...(values.before === undefined ? {} : { before: resolve(values.before) }), now: own };
const lines = [];
for (const [name, source] of Object.entries({
  'files of single spans': small,
  'files of an earlier compaction': large,
})) {
  const runs = Object.fromEntries(Object.keys(builds).map((build) => [build, []]));
  for (let lap = 0; lap < Number(values.laps); lap++) {
    for (const [build, dist] of Object.entries(builds)) {
      const copy = join(folder, 'copy');
      cpSync(source, copy, { recursive: true });
      const result = await compact(dist, copy, TARGETS.second);
      runs[build].push({ ...result, report: JSON.parse(result.stdout.trim().split('\n').at(-1)) });
      rmSync(copy, { recursive: true });
    }
  }
  for (const [build, all] of Object.entries(runs)) {
    const { files, bytes } = all[0].report;
    lines.push({
      files: `${name}: ${files.before}, ${round(bytes.before / 1e6, 1)} MB`,
      build,
      become: `${files.after}, ${round(bytes.after / 1e6, 1)} MB`,
      seconds: round(median(all.map(({ seconds }) => seconds)), 1),
      'CPU, s': round(median(all.map(({ cpu }) => cpu)), 1),
      'peak, MB': Math.max(...all.map(({ peakMb }) => peakMb ?? 0)),
    });
  }
}
publish(
  'compact',
  `${table(lines)}\n\n${count(Number(values.rows))} transactions with messages, states and headers. Median of ${values.laps} laps, the start of the program included; the greatest peak.`,
);
