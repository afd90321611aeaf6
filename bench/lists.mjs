// Lists of blocks and of logical time from a loopback server of ready pages into Parquet, with worker threads, beside another build.
//   npm run build && node bench/lists.mjs [--blocks 5000] [--laps 5] [--beside FOLDER]
//     [--after transactions] [--write]
// `--beside` is a folder with the `dist` of another version. Each lap runs every contestant once, in turns. `--after` names pipelines that are
// in the warehouse already: they bound and prove lists.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const PIPELINES = ['jetton_transfers', 'actions', 'traces', 'message_links'];

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5000' },
    laps: { type: 'string', default: '5' },
    beside: { type: 'string' },
    after: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const blocks = Number(values.blocks);
const folder = scratch();
const server = await startServer(blocks + 1000);
const builds = { now: cli, ...(values.beside === undefined ? {} : { before: join(values.beside, 'dist/src/cli.js') }) };

const exportInto = (warehouse, build, pipelines) => {
  const range = ['--range', `100:${99 + blocks}`, '--warehouse', warehouse];
  return must(process.execPath, [build, 'run', ...pipelines, '--network', server.url, ...range, '--json']);
};
const before = join(folder, 'before');
if (values.after !== undefined) await exportInto(before, cli, values.after.split(','));
const run = (build, pipeline) => {
  const warehouse = join(folder, 'w');
  rmSync(warehouse, { recursive: true, force: true });
  if (values.after !== undefined) cpSync(before, warehouse, { recursive: true });
  return exportInto(warehouse, build, [pipeline]);
};

const rows = [];
for (const pipeline of PIPELINES) {
  // The first run fills the server.
  const { rows: brought } = JSON.parse((await run(cli, pipeline)).stdout.trim().split('\n').at(-1));
  const laps = Object.fromEntries(Object.keys(builds).map((name) => [name, []]));
  for (let lap = 0; lap < Number(values.laps); lap++) {
    for (const [name, build] of Object.entries(builds)) laps[name].push(await run(build, pipeline));
  }
  const middle = (name, what) => median(laps[name].map((lap) => lap[what]));
  const [now, cpu] = [middle('now', 'seconds'), middle('now', 'cpu')];
  const { requests } = JSON.parse(laps.now[0].stdout.trim().split('\n').at(-1));
  const own = { s: round(now), 'CPU s': round(cpu), requests: count(requests) };
  const beside =
    laps.before === undefined
      ? {}
      : {
          's before': round(middle('before', 'seconds')),
          'CPU s before': round(middle('before', 'cpu')),
          'requests before': count(JSON.parse(laps.before[0].stdout.trim().split('\n').at(-1)).requests),
          'times as fast': round(middle('before', 'seconds') / now),
        };
  rows.push({ pipeline: `\`${pipeline}\``, rows: count(brought[pipeline]), ...own, ...beside });
}
server.close();

publish('lists', `${count(blocks)} masterchain blocks, medians of ${values.laps}.\n\n${table(rows)}`);
