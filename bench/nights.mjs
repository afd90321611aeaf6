// What each night costs as a warehouse grows: checks and marts over a day of new blocks, after few nights and after many.
//   npm run build && node bench/nights.mjs [--nights 40] [--blocks 60] [--write]
// A sandbox network with one request per masterchain block or less; nothing else runs in the process while a step is measured.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../dist/src/export/run.js';
import { buildMarts } from '../dist/src/marts/build-marts.js';
import { runChecks } from '../dist/src/marts/run-checks.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '40' },
    blocks: { type: 'string', default: '60' },
    write: { type: 'boolean', default: false },
  },
});
const nights = Number(values.nights);
const blocks = Number(values.blocks);
const DAY_MS = 86_400_000;
/** Nights whose medians are compared: these early ones, and as many at the end. */
const EARLY = [4, 5, 6];

const warehouse = join(scratch(), 'w');
const sandbox = await startSandbox({ blocks: blocks * (nights + 1), blockTimeMs: DAY_MS / blocks });
const steps = {
  'tonlake test': () => runChecks(warehouse),
  'tonlake test --all': () => runChecks(warehouse, { all: true }),
  'build accounts latest_balances': () => buildMarts(warehouse, { names: ['accounts', 'latest_balances'] }),
  'the same, --full': () => buildMarts(warehouse, { names: ['accounts', 'latest_balances'], full: true }),
};
const measured = Object.fromEntries(Object.keys(steps).map((name) => [name, []]));

try {
  for (let night = 1; night <= nights; night++) {
    const from = 1 + (night - 1) * blocks;
    const range = `${from}:${from + blocks - 1}`;
    const isRead = EARLY.includes(night) || night > nights - EARLY.length;
    await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse });
    // The steps of the night before a measured one leave a single night to the next.
    const isDue = isRead || night === EARLY[0] - 1 || night === nights - EARLY.length;
    for (const [name, step] of isDue ? Object.entries(steps) : []) {
      if (!isRead && (name.includes('--all') || name.includes('--full'))) continue;
      const cost = await costOf(step);
      if (isRead) measured[name].push({ night, ...cost });
    }
    process.stderr.write(`night ${night} of ${nights}\n`);
  }
} finally {
  await sandbox.close();
}

const rows = Object.entries(measured).map(([name, all]) => {
  const of = (isEarly, what) =>
    median(all.filter(({ night }) => EARLY.includes(night) === isEarly).map((each) => each[what]));
  const [early, late] = ['cpu', 'bytes'].map((what) => [of(true, what), of(false, what)]);
  return {
    '': `\`${name}\``,
    'CPU s, early': round(early[0]),
    'CPU s, late': round(early[1]),
    ratio: round(early[1] / early[0], 1),
    'MB read, early': round(late[0] / 1e6, 1),
    'MB read, late': round(late[1] / 1e6, 1),
    'ratio of bytes': round(late[1] / late[0], 1),
  };
});
publish(
  'nights',
  `Nights of ${count(blocks)} blocks; early: 4 to 6, late: the last three of ${nights}; medians.\n\n${table(rows)}`,
);

/** CPU and bytes that a step reads, of files and pipes. */
async function costOf(step) {
  const [cpu, bytes] = [process.cpuUsage(), readBytes()];
  await step();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / 1e6, bytes: readBytes() - bytes };
}

function readBytes() {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0);
}
