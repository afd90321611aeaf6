import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type Running, startNode, startTonlake } from '../cli.ts';
import { hashTables, query } from '../e2e/export.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);
const FIRST = 981;
const PIPELINES = ['transactions', 'jetton_transfers'];
const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** About one transaction in 13: digits and signs come first in base64 texts. */
const TOLD = "hash < '3'";
const alertOf = (folder: string): string => `select: select hash, account from new_transactions where ${TOLD}
message: '{account}'
notify:
  - command: [sh, -c, 'cat >> ${folder}/alerts']
`;

test.each(['w', 'w.duckdb'])(
  `kill -9 while following into %s: nothing is missing or there twice, nor sent so, after ${KILLS} kills (TONLAKE_CRASH_SEED=${SEED})`,
  async (name) => {
    const sandbox = await startSandbox({ blocks: 1000, blockMs: 400 });
    onTestFinished(() => sandbox.close());
    const folder = freshFolder();
    const warehouse = join(folder, name);
    writeFileSync(join(folder, 'paid.yaml'), alertOf(folder));
    const place = ['--network', sandbox.url, '-w', warehouse];
    const sending = ['--alerts', join(folder, 'paid.yaml'), '--on-commit', `cat >> ${folder}/lines`];
    const args = ['follow', ...PIPELINES, ...place, ...sending, '--lag', '2s', '--json'];
    const effect = join(folder, 'effect.duckdb');
    const consume = (...more: readonly string[]): Running =>
      startNode([program('consumer.mjs'), warehouse, effect, 'transactions', 'hash', ...more]);
    const reading = new Reading(warehouse);
    const chance = chanceOf(SEED);
    for (let kill = 1; kill <= KILLS; kill++) {
      const following = startTonlake([...args, ...(kill === 1 ? ['--from', `${FIRST}`] : [])]);
      // By what was committed, and then by time: a busy machine takes seconds to start, when there is nothing to kill.
      const spans = kill === 1 ? 2 : Math.floor(chance() * 4);
      await following.until('stdout', spans === 0 ? /"event":"start"/ : new RegExp(`("event":"span"[^]*){${spans}}`));
      const ms = Math.round(chance() * 1_500);
      const timer = setTimeout(() => following.kill('SIGKILL'), ms);
      // A DuckDB file can only be read between its writers.
      const consumer = kill === 1 || name !== 'w' ? undefined : consume();
      const { signal, stderr, stdout } = await following.finished;
      clearTimeout(timer);
      consumer?.kill('SIGKILL');
      const outcome = (await consumer?.finished)?.signal ?? 'SIGKILL';
      if (name !== 'w') expect(await consume('once').finished).toMatchObject({ code: 0, stderr: '' });
      else reading.start();
      process.stdout.write(
        `${name}: kill ${kill} of ${KILLS} ${ms} ms after ${spans} commits, head ${sandbox.head()}\n`,
      );
      expect({ signal, outcome, errors: stderr.match(/^error.*/gm) }, tellEnd(stderr, stdout)).toEqual({
        ...{ signal: 'SIGKILL', outcome: 'SIGKILL', errors: null },
      });
    }
    const head = sandbox.head();
    const last = startTonlake(args);
    await last.until('stdout', new RegExp(`"event":"lag","block":(${reaches(head)})`));
    last.kill('SIGTERM');
    const { stdout, ...ended } = await last.finished;
    expect(ended, tellEnd(ended.stderr, stdout)).toMatchObject({ code: 130, signal: undefined });
    const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(report).toMatchObject({ from: FIRST });
    // The signal may have come between the pipelines of a round.
    const range = `${FIRST}:${report.to}`;
    const rest = startTonlake(['run', ...PIPELINES, ...place, ...sending, '--range', range]);
    const { stdout: told, ...finished } = await rest.finished;
    expect(finished, tellEnd(finished.stderr, told)).toMatchObject({ code: 0, signal: undefined });
    await reading.end();
    const once = join(folder, 'once');
    await run({ pipelines: PIPELINES, network: sandbox.url, warehouse: once, range });
    expect(await hashTables(warehouse)).toEqual(await hashTables(once));
    expect(await consume('once').finished).toMatchObject({ code: 0, stderr: '' });
    await expectEachOnce(warehouse, effect);
    await expectAlerts(warehouse, join(folder, 'alerts'));
    await expectLines(warehouse, join(folder, 'lines'));
  },
);

/** What a process printed last, for the message of a failure: a native crash says why on stderr. */
function tellEnd(stderr: string, stdout: string): string {
  return `stderr: ${stderr}\nstdout: ${stdout.slice(-4_000)}`;
}

/** Another process that asks all the time. */
class Reading {
  private running: Running | undefined;
  private readonly warehouse: string;

  constructor(warehouse: string) {
    this.warehouse = warehouse;
  }

  start(): void {
    this.running ??= startNode([program('reader.mjs'), this.warehouse]);
  }

  async end(): Promise<void> {
    this.running?.end();
    const outcome = await this.running?.finished;
    if (outcome === undefined) return;
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(Number(outcome.stdout)).toBeGreaterThan(KILLS);
    process.stdout.write(`${this.warehouse}: ${outcome.stdout.trim()} answers of the reader\n`);
  }
}

/** The consumer with a cursor saw each row once. */
async function expectEachOnce(warehouse: string, effect: string): Promise<void> {
  const rows = await query(warehouse, 'SELECT hash FROM transactions');
  const db = await (await DuckDBInstance.create(effect)).connect();
  const seen = (await db.runAndReadAll('SELECT key FROM seen')).getRows().map(([key]) => String(key));
  db.closeSync();
  const keys = new Set(seen);
  const missing = rows.filter(([hash = '']) => !keys.has(hash));
  expect({ missing, seen: seen.length, different: keys.size }).toEqual({
    ...{ missing: [], seen: rows.length, different: rows.length },
  });
  process.stdout.write(`${warehouse}: the consumer saw ${seen.length} rows\n`);
}

/** No alert is missing, and none came twice, except for the one that was sent when the process was killed, which says so. */
async function expectAlerts(warehouse: string, file: string): Promise<void> {
  const rows = await query(warehouse, `SELECT hash FROM transactions WHERE ${TOLD} ORDER BY hash`);
  const alerts = linesOf(file);
  const hashes = (some: readonly Line[]): readonly string[] => some.map(({ row }) => row?.hash ?? '').sort();
  const unmarked = alerts.filter(({ again }) => again !== true);
  const marked = alerts.filter(({ again }) => again === true);
  expect(new Set(hashes(unmarked)).size).toBe(unmarked.length);
  expect([...new Set(hashes(alerts))]).toEqual(rows.map(([hash]) => hash));
  expect(marked.length).toBeLessThanOrEqual(KILLS + 1);
  process.stdout.write(
    `${warehouse}: ${alerts.length} alerts of ${rows.length} rows, ${marked.length} of them marked\n`,
  );
}

/** Each commit was told in order, without loss; the one that was told when the process was killed came again. */
async function expectLines(warehouse: string, file: string): Promise<void> {
  const reader = await openWarehouse(warehouse);
  const last = (await reader.ledger()).at(-1)?.number ?? 0;
  await reader.close();
  const numbers = linesOf(file).map(({ number }) => number);
  const once = numbers.filter((number, at) => number !== numbers[at - 1]);
  expect(once).toEqual(Array.from({ length: once.length }, (_, at) => at + 1));
  expect(once.at(-1)).toBeGreaterThanOrEqual(last);
  expect(numbers.length - once.length).toBeLessThanOrEqual(KILLS + 1);
  // Otherwise the kills came before there was anything to lose.
  expect(once.length).toBeGreaterThan(KILLS / 2);
  process.stdout.write(`${warehouse}: ${once.length} commits, ${numbers.length - once.length} told again\n`);
}

interface Line {
  readonly number?: number;
  readonly again?: boolean;
  readonly row?: { readonly hash: string };
}

function linesOf(file: string): readonly Line[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line): Line => JSON.parse(line));
}

/** A pattern of the numbers from one on, up to two hundred more. */
function reaches(from: number): string {
  return Array.from({ length: 200 }, (_, i) => from + i).join('|');
}
