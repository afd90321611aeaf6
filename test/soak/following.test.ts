import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import type { LagEvent } from '../../src/follow/follow-event.ts';
import { startTonlake } from '../cli.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EXTENSIONS, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';

const MINUTES = Number(process.env['TONLAKE_SOAK_MINUTES'] ?? 60);
/** An hour's blocks and commits in as many minutes as 60 divided by this; only at 1 is the lag a figure. */
const SPEED = Number(process.env['TONLAKE_SOAK_SPEED'] ?? 1);
const LAG = 10 / SPEED;
/** What is followed. */
const PIPELINES = (process.env['TONLAKE_SOAK_PIPELINES'] ?? 'transactions').split(',');
/** Marts to keep current beside it: `all`, or names. */
const MARTS = process.env['TONLAKE_SOAK_MARTS'] === undefined ? [] : ['--marts', process.env['TONLAKE_SOAK_MARTS']];
/** Set to run a job every five minutes in the same process, and two consumers of its commits. */
const IS_BESIDE = process.env['TONLAKE_SOAK_BESIDE'] !== undefined;
/** First block of that job, before the first that is followed. */
const JOB_FROM = 951;
/** Set to follow into an object store. */
const IS_S3 = process.env['TONLAKE_SOAK_S3'] !== undefined;
/** Everything that a client recovers from, at two per cent. */
const FAULTS = {
  ...{
    http429: 0.02,
    http500Timeout: 0.02,
    http502Html: 0.02,
    slow: 0.02,
    cutBody: 0.02,
    brokenGzip: 0.02,
    gzip: true,
  },
  ...{ truncatedJson: 0.02, dropConnection: 0.02, shortBlocks: 0.02, headLags: 0.02, holeRate: 0.02 },
};

test(
  `following a head for ${MINUTES} minutes, ${SPEED} times as fast as time, keeps the promised lag, its memory, and every row`,
  async () => {
    const sandbox = await startTestSandbox({ blocks: 1000, blockMs: 400 / SPEED, faults: FAULTS });
    onTestFinished(() => sandbox.close());
    const { warehouse, folder, env } = await choosePlace();
    const place = ['--network', sandbox.url, '-w', warehouse];
    const pace = ['--lag', `${LAG}s`, '--from', '-50:', ...MARTS];
    const beside = IS_BESIDE ? openBeside(sandbox.url, warehouse) : undefined;
    const following = startTonlake(['follow', ...PIPELINES, ...place, ...pace, ...(beside?.flags ?? []), '--json'], {
      env,
    });
    const seen = { block: 0, rows: 0 };
    const samples: { readonly minute: number; readonly rssMb: number; readonly files: number }[] = [];
    for (let minute = 1; minute <= MINUTES; minute++) {
      await watchRows({ warehouse, folder }, seen, 60_000 / SPEED);
      samples.push({ minute, rssMb: rssOf(following.pid), files: filesIn(folder) });
      process.stdout.write(`${JSON.stringify(samples.at(-1))}\n`);
    }
    sandbox.setFaults({ holeRate: 0 });
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    following.kill('SIGTERM');
    const { stdout } = await following.finished;
    const events: readonly Readonly<Record<string, unknown>>[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const lags = (events.filter(({ event }) => event === 'lag') as unknown as readonly LagEvent[]).slice(1);
    // Blocks behind a hole are late because the source did not have them.
    const longest = lags
      .filter(({ holes }) => holes === 0)
      .map((lag) => lag.longest)
      .sort((a, b) => a - b);
    const at = (share: number): number => longest[Math.floor(share * (longest.length - 1))] ?? 0;
    const report = events.at(-1) as { readonly requests: number; readonly from: number; readonly to: number };
    const figures = {
      p50: at(0.5),
      p99: at(0.99),
      rounds: lags.length,
      requestsPerMinute: report.requests / MINUTES,
      samples,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    const [held] = await query(warehouse, 'select count(*) from transactions');
    beside?.expectGood(events, Number(held?.[0]));
    if (SPEED === 1) expect.soft(figures.p99).toBeLessThan(LAG);
    sandbox.setFaults({ http429: 0, http500Timeout: 0, http502Html: 0 });
    // The signal may have come between the pipelines of a round.
    const once = join(freshFolder(), 'once');
    const range = `${beside === undefined ? report.from : JOB_FROM}:${report.to}`;
    for (const each of [warehouse, once]) {
      await run({ pipelines: PIPELINES, network: sandbox.url, warehouse: each, range });
    }
    expect(await hashTables(warehouse)).toEqual(await hashTables(once));
    // The memory of a moment depends on when garbage was collected last.
    const rss = samples.map(({ rssMb }) => rssMb);
    expect(medianOf(rss.slice(-5))).toBeLessThan(1.1 * medianOf(rss.slice(2, 7)));
  },
  (MINUTES + 15) * 60_000,
);

/** A job and two consumers beside the head. */
function openBeside(network: string, warehouse: string) {
  const folder = freshFolder();
  const taken = ['a', 'b'].map((name) => join(folder, `${name}.jsonl`));
  const job = join(folder, 'often.yaml');
  const lines = [
    ...[`network: ${network}`, `warehouse: ${warehouse}`, 'pipelines: [transactions]', 'clock: chain'],
    ...[
      'range: since last run',
      `start: ${JOB_FROM}`,
      'marts: [transactions_daily]',
      'checks: [transactions_in_blocks]',
    ],
    ...[`exports: [{table: transactions_daily, output: '${join(folder, 'daily.csv')}'}]`],
    "schedule: {cron: '*/5 * * * *'}",
  ];
  writeFileSync(job, `${lines.join('\n')}\n`);
  return {
    flags: ['--jobs', job, ...taken.flatMap((path) => ['--on-commit', `cat >> ${path}`])],
    /** @param rows transactions that the warehouse holds */
    expectGood: (events: readonly Readonly<Record<string, unknown>>[], rows: number): void => {
      const runs = events.flatMap(({ event, record }) =>
        event === 'end' ? [(record as { readonly state: string }).state] : [],
      );
      expect(runs).toEqual(runs.map(() => 'done'));
      expect(runs.length).toBeGreaterThanOrEqual(Math.floor(MINUTES / 5) - 1);
      for (const path of taken) {
        const commits = readFileSync(path, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        const numbers = commits.map(({ number }) => Number(number));
        expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
        const delivered = commits.filter(({ kind }) => kind === 'rows').map((each) => each.rows.transactions ?? 0);
        expect(delivered.reduce((sum, count) => sum + count, 0)).toBe(rows);
      }
      process.stdout.write(`${JSON.stringify({ runs: runs.length, rows })}\n`);
    },
  };
}

/** Where to follow into, and the folder in which its files lie. */
async function choosePlace() {
  if (!IS_S3) {
    const warehouse = join(freshFolder(), 'w');
    return { warehouse, folder: warehouse, env: {} };
  }
  const server = await startS3();
  useS3(server);
  const env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
  return { warehouse: 's3://lake/w', folder: join(server.folder, 'lake', 'w'), env };
}

/** Reads all the time as another process does: no error, and never fewer rows or an older block than before. */
async function watchRows(
  { warehouse, folder }: { readonly warehouse: string; readonly folder: string },
  seen: { block: number; rows: number },
  ms: number,
): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (!existsSync(join(folder, 'tonlake.json'))) continue;
    const [row] = await query(warehouse, 'select coalesce(max(mc_block_seqno), 0), count(*) from transactions');
    const [block, rows] = (row ?? []).map(Number) as [number, number];
    expect(block).toBeGreaterThanOrEqual(seen.block);
    expect(rows).toBeGreaterThanOrEqual(seen.rows);
    Object.assign(seen, { block, rows });
  }
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function rssOf(pid: number): number {
  const [, kb = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb) / 1024);
}

function filesIn(folder: string): number {
  return readdirSync(join(folder, 'tables'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  ).length;
}
