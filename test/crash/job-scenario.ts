import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { contentHash } from '../../src/audit/content-hash.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { loadMarts } from '../../src/marts/load-marts.ts';
import { startTonlake } from '../cli.ts';
import { type Hashes, hashTables } from '../e2e/export.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const OUTPUTS = ['network.html', 'fees.csv', 'blocks.json'] as const;
const YESTERDAY = 'of yesterday';

/** A job with every kind of step, some seconds long. */
export const killedJob = (network: string, warehouse = 'w', out = 'out'): string => `network: ${network}
warehouse: ${warehouse}
pipelines: [transactions]
range: "1000:1009,1020:1029"
marts: [transactions_daily, gas_fees_daily, failed_transactions_daily]
checks: all
reports:
  - {report: network-daily, output: ${out}/network.html}
exports:
  - {table: gas_fees_daily, output: ${out}/fees.csv}
  - {query: 'select * from blocks order by all', output: ${out}/blocks.json}
`;

/** What is the same after every run that ended, however often it was killed before. */
export interface JobResult {
  readonly tables: Hashes;
  readonly outputs: Readonly<Record<string, string>>;
}

/** What an undisturbed run makes. */
export async function runUndisturbed(network: string): Promise<JobResult> {
  const folder = freshJob(network);
  await runToEnd(folder);
  return readResult(folder);
}

/** Kinds of steps in their order. */
export const KINDS = ['range', 'export', 'mart', 'check', 'report', 'rows'] as const;

export interface JobKill {
  /** The process is killed once it has told of such a step. */
  readonly after: (typeof KINDS)[number];
  /** So many milliseconds later. Default: at once. */
  readonly ms?: number;
}

/** Kills the real process, several times in a row on the same warehouse, then lets a run end, and looks at what is left. */
export async function killJobAndRerun(network: string, kills: readonly JobKill[], wanted: JobResult): Promise<void> {
  const folder = freshJob(network);
  for (const name of OUTPUTS) writeFileSync(join(folder, 'out', name), YESTERDAY);
  for (const { after, ms = 0 } of kills) {
    const run = startTonlake(KILLED_ARGS, { cwd: folder });
    await run.until('stdout', new RegExp(`"kind":"${after}"`));
    if (ms > 0) await delay(ms);
    run.kill('SIGKILL');
    const { code, signal } = await run.finished;
    expect(signal === 'SIGKILL' || (ms > 0 && code === 0), `the kill after ${after} landed`).toBe(true);
    // Outputs come last, by renames: a kill in their middle may leave some of both, each of them whole.
    const isEarly = ms === 0 && after !== 'rows';
    for (const [name, text] of Object.entries(readOutputs(join(folder, 'out'))))
      expect(isEarly ? [YESTERDAY] : [YESTERDAY, wanted.outputs[name]]).toContain(text);
  }
  await runToEnd(folder);
  expect(await readResult(folder)).toEqual(wanted);
  expect(readdirSync(join(folder, 'out')).sort()).toEqual([...OUTPUTS].sort());
  const records = await (await JobHistory.open(join(folder, 'w'), 'nightly')).read();
  expect(records.map(({ state }) => state)).toEqual(records.map(() => 'done'));
}

/** Always due at the same time, so that a rerun is the same run, also across midnight. */
export const KILLED_ARGS = ['job', 'run', 'nightly.yaml', '--at', '2026-05-04T03:15:00Z', '--json'];

function freshJob(network: string): string {
  const folder = freshFolder();
  mkdirSync(join(folder, 'out'));
  writeFileSync(join(folder, 'nightly.yaml'), killedJob(network));
  return folder;
}

async function runToEnd(folder: string): Promise<void> {
  const { code, stderr } = await startTonlake(KILLED_ARGS, { cwd: folder }).finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

async function readResult(folder: string): Promise<JobResult> {
  return readJobResult(join(folder, 'w'), join(folder, 'out'));
}

export async function readJobResult(warehouse: string, out: string): Promise<JobResult> {
  const tables = { ...(await hashTables(warehouse)), ...(await hashMarts(warehouse)) };
  return { tables, outputs: readOutputs(out) };
}

async function hashMarts(path: string): Promise<Hashes> {
  const marts = await loadMarts(await loadRegistry());
  const warehouse = await openWarehouse(path);
  try {
    const hashes: Record<string, string> = {};
    for (const { table } of marts.filter(({ name }) =>
      /^(transactions|gas_fees|failed_transactions)_daily$/.test(name),
    )) {
      const { rows, hash } = await contentHash(warehouse.query, table);
      hashes[table.name] = `${rows} rows, ${hash}`;
    }
    return hashes;
  } finally {
    await warehouse.close();
  }
}

function readOutputs(out: string): Readonly<Record<string, string>> {
  const there = OUTPUTS.filter((name) => existsSync(join(out, name)));
  return Object.fromEntries(there.map((name) => [name, readFileSync(join(out, name), 'utf8')]));
}
