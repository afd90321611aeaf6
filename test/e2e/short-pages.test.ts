import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { withRows } from '../faults/lists.ts';
import { type Passing, startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

/** About 2,200 transactions. */
const RANGE = '1000:1129';

const sandbox = await startTestSandbox({ blocks: 2000 });
const truth = (await transactionsBy('masterchain')).rows;
/** Nothing is wrong. */
const sound = await transactionsBy('window');

async function transactionsBy(walk: 'masterchain' | 'window', answer?: TestSandbox['answer']) {
  const warehouse = join(freshFolder(), 'w');
  sandbox.answer = answer;
  sandbox.requests.targets.length = 0;
  const pipelines = ['transactions'];
  const report = await run({
    ...{ pipelines, network: sandbox.url, range: RANGE, warehouse, walk, rps: 1_000_000 },
    effects: hurriedEffects(),
  });
  const rows = await query(warehouse, 'SELECT count(*), sum(hash(t)::HUGEINT) FROM transactions t');
  return {
    ...{ report, rows },
    pages: sandbox.requests.targets.filter((each) => each.startsWith('/transactions?')),
    blocks: sandbox.requests.targets.filter((each) => each.startsWith('/transactionsByMasterchainBlock')),
  };
}

/** Changes the rows of windows of transactions; counts the windows from 0. */
function ofWindows(change: (rows: readonly unknown[], at: number) => readonly unknown[]): TestSandbox['answer'] {
  let at = 0;
  return async (passing) => {
    const answer = await passing.forward();
    return passing.path === '/transactions' ? withRows(answer, 'transactions', (rows) => change(rows, at++)) : answer;
  };
}

/** Sends other parameters with a window of transactions. */
function otherwise(change: (passing: Passing) => void): TestSandbox['answer'] {
  return (passing) => {
    if (passing.path === '/transactions') change(passing);
    return passing.forward();
  };
}

describe('pages of transactions', () => {
  test('are full, and as few as the rows allow', () => {
    const { pages, blocks, report } = sound;
    expect(blocks).toEqual([]);
    expect(pages.length).toBe(Math.ceil((report.rows['transactions'] ?? 0) / 1000));
  });

  test('that end early are asked for their rest, once', async () => {
    const { rows, pages, blocks, report } = await transactionsBy(
      'window',
      ofWindows((all, at) => (at === 1 ? all.slice(0, 600) : all)),
    );
    expect(report.complete).toBe(true);
    expect(rows).toEqual(truth);
    expect(pages.length).toBe(sound.pages.length + 1);
    expect(blocks).toEqual([]);
  });

  test('that end early again and again bring every row all the same', async () => {
    const { rows, pages, report } = await transactionsBy(
      'window',
      ofWindows((all) => all.slice(0, Math.ceil(all.length * 0.7))),
    );
    expect(report.complete).toBe(true);
    expect(rows).toEqual(truth);
    expect(pages.length).toBeLessThan(sound.pages.length * 8);
  });

  test('that lack most of their rows are replaced block by block', async () => {
    const { rows, pages, blocks, report } = await transactionsBy(
      'window',
      ofWindows((all) => all.slice(0, 5)),
    );
    expect(report.complete).toBe(true);
    expect(rows).toEqual(truth);
    expect(pages.length).toBe(sound.pages.length);
    expect(blocks.length).toBeGreaterThan(50);
  });

  const MISUNDERSTANDINGS: readonly [string, (query: URLSearchParams) => void][] = [
    ['ignores the offset', (query) => query.delete('offset')],
    ['orders rows the other way round', (query) => query.set('sort', 'desc')],
    ['ignores the end of a window', (query) => query.delete('end_lt')],
    ['ignores the limit', (query) => query.delete('limit')],
  ];

  test.each(MISUNDERSTANDINGS)('of a source that %s bring no wrong row', async (_name, change) => {
    const { rows, report } = await transactionsBy(
      'window',
      otherwise(({ query: parameters }) => change(parameters)),
    );
    expect(report.complete).toBe(true);
    expect(rows).toEqual(truth);
  });
});
