import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { HAS_BUCKETS, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { exportBoth, exportNarrow, exportPart, exportSome, follow, lookUp } from './histories/export-steps.ts';
import { History, type Place } from './histories/history.ts';
import { add, build, compact, copy, damage, forget, publish, retain, verify } from './histories/upkeep-steps.ts';
import {
  blocksOf,
  FIRST,
  LAST,
  LOOKUPS,
  MARTS,
  NETWORK,
  OF_BLOCKS,
  type Rows,
  rowsOf,
} from './histories/warehouse-rows.ts';

// Random histories of real warehouses. After each step every row is there once, as one export of the whole range has it, and blocks that
// were exported and not forgotten are there. HISTORIES=1:40 are the seeds; of every four one is a DuckDB file, and one is in a bucket.
const [FROM = 1, TO = 12] = (process.env['HISTORIES'] ?? '1:12').split(':').map(Number);

type Step = (history: History) => Promise<void>;

const STEPS: readonly Step[] = [
  ...[exportSome, exportSome, exportSome, exportNarrow, exportPart, lookUp, exportBoth, exportBoth, follow, follow],
  ...[forget, forget, retain, compact, verify, build, build],
];
/** What needs the files of a folder, and what needs a warehouse of Parquet files. */
const OF_FOLDERS: readonly Step[] = [damage, damage, add];
const OF_FILES: readonly Step[] = [copy, publish];
/** Steps that leave a reader's files alone. */
const BESIDE_READERS: readonly Step[] = [exportSome, exportBoth, follow, forget, retain, compact, build];

const STEPS_OF: Readonly<Record<Place, readonly Step[]>> = {
  file: STEPS,
  bucket: [...STEPS, ...OF_FILES],
  folder: [...STEPS, ...OF_FOLDERS, ...OF_FILES],
};

let sandbox: TestSandbox;
let whole: Rows;

beforeAll(async () => {
  sandbox = await startTestSandbox(NETWORK);
  if (HAS_BUCKETS) useS3(await startS3());
  const path = join(freshFolder(), 'whole');
  const pipelines = [...OF_BLOCKS, ...LOOKUPS];
  expect(await run({ pipelines, network: sandbox.url, range: `${FIRST}:${LAST}`, warehouse: path })).toMatchObject({
    complete: true,
  });
  expect((await tonlake(['build', ...MARTS, '--warehouse', path])).code).toBe(0);
  whole = await rowsOf(path, OF_BLOCKS, MARTS);
});

function placeOf(seed: number): Place {
  if (seed % 4 === 0) return 'file';
  return seed % 4 === 1 && HAS_BUCKETS ? 'bucket' : 'folder';
}

async function play(history: History): Promise<void> {
  const { rng } = history;
  await exportSome(history);
  for (let left = 6 + rng.below(8); left > 0; left--) {
    const step = rng.pick(STEPS_OF[history.place]);
    if (history.place !== 'file' && BESIDE_READERS.includes(step) && rng.chance(0.3)) {
      await history.readMeanwhile(() => step(history));
    } else await step(history);
    await history.check();
  }
  await history.end();
}

describe('a warehouse', () => {
  test.each(blocksOf({ from: FROM, to: TO }))(
    'holds what was exported and not forgotten, whatever was done to it (%i)',
    async (seed) => {
      await play(new History({ seed, place: placeOf(seed), sandbox, whole }));
    },
  );
});
