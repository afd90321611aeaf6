import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { FRONT, tableReport, writeReport } from './support.ts';

/** Blocks of a day of the sandbox, which has a block each 400 ms. */
const DAY = 216_000;

/** Four seconds of 2026-05-02, in which there is a giant block, and of the day after, in which there is none. */
const RANGE = `5775:5784,${5775 + DAY}:${5784 + DAY}`;
const now = new Date('2026-05-03T03:15:00Z');

const sandbox = await startSandbox({ blocks: 5800 + DAY });
const warehouse = join(freshFolder(), 'w');
await run({ pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse });
afterAll(() => sandbox.close());

async function oneValue(sql: string): Promise<string> {
  const opened = await openWarehouse(warehouse);
  try {
    return String((await opened.query(sql)).rows[0]?.[0]);
  } finally {
    await opened.close();
  }
}

const daily = async (params: Readonly<Record<string, string>>, format: 'html' | 'md' | 'json' | 'text') =>
  (await renderReport(warehouse, 'network-daily', { params, format, now })).content;

describe('the head of a report', () => {
  test('names network, warehouse and period, in every form for people', async () => {
    const says = `Network ${sandbox.url}, warehouse ${warehouse}, 2026-05-03 00:05:09 to 2026-05-03 00:05:13 (UTC).`;
    const day = { from: '2026-05-03', to: '2026-05-03' };
    expect(await daily(day, 'html')).toContain(`<p class="source">${says}</p>`);
    expect(await daily(day, 'text')).toContain(`\n${says}\n`);
    expect(JSON.parse(await daily(day, 'json'))).toMatchObject({
      ...{ warehouse, subject: null, period: { from: '2026-05-03 00:05:09', to: '2026-05-03 00:05:13' } },
    });
  });

  test('of a report without a period of its own names that of the blocks', async () => {
    const { content } = await renderReport(warehouse, tableReport('select 1 as n'), {
      format: 'json',
      timezone: 'Asia/Tokyo',
    });
    expect(JSON.parse(content).period).toEqual({ from: '2026-05-02 09:05:10', to: '2026-05-03 09:05:13' });
  });

  test('names the account of One account, in both forms, and so does the title', async () => {
    const account = await oneValue('select account from transactions where block_workchain = 0 order by lt limit 1');
    const friendly = await oneValue(`select friendly_address('${account}')`);
    const { content, title } = await renderReport(warehouse, 'account', { params: { account } });
    expect(title).toBe(`One account: ${friendly}`);
    expect(content).toContain(`<title>One account: ${friendly}</title>`);
    for (const form of [friendly, account]) {
      expect(content).toContain(`<p class="subject"><span class="copied">${form}</span></p>`);
    }
  });

  test('takes the period of a select whose name is a word of SQL', async () => {
    const report = writeReport(
      '---\ntitle: A\ndoc: b\nperiod: order\n---\n```sql order\nselect local_time(min(block_time)) as first_time, local_time(max(block_time)) as last_time from blocks\n```\n\n```table order\ntitle: Times\n```\n',
    );
    const { content } = await renderReport(warehouse, report, { format: 'json' });
    expect(JSON.parse(content).period).toEqual({ from: '2026-05-02 00:05:09', to: '2026-05-03 00:05:13' });
  });

  test.each([
    { front: 'subject: whom', says: /expected a parameter as subject, got whom \(.*report\.md:1\)/ },
    { front: 'period: nothing', says: /expected a select as period, got nothing \(.*report\.md:1\)/ },
  ])('refuses what is not there: $front', async ({ front, says }) => {
    const report = tableReport('select 1 as n', `---\ntitle: A\ndoc: b\n${front}\n---\n`);
    await expect(renderReport(warehouse, report)).rejects.toThrow(says);
  });
});

test('the time between blocks is not that of blocks that are missing', async () => {
  const { block_times: times } = JSON.parse(await daily({ from: '2026-05-02', to: '2026-05-03' }, 'json')).blocks;
  for (const { longest_seconds: longest } of times.rows) expect(longest).toBeLessThanOrEqual(1);
  expect(times.rows).not.toEqual([]);
});

describe('the change against the period before', () => {
  const of = (date: string, column: string) =>
    oneValue(`select count(${column}) from transactions where block_date = '${date}'`).then(Number);

  test('is that of the same hours of the day before', async () => {
    const [before, after] = [await of('2026-05-02', '*'), await of('2026-05-03', '*')];
    expect(before).toBeGreaterThan(after);
    const html = await daily({ from: '2026-05-03', to: '2026-05-03' }, 'html');
    const count = (number: number) => number.toLocaleString('en-US');
    const text = `▼ −${((100 * (before - after)) / before).toFixed(1)} %`;
    expect(html).toContain(
      `data-name="transactions">${count(after)}</dd><dd class="change">${text} <span>${count(before)} before</span></dd>`,
    );
  });

  test('is left out where the period before is not held', async () => {
    expect(await daily({ from: '2026-05-02', to: '2026-05-02' }, 'html')).not.toContain('class="change"');
    expect(await daily({}, 'html')).not.toContain('class="change"');
  });

  test('tells how much more, or less, or what is new', async () => {
    const figures = writeReport(
      `${FRONT}\n\`\`\`sql before\nselect 100 as a, 100 as b, 0 as c, 7 as d, 1 as e, 'x' as f\n\`\`\`\n` +
        "```sql after\nselect 142 as a, 50 as b, 3 as c, 7 as d, 20 as e, 'y' as f\n```\n" +
        '```figures after\ntitle: F\nbefore: before\n```\n',
    );
    const { content } = await renderReport(warehouse, figures, { format: 'text' });
    expect(content).toContain(
      '- a: 142 (+42.0 %; 100 before)\n- b: 50 (−50.0 %; 100 before)\n- c: 3 (new; 0 before)\n' +
        '- d: 7 (unchanged; 7 before)\n- e: 20 (20.0 times; 1 before)\n- f: y\n',
    );
  });

  test('of a select that is not there is refused', async () => {
    const figures = writeReport(
      `${FRONT}\n\`\`\`sql after\nselect 1 as a\n\`\`\`\n\`\`\`figures after\ntitle: F\nbefore: befor\n\`\`\`\n`,
    );
    await expect(renderReport(warehouse, figures)).rejects.toThrow(
      /expected the id of a select above as before, got befor \(.*report\.md:9\)/,
    );
  });
});

test('a period is held where a pipeline has every block of it', async () => {
  const held = tableReport(
    `select is_held('transactions', '2026-05-02 00:05:10'::TIMESTAMP, '2026-05-02 00:05:14'::TIMESTAMP) as whole,
      is_held('transactions', '2026-05-02 00:04:00'::TIMESTAMP, '2026-05-02 00:05:00'::TIMESTAMP) as before,
      is_held('transactions', '2026-05-02 00:05:00'::TIMESTAMP, '2026-05-02 00:06:00'::TIMESTAMP) as cut,
      is_held('transactions', '2026-05-02 00:05:10'::TIMESTAMP, '2026-05-03 00:05:14'::TIMESTAMP) as hole,
      is_held('blocks', '2026-05-03 00:05:11'::TIMESTAMP, '2026-05-03 00:05:12'::TIMESTAMP) as inside`,
  );
  const { content } = await renderReport(warehouse, held, { format: 'csv' });
  expect(content).toBe('whole,before,cut,hole,inside\ntrue,false,false,false,true\n');
});

test('exit codes have words', async () => {
  const { failed_by_code: failed } = JSON.parse(await daily({}, 'json')).blocks;
  const names: readonly string[] = failed.rows.map(({ failure }: { readonly failure: string }) => failure);
  expect(names).not.toEqual([]);
  for (const name of names) expect(name).toMatch(/^(compute skipped|exit code -?\d+|action result \d+): [a-z]/);
  expect(names).toContain('exit code 706: the contract’s own');
});
