// A warehouse of many entries of single blocks, none beside another: opening, verifying and compacting it.
//   npm run build && node bench/entries.mjs [warehouse] [--entries 4000] [--laps 5] [--against OTHER/dist/src/cli.js] [--write]
// A warehouse that is named is made where there is none, and kept. With --against another build takes turns with this one; each command runs in a process of its own.
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    entries: { type: 'string', default: '4000' },
    laps: { type: 'string', default: '5' },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const folder = scratch();
const blocks = Number(values.entries) / 2;
const [warehouse = join(folder, 'w')] = positionals;
await scatter(join(folder, 'whole'), warehouse);
const builds = { ...(values.against === undefined ? {} : { before: values.against }), now: cli };
const commands = {
  status: ['status'],
  'sql "select 1"': ['sql', 'select 1'],
  'sql "select count(*) from transactions"': ['sql', 'select count(*) from transactions'],
  verify: ['verify'],
};

const rows = await measureAll(Object.entries(commands), Number(values.laps), warehouse);
const compacted = await measureCompaction();
publish(
  'entries',
  `${count(2 * blocks)} entries of one block each, none beside another (blocks and transactions of the sandbox); seconds of CPU, medians of ${values.laps} runs of the whole command.\n\n${table([...rows, ...compacted])}`,
);

/** Runs each command `laps` times, the builds in turn. */
async function measureAll(tasks, laps, path, suffix = '') {
  const found = [];
  for (const [name, args] of tasks) {
    const seconds = Object.fromEntries(Object.keys(builds).map((build) => [build, []]));
    for (let lap = 0; lap < laps; lap++) {
      for (const [build, program] of Object.entries(builds)) {
        seconds[build].push((await must('node', [program, ...args, '--warehouse', path])).cpu);
      }
    }
    const medians = Object.entries(seconds).map(([build, all]) => [`${build}, CPU s`, round(median(all))]);
    found.push({ command: `${name}${suffix}`, ...Object.fromEntries(medians) });
  }
  return found;
}

/** One compaction by this build, and the same commands after it. */
async function measureCompaction() {
  const copy = join(folder, 'compacted');
  cpSync(warehouse, copy, { recursive: true });
  const { cpu: seconds } = await must('node', [cli, 'compact', '--warehouse', copy]);
  const compact = {
    command: 'compact',
    ...(values.against === undefined ? {} : { 'before, CPU s': '' }),
    'now, CPU s': round(seconds),
  };
  const after = [];
  for (const [name, args] of Object.entries(commands)) {
    const laps = [];
    for (let lap = 0; lap < Number(values.laps); lap++) {
      laps.push((await must('node', [cli, ...args, '--warehouse', copy])).cpu);
    }
    after.push({ ...compact, command: `${name}, compacted`, 'now, CPU s': round(median(laps)) });
  }
  return [compact, ...after];
}

/** Exports a range as it comes, and commits every other block of it by itself, unless that is done. */
async function scatter(whole, scattered) {
  const { openReader } = await import('../dist/src/warehouse/reader.js');
  const { openStore } = await import('../dist/src/warehouse/open-store.js');
  const { loadRegistry } = await import('../dist/src/declare/registry.js');
  const { realEffects } = await import('../dist/src/core/effects.js');
  const done = existsSync(scattered) ? await entriesOf(scattered) : new Set();
  if (done.size === 2 * blocks) return;
  const range = `2:${2 * blocks}`;
  await must('node', [cli, 'run', 'transactions', '--network', 'sandbox', '--range', range, '--warehouse', whole]);
  const registry = await loadRegistry();
  const reader = await openReader(whole, registry.tables);
  const { network } = reader;
  const store = await openStore({
    ...{ path: scattered, network, tables: registry.tables, effects: realEffects, catalogMs: 3_600_000 },
  });
  for (const pipeline of ['blocks', 'transactions'].map((name) => registry.pipeline(name))) {
    const parts = join(folder, pipeline.name);
    mkdirSync(parts);
    for (const each of pipeline.tables) await split(reader, each, join(parts, each.name));
    for (let seqno = 2; seqno <= 2 * blocks; seqno += 2) {
      const span = { from: seqno, to: seqno };
      if (done.has(`${pipeline.name} ${seqno}`)) continue;
      const stage = store.stage(pipeline.name, span);
      mkdirSync(stage.folder, { recursive: true });
      for (const each of pipeline.tables) {
        const own = join(parts, each.name, `block=${seqno}`, 'data_0.parquet');
        // The stage takes files over.
        const path = join(stage.folder, `${each.name}-given.parquet`);
        cpSync(existsSync(own) ? own : join(parts, each.name, 'none.parquet'), path);
        await stage.adopt(each, path);
      }
      await store.commit(await stage.finish(), {
        ...{ network, pipeline: pipeline.name, version: pipeline.version, span, verdict: 'sealed' },
        ...{ requests: 1, retries: 0, supersedes: [] },
      });
    }
    rmSync(parts, { recursive: true });
  }
  await reader.close();
  await store.close();
}

/** Pipeline and block of each entry. */
async function entriesOf(path) {
  const { openWarehouse } = await import('../dist/src/index.js');
  const held = await openWarehouse(path);
  const ledger = await held.ledger();
  await held.close();
  return new Set(ledger.map(({ pipeline, span }) => `${pipeline} ${span.from}`));
}

/** Writes the rows of each block into a file of its own, and one without rows. */
async function split(reader, { name, columns }, folder) {
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  const seqno = columns.find((column) => column.origin.column === 'mc_block_seqno')?.name ?? 'mc_block_seqno';
  mkdirSync(folder);
  const all = `SELECT ${names}, ${seqno} AS block FROM ${name}`;
  await reader.query(
    `COPY (${all} WHERE ${seqno} % 2 = 0 ORDER BY ALL) TO '${folder}' (FORMAT parquet, PARTITION_BY (block), OVERWRITE_OR_IGNORE)`,
  );
  await reader.query(
    `COPY (SELECT ${names} FROM ${name} WHERE false) TO '${join(folder, 'none.parquet')}' (FORMAT parquet)`,
  );
}
