// What each night costs as a warehouse grows: the commands of a nightly job after few nights, and after many.
//   npm run build && node bench/nights.mjs [--nights 400] [--blocks 12] [--place folder|bucket] [--write]
//   npm run build && node bench/nights.mjs --days 8 --blocks 2000 [--without compact,job] [--write]
// Every night runs all commands, a day after the night before by their clock. One process runs those of the nights in which the warehouse grows.
// A copy is made early on; at the end both run further nights by turns, each command in a process of its own, which are measured. The sandbox
// network is in this process. With --days, nights come on top of days of mainnet's size, each of 3.5 million transactions in 13 million rows,
// instead: on top of one, and of all. A bucket needs versitygw (TONLAKE_VERSITYGW) and DuckDB's extensions (TONLAKE_DUCKDB_EXTENSIONS).
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { accessTo, movedStore, startObjectStore, startRelay } from './lib/object-store.mjs';
import { cli, must, scratch } from './lib/process.mjs';
import { COPIES_A_DAY, lastBlock, repeatedWarehouse } from './lib/repeated-warehouse.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '400' },
    blocks: { type: 'string', default: '12' },
    days: { type: 'string' },
    place: { type: 'string', default: 'folder' },
    without: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const nights = Number(values.nights);
const blocks = Number(values.blocks);
const DAY_MS = 86_400_000;
/** The last blocks of the warehouses that are compared, and their nights by the clock. */
const grown =
  values.days === undefined
    ? [Math.min(20, nights >> 1), nights].map((night) => ({ title: `night ${night}`, night, end: night * blocks }))
    : [1, Number(values.days)].map((days) => ({
        title: days === 1 ? 'on a day' : `on ${days} days`,
        night: days,
        copies: days * COPIES_A_DAY + 1,
        end: lastBlock(days * COPIES_A_DAY + 1),
      }));
const [early, late] = grown;
/** How often each is measured; a night before is not measured, because a copy has other folders. */
const LAPS = 3;
const MARTS = ['accounts', 'latest_balances', 'transactions_daily', 'messages_by_opcode_daily', 'balances_history'];

const folder = scratch();
const sandbox = await startSandbox({
  blocks: late.end + blocks * (LAPS + 2),
  ...(values.days === undefined ? { blockTimeMs: DAY_MS / blocks } : {}),
});
let today = 0;
const { warehouse, data, env, requests } = await openPlace();
const verifying = { network: sandbox.url, warehouse, verify: true };
writeFileSync(join(folder, 'verify.yaml'), JSON.stringify(verifying));

/** The commands of a night, in their order. */
const commandsOf = (range) => ({
  run: ['run', 'transactions', '--network', sandbox.url, '--range', range, '--warehouse', warehouse],
  compact: ['compact', '--warehouse', warehouse],
  'job run (verify: true)': ['job', 'run', 'verify.yaml'],
  [`build (${MARTS.length} marts)`]: ['build', ...MARTS, '--warehouse', warehouse],
  test: ['test', '--warehouse', warehouse],
  'publish iceberg': ['publish', 'iceberg', '--warehouse', warehouse],
  status: ['status', '--warehouse', warehouse],
});

const clock = fileURLToPath(new URL('./lib/moved-clock.mjs', import.meta.url));
const measured = [];
const without = values.without.split(',');
const commandsAfter = (block) =>
  Object.entries(commandsOf(`${block + 1}:${block + blocks}`)).filter(([, [command]]) => !without.includes(command));
const placeOf = ({ title }) => `${data}-${title.replaceAll(' ', '-')}`;
try {
  await (values.days === undefined ? runNights() : repeatDays());
  renameSync(data, placeOf(late));
  for (let lap = 0; lap <= LAPS; lap++) for (const base of grown) await measureNight(base, lap);
} finally {
  await sandbox.close();
}

/** Grows the warehouse night by night, in one process for all commands. */
async function runNights() {
  const worker = fork(new URL('./lib/commands.mjs', import.meta.url), {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  worker.stderr.setEncoding('utf8').on('data', (text) => (said = `${said}${text}`.slice(-2000)));
  process.once('exit', () => worker.kill());
  for (let night = 1; night <= nights; night++) {
    today = night;
    for (const [, args] of commandsAfter((night - 1) * blocks)) {
      worker.send({ night, args });
      const [code] = await once(worker, 'message');
      if (code !== 0) throw new Error(`night ${night}: tonlake ${args.join(' ')} ended with ${code}: ${said}`);
    }
    if (night === early.night) copyEarly();
    if (night % 20 === 0) process.stderr.write(`night ${night} of ${nights}\n`);
  }
  worker.kill();
}

/** Fills the warehouse with days of mainnet's size. */
async function repeatDays() {
  await repeatedWarehouse(data, {
    copies: late.copies,
    network: sandbox.url,
    seen: (copies) => {
      if (copies === early.copies) copyEarly();
      if (copies % COPIES_A_DAY === 0) process.stderr.write(`day ${copies / COPIES_A_DAY} of ${values.days}\n`);
    },
  });
}

function copyEarly() {
  execFileSync('cp', ['-a', data, placeOf(early)]);
}

/** Runs a further night of a warehouse at the place where it grew. */
async function measureNight(base, lap) {
  today = base.night + 1 + lap;
  renameSync(placeOf(base), data);
  for (const [name, args] of commandsAfter(base.end + lap * blocks)) {
    const before = requests();
    const { cpu, peakMb } = await must(process.execPath, ['--import', clock, cli, ...args], {
      cwd: folder,
      env: { ...env, TONLAKE_BENCH_DAYS: String(today) },
    });
    process.stderr.write(`${base.title}, lap ${lap}: ${name}: ${round(cpu, 1)} s, ${round(peakMb, 0)} MB\n`);
    if (lap > 0) measured.push({ name, base, cpu, peakMb, requests: requests() - before });
  }
  renameSync(data, placeOf(base));
}

const figures = [
  ['CPU s', 'cpu', 2],
  ['peak MB', 'peakMb', 0],
  ...(values.place === 'bucket' ? [['requests', 'requests', 0]] : []),
];
const rows = commandsAfter(0).map(([name]) => {
  const row = { '': `\`${name}\`` };
  for (const [title, what, digits] of figures) {
    const [before, after] = grown.map((base) =>
      median(measured.filter((each) => each.name === name && each.base === base).map((each) => each[what])),
    );
    row[`${title}, ${early.title}`] = round(before, digits);
    row[`${title}, ${late.title}`] = round(after, digits);
    row[`ratio of ${title}`] = round(after / before, 2);
  }
  return row;
});
const [where, section] =
  values.days === undefined
    ? [`A ${values.place}; nights of ${count(blocks)} blocks, all commands each night`, `nights-${values.place}`]
    : [`A ${values.place} with days of 3.5 million transactions; nights of ${count(blocks)} blocks`, 'nights-days'];
publish('nights', `${where}; medians of ${LAPS} nights of each warehouse, by turns.\n\n${table(rows)}`, { section });

/** The warehouse and the folder with its files, what commands need to get there, and how many requests its object store has had. */
async function openPlace() {
  const local = join(folder, 'w');
  if (values.place === 'folder') return { warehouse: local, data: local, env: {}, requests: () => 0 };
  const port = await startObjectStore('versitygw', join(folder, 's3'), 48_741);
  let seen = 0;
  const relay = await startRelay(port, {
    see: () => void seen++,
    moved: movedStore(join(folder, 's3'), () => today),
  });
  const data = join(folder, 's3', 'lake', 'w');
  return { warehouse: 's3://lake/w', data, env: accessTo(relay), requests: () => seen };
}
