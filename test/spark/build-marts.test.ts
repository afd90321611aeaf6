import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/time-zone.ts';

import { buildMarts } from '../../src/marts/build-marts.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { everything, marts } from '../marts/support.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { hasModules, SPARK_PYTHON } from '../programs.ts';
import { freshFolder } from '../scratch.ts';

const DRIVER = fileURLToPath(new URL('driver.py', import.meta.url));
const isThere = hasModules(['pyspark', 'sqlglot'], SPARK_PYTHON) && spawnSync('java').status !== null;
/** Blocks between two midnights: 493 is the first one of a day, and includes shard blocks of the day before. */
const DAY = 6;
const FIRST = 493;
const names = marts.map(({ name }) => name);
/** The last block of the first three days and a half. */
const HALF = FIRST + 3.5 * DAY - 1;
/** Blocks of a day apart. */
const APART = `${FIRST + 20 * DAY + 1}:${FIRST + 20 * DAY + 3}`;
const dayOf = (number: number): string =>
  new Date(Date.UTC(2026, 4, 2 + (FIRST - 1) / DAY + number)).toISOString().slice(0, 10);
/** Marts of days with rows of every exported block. */
const daily = ['transactions_daily', 'gas_fees_daily', 'messages_by_opcode_daily'];
/** What is built again: marts by the day, one of which reads blocks before it, and one over all rows. */
const later = [...daily, 'shard_state', 'accounts'];

interface Outcome {
  readonly code: number;
  readonly out: string;
}

interface Built {
  readonly columns: readonly string[];
  /** Paths of its data files. */
  readonly files: readonly string[];
}

/** What a build says of the days of a mart that are not proven. */
function daysNotProven(out: string, mart: string): ReadonlyMap<string, string> {
  const [, told = ''] = new RegExp(`^${mart}: .*; not proven: (.*)$`, 'm').exec(out) ?? [];
  const states = new Map<string, string>();
  for (const [, first = '', last = first, state = ''] of told.matchAll(/([\w-]+)(?:\/([\d-]+))? \((\w+)\)/g)) {
    for (let day = first; day <= last; day = day === 'all' ? 'b' : addDays(day, 1)) states.set(day, state);
  }
  return states;
}

/** A Spark session over a warehouse. */
class Spark {
  readonly #process;
  readonly #answers: AsyncIterator<string>;
  #told = '';

  constructor(warehouse: string) {
    this.#process = spawn(SPARK_PYTHON, [DRIVER, warehouse], { stdio: ['pipe', 'pipe', 'pipe'], cwd: freshFolder() });
    this.#process.stderr.on('data', (chunk) => (this.#told += chunk));
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async ask(...order: readonly string[]): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify(order)}\n`);
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done === true) throw new Error(`the session ended: ${this.#told.slice(-2000)}`);
      if (value.startsWith('ANSWER ')) return JSON.parse(value.slice('ANSWER '.length));
    }
  }

  async build(...options: readonly string[]): Promise<Outcome> {
    return this.buildInto('marts', ...options);
  }

  async buildInto(namespace: string, ...options: readonly string[]): Promise<Outcome> {
    const answer = await this.ask('build', '--from', 'ton.iceberg', '--into', `ton.${namespace}`, ...options);
    return answer as Outcome;
  }

  async close(): Promise<void> {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

describe.skipIf(!isThere)('marts on Spark (skipped without Java, pyspark and sqlglot)', { timeout: 600_000 }, () => {
  let sandbox: Sandbox;
  let spark: Spark;
  let warehouse: string;

  async function command(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await tonlake([...args, '--warehouse', warehouse]);
    expect(code, stderr).toBe(0);
  }

  const exportBlocks = (range: string, pipelines: readonly string[]) =>
    command('run', ...pipelines, '--network', sandbox.url, '--range', range);

  /** Expects the columns and rows that DuckDB gives in the files of marts that Spark built. */
  async function compareWithDuckdb(wanted = names): Promise<void> {
    await buildMarts(warehouse);
    const built = (await spark.ask('built', 'marts', ...wanted)) as Readonly<Record<string, Built>>;
    const reader = await openWarehouse(warehouse);
    for (const name of wanted) {
      const { columns = [], files = [] } = built[name] ?? {};
      const own = `(SELECT * EXCLUDE (_coverage) FROM ${name})`;
      const described = await reader.query(`DESCRIBE FROM ${own}`);
      expect([...columns].sort(), name).toEqual(described.rows.map(([column]) => column).sort());
      // As text: what is an integer to DuckDB is a decimal to Spark.
      const ours = `SELECT ${columns.map((column) => `${column}::VARCHAR`).join(', ')} FROM ${own}`;
      const theirs = ours.replace(own, `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`);
      // A mart without rows has no file.
      const differences =
        files.length === 0 ? [ours] : [`${ours} EXCEPT ALL ${theirs}`, `${theirs} EXCEPT ALL ${ours}`];
      for (const rows of differences) expect((await reader.query(`${rows} LIMIT 1`)).rows, rows).toEqual([]);
    }
    await reader.close();
  }

  /** Expects the days that a build calls not proven to be those that `tonlake build` has found. */
  async function compareCoverage(out: string): Promise<void> {
    const reader = await openWarehouse(warehouse);
    // Of a table that was never exported Spark does not know that nothing could prove it: token_info is a list. It takes blocks before a day
    // for those of one day, which they are where blocks come as fast as in TON.
    const compared = marts.filter(({ optional, before }) => before === 0 && !optional.includes('token_info'));
    for (const { name, isDaily } of compared) {
      const told = daysNotProven(out, name);
      const day = isDaily ? 'block_date::VARCHAR' : "'all'";
      const { rows } = await reader.query(`SELECT DISTINCT ${day}, _coverage FROM ${name} ORDER BY ALL`);
      const known = rows.map(([date]) => [date, told.get(String(date)) ?? 'proven']);
      expect(known, name).toEqual(rows.map((row) => [...row]));
    }
    await reader.close();
  }

  beforeAll(async () => {
    sandbox = await startSandbox({ blocks: 700, blockTimeMs: 86_400_000 / DAY });
    warehouse = join(freshFolder(), 'w');
    await exportBlocks(`${FIRST}:${HALF}`, everything);
    await command('publish', 'iceberg');
    spark = new Spark(warehouse);
  });

  afterAll(async () => {
    await spark.close();
    await sandbox.close();
  });

  test('all shipped marts have the rows that DuckDB gives, and the shipped tests pass', async () => {
    const { code, out } = await spark.build('--test');

    expect(code, out).toBe(0);
    for (const name of daily)
      expect(out).toContain(`${name}: 5 days built; not proven: ${dayOf(-1)} (missing), ${dayOf(3)} (missing)\n`);
    expect(out).toContain('transaction_balances: passed');
    await compareWithDuckdb();
    await compareCoverage(out);
  });

  test('--strict builds no day that is not proven, and names it', async () => {
    const [mart, other] = ['transactions_daily', 'actions_daily'];

    const first = await spark.buildInto('strict', '--strict', '--marts', mart, other);
    const lax = await spark.buildInto('strict', '--marts', mart);

    expect(first.code, first.out).toBe(1);
    expect(first.out).toContain(`${mart}: 3 days built; refused: ${dayOf(-1)} (missing), ${dayOf(3)} (missing)\n`);
    // Nothing counts actions.
    expect(first.out).toContain(
      `${other}: not built; refused: ${dayOf(0)}/${dayOf(2)} (unproven), ${dayOf(3)} (missing)\n`,
    );
    expect(lax.code, lax.out).toBe(0);
    expect(lax.out).toContain(
      `${mart}: 2 of 5 days built; not proven: ${dayOf(-1)} (missing), ${dayOf(3)} (missing)\n`,
    );
  });

  test('ten more days change themselves and the day that later blocks complete; a third build changes none', async () => {
    await exportBlocks(`${HALF + 1}:${FIRST + 13 * DAY},${APART}`, [
      'transactions',
      'actions',
      'jetton_transfers',
      'jetton_burns',
      'nft_transfers',
    ]);
    await command('publish', 'iceberg');

    const second = await spark.build('--marts', ...later);
    const third = await spark.build('--marts', ...later);

    expect(second.code, second.out).toBe(0);
    for (const name of daily) {
      expect(second.out).toContain(`${name}: 12 of 16 days built; not proven: ${dayOf(-1)} (missing), `);
      expect(await spark.ask('summary', 'marts', name)).toMatchObject({ 'changed-partition-count': '12' });
    }
    await compareWithDuckdb(later);
    for (const name of later) expect(third.out).toContain(`${name}: current`);
  });

  test('a forgotten day keeps its rows', async () => {
    await command('forget', 'transactions', '--range', APART, '--yes');
    await command('publish', 'iceberg');

    const { code, out } = await spark.build('--marts', 'transactions_daily');

    expect(code, out).toBe(0);
    expect(out).toContain('transactions_daily: current');
    expect(await spark.ask('summary', 'marts', 'transactions_daily')).toMatchObject({ 'total-records': '16' });
  });

  test('a select that Spark would answer otherwise is refused before it is built, with what it is', async () => {
    const sql = join(freshFolder(), 'sql');
    await mkdir(join(sql, 'marts'), { recursive: true });
    const header = '-- question: q\n-- grain: g\n-- key: a\n-- inputs: transactions\n-- units: none\n';
    await writeFile(
      join(sql, 'marts', 'mine.sql'),
      `${header}SELECT regexp_replace(hash, 'A', 'B') AS a FROM transactions`,
    );
    await writeFile(join(sql, 'marts', 'yours.sql'), `${header}SELECT no_such(hash) AS a FROM transactions`);

    await writeFile(join(sql, 'marts', 'theirs.sql'), `${header}SELECT (hash AS a FROM transactions`);

    const { code, out } = await spark.build('--sql', sql, '--marts', 'mine', 'yours', 'theirs', '--dry-run');

    expect(code, out).toBe(1);
    expect(out).toContain(
      "mine: error: regexp_replace of the first match alone; hint: give 'g', or a pattern with ^ or $",
    );
    expect(out).toMatch(/theirs: error: .*Line 6, Col: \d+/);
    expect(out).toMatch(/yours: error: .*`NO_SUCH`/);
    expect((await spark.build('--marts', 'no_such')).code).toBe(2);
  });
});
