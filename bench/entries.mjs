// What a warehouse of many small entries costs: entries of one block each, none beside another (blocks and transactions of the sandbox).
//   npm run build && node bench/entries.mjs [folder] [--sizes 4000,20000] [--laps 3] [--against OTHER/dist/src/cli.js]
//     [--commands verify,compact] [--write]
// Warehouses are made in the folder where there are none, and kept. With --against another build takes turns with this one, on a copy
// of its own; each command runs in a process of its own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, scratch } from './lib/process.mjs';
import { median, publish, round, table } from './lib/report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: 'string', default: '4000,20000' },
    laps: { type: 'string', default: '3' },
    against: { type: 'string' },
    commands: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const [folder = scratch()] = positionals;
const builds = { ...(values.against === undefined ? {} : { before: values.against }), now: cli };
const sizes = values.sizes.split(',').map(Number);
const commands = {
  'sql "select 1"': () => ['sql', 'select 1'],
  status: () => ['status'],
  plan: (lap, size) => ['run', '--dry-run', 'transactions', '--range', `${size + 100 + lap}`, '--network', network],
  'one more commit': (lap, size) => ['run', 'blocks', '--range', `${size + 200 + 2 * lap}`, '--network', network],
  'a run that misses nothing': () => ['run', 'blocks', '--range', '2', '--network', network],
  verify: () => ['verify'],
  compact: () => ['compact'],
};
// These read every file, and the second changes the warehouse: once each, in this order.
const wholeWarehouse = new Set(['verify', 'compact']);
const chosen = values.commands?.split(',') ?? Object.keys(commands);

// The address is the name of the network, which the warehouses keep.
const network = 'http://127.0.0.1:48719/api/v3';
const sandbox = spawn(
  process.execPath,
  [cli, 'sandbox', '--port', '48719', '--blocks', String(Math.max(...sizes) + 1000), '--activity', '0.25'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
process.once('exit', () => sandbox.kill());
await once(sandbox.stdout, 'data');

const rows = chosen.map((command) => ({ command }));
for (const size of sizes) {
  const made = join(folder, `entries-${size}`);
  if (!existsSync(made)) await scatter(made, size / 2);
  const paths = {};
  for (const build of Object.keys(builds)) {
    paths[build] = join(folder, `${build}-${size}`);
    rmSync(paths[build], { recursive: true, force: true });
    await must('cp', ['-a', made, paths[build]]);
    // The first run after a copy writes the catalog, and the first checkpoint.
    await must('node', [builds[build], ...commands['one more commit'](-10, size), '--warehouse', paths[build]]);
  }
  for (const row of rows) {
    const seconds = Object.fromEntries(Object.keys(builds).map((build) => [build, []]));
    const laps = wholeWarehouse.has(row.command) ? 1 : Number(values.laps);
    for (let lap = 0; lap < laps; lap++) {
      for (const [build, program] of Object.entries(builds)) {
        const args = commands[row.command](lap, size);
        seconds[build].push((await must('node', [program, ...args, '--warehouse', paths[build]])).cpu);
        process.stderr.write(`${size} ${row.command}: ${build} ${seconds[build].at(-1)} s\n`);
      }
    }
    for (const build of Object.keys(builds)) row[`${size}: ${build}`] = round(median(seconds[build]));
    if (values.against !== undefined) row[`${size}: ratio`] = round(median(seconds.now) / median(seconds.before));
  }
}
publish(
  'entries',
  `Seconds of CPU of the whole command, medians of ${values.laps} runs (\`verify\` and \`compact\`: one), by number of entries.\n\n${table(rows)}`,
);

sandbox.kill();

/** Exports a range as it comes, and writes every other block of it as an entry by itself. */
async function scatter(path, blocks) {
  const { openReader, openStore } = await import('../dist/src/warehouse/open-store.js');
  const { addEvidence, boundedColumns, measureBy } = await import('../dist/src/warehouse/staging/row-evidence.js');
  const { schemaOf } = await import('../dist/src/warehouse/relations/table-schema.js');
  const { storedColumns } = await import('../dist/src/warehouse/file-layout.js');
  const { loadRegistry } = await import('../dist/src/declare/registry.js');
  const { realEffects } = await import('../dist/src/core/effects.js');
  const whole = join(folder, 'whole');
  const draft = join(folder, 'draft');
  const parts = join(folder, 'parts');
  for (const each of [whole, draft, parts]) rmSync(each, { recursive: true, force: true });
  const range = `2:${2 * blocks}`;
  await must('node', [cli, 'run', 'transactions', '--network', network, '--range', range, '--warehouse', whole]);
  const registry = await loadRegistry();
  const all = registry.tables;
  const reader = await openReader(whole, all);
  await (await openStore({ path: draft, network: reader.network, tables: all, effects: realEffects })).close();
  const entries = new Map();
  for (const { name, version, tables } of ['blocks', 'transactions'].map((each) => registry.pipeline(each))) {
    for (let seqno = 2; seqno <= 2 * blocks; seqno += 2) {
      const id = realEffects.freshId();
      entries.set(`${name} ${seqno}`, {
        ...{
          format: 1,
          number: entries.size + 1,
          id,
          network: reader.network,
          pipeline: name,
          version,
          span: { from: seqno, to: seqno },
        },
        ...{ verdict: 'accepted', tables: {}, requests: 1, retries: 0, supersedes: [] },
        committedAt: new Date().toISOString(),
      });
    }
    for (const each of tables) {
      const seqno = each.columns.find((column) => column.origin.column === 'mc_block_seqno')?.name ?? 'mc_block_seqno';
      const relation = `(SELECT *, ${seqno} AS block, concat(${seqno}, ' ', block_date) AS file FROM ${each.name} WHERE ${seqno} % 2 = 0)`;
      const schema = schemaOf(each);
      writeFileSync(join(draft, '_ledger', `schema-${schema.id}.json`), JSON.stringify(schema.columns));
      const none = (await measureBy(reader.query, each, { relation: `(FROM ${relation} WHERE false)` }))[0].evidence;
      for (let seqno = 2; seqno <= 2 * blocks; seqno += 2) {
        const part = { ...none, schema: schema.id, dateIn: 'path', files: [] };
        entries.get(`${name} ${seqno}`).tables[each.name] = part;
      }
      const boundsOf = new Map();
      const byFile = { relation, by: 'file', bounded: boundedColumns(each) };
      for (const { by, evidence, bounds } of await measureBy(reader.query, each, byFile)) {
        boundsOf.set(by, bounds);
        const { tables } = entries.get(`${name} ${by.split(' ')[0]}`);
        tables[each.name] = { ...tables[each.name], ...addEvidence([tables[each.name], evidence], each) };
      }
      const columns = storedColumns(each)
        .map((column) => `"${column}"`)
        .join(', ');
      mkdirSync(join(parts, each.name), { recursive: true });
      // In stretches: DuckDB keeps a file open for each block of a statement.
      for (let from = 2; from <= 2 * blocks; from += 1000) {
        await reader.query(
          `COPY (SELECT ${columns}, block_date AS d, block AS b FROM ${relation} WHERE block BETWEEN ${from} AND ${from + 999} ORDER BY ${each.sort.join(', ')})
           TO '${join(parts, each.name, String(from))}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (d, b), OVERWRITE_OR_IGNORE)`,
        );
      }
      const { rows } = await reader.query(
        `SELECT block, block_date::VARCHAR, count(*)::INTEGER FROM ${relation} GROUP BY ALL ORDER BY ALL`,
      );
      for (const [block, date, count] of rows) {
        const stretch = 2 + 1000 * Math.floor((Number(block) - 2) / 1000);
        const own = join(parts, each.name, String(stretch), `d=${date}`, `b=${block}`);
        const [file, ...others] = readdirSync(own);
        if (others.length > 0) throw new Error(`expected one file in ${own}, got ${others.length + 1}`);
        const entry = entries.get(`${name} ${block}`);
        const path = `tables/${each.name}/block_date=${date}/${block}-${block}-${entry.id}.parquet`;
        const about = {
          path,
          rows: count,
          ...placeFile(draft, join(own, file), path),
          bounds: boundsOf.get(`${block} ${date}`),
        };
        entry.tables[each.name].files.push(about);
      }
    }
  }
  for (const entry of entries.values()) {
    writeFileSync(
      join(draft, '_ledger', `${String(entry.number).padStart(8, '0')}.json`),
      `${JSON.stringify(entry)}\n`,
    );
  }
  await reader.close();
  for (const each of [whole, parts]) rmSync(each, { recursive: true });
  renameSync(draft, path);
}

/** Moves a file to both of its names in a warehouse. */
function placeFile(warehouse, from, path) {
  const bytes = readFileSync(from);
  const [own, pinned] = [join(warehouse, path), join(warehouse, path.replace('tables', 'pinned'))];
  for (const name of [own, pinned]) mkdirSync(dirname(name), { recursive: true });
  renameSync(from, own);
  linkSync(own, pinned);
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
