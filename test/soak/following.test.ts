import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
/** Set to keep all marts current beside it. */
const MARTS = process.env['TONLAKE_SOAK_MARTS'] === undefined ? [] : ['--marts', 'all'];
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
    const following = startTonlake(['follow', ...PIPELINES, ...place, ...pace, '--json'], { env });
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
    if (SPEED === 1) expect(figures.p99).toBeLessThan(LAG);
    sandbox.setFaults({ http429: 0, http500Timeout: 0, http502Html: 0 });
    // The signal may have come between the pipelines of a round.
    const once = join(freshFolder(), 'once');
    const range = `${report.from}:${report.to}`;
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

/** Where to follow into, and the folder in which its files lie. */
async function choosePlace() {
  if (!IS_S3) {
    const warehouse = join(freshFolder(), 'w');
    return { warehouse, folder: warehouse, env: {} };
  }
  const server = await startS3();
  useS3(server);
  process.env['TONLAKE_DUCKDB_EXTENSIONS'] = EXTENSIONS;
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
