import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { FRONT, writeReport } from '../reports/support.ts';
import { freshFolder } from '../scratch.ts';
import { findChromium, launch, PATIENCE_MS } from './chromium.ts';
import { type PageServer, servePages } from './pages.ts';

const executable = findChromium();
const why = executable === undefined ? ' (no Chromium in PATH or $CHROMIUM)' : '';
/** A folder for pictures to look at. Default: none are made. */
const screenshots = process.env['TONLAKE_SCREENSHOTS'];

const JETTON = 'select jetton_master from jetton_transfers group by all order by count(*) desc, 1 limit 1';
const ACCOUNT = 'select source from jetton_transfers group by all order by count(*) desc, 1 limit 1';

describe.skipIf(executable === undefined)(`reports in a browser${why}`, () => {
  let browser: Browser;
  let server: PageServer;
  let warehouse: string;
  const pages = new Map<string, string>();

  beforeAll(async () => {
    warehouse = join(freshFolder(), 'w');
    const what = { network: 'sandbox', range: '1000:1299', warehouse };
    await run({ pipelines: ['transactions', 'jetton_transfers', 'jetton_burns'], ...what });
    for (const [name, params] of Object.entries({
      'network-daily': {},
      account: { account: await value(ACCOUNT) },
      jetton: { jetton: await value(JETTON) },
      'export-health': {},
    })) {
      pages.set(`/${name}`, (await renderReport(warehouse, name, { params })).content);
    }
    pages.set('/hostile', (await renderReport(warehouse, hostileReport())).content);
    server = await servePages(pages);
    browser = await launch(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function value(sql: string): Promise<string> {
    return (await rowsOf(sql))[0]?.[0] ?? '';
  }

  async function rowsOf(sql: string): Promise<readonly (readonly string[])[]> {
    const opened = await openWarehouse(warehouse);
    try {
      return (await opened.query(sql)).rows.map((row) => row.map(String));
    } finally {
      await opened.close();
    }
  }

  interface Look {
    readonly width?: number;
    readonly colorScheme?: 'light' | 'dark';
  }

  async function visit<T>(name: string, look: Look, use: (page: Page) => Promise<T>): Promise<T> {
    const { width = 1000, colorScheme = 'light' } = look;
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    page.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    try {
      await page.goto(`${server.url}/${name}`);
      const result = await use(page);
      expect(faults).toEqual([]);
      return result;
    } finally {
      await page.close();
    }
  }

  /** Exact numbers of the marks of a chart that is seen, in the order in which they are drawn. */
  const marksOf = (page: Page, title: string) =>
    page
      .locator('figure.chart', { has: page.getByText(title, { exact: true }) })
      .locator('div.wide [data-value]')
      .evaluateAll((marks) =>
        marks.map((mark) => [
          mark.querySelector('title')?.textContent?.split('\n')[0] ?? '',
          mark.getAttribute('data-value') ?? '',
        ]),
      );

  test('the charts of network-daily hold the numbers of a direct query', async () => {
    const minute = "date_trunc('minute', block_time)::VARCHAR";
    await visit('network-daily', {}, async (page) => {
      const transactions = await rowsOf(`select ${minute}, count(*) from transactions group by 1 order by 1`);
      expect(transactions.length).toBeGreaterThan(1);
      expect(await marksOf(page, 'Transactions')).toEqual(transactions);
      expect(await marksOf(page, 'Active accounts')).toEqual(
        await rowsOf(`select ${minute}, count(distinct account) from transactions group by 1 order by 1`),
      );
      const fees = await rowsOf(
        `select ${minute}, ton(sum(total_fees))::VARCHAR from transactions group by 1 order by 1`,
      );
      expect(await marksOf(page, 'Fees')).toEqual(expect.arrayContaining([...fees]));
      expect(await marksOf(page, 'Messages received, by opcode')).toEqual(
        await rowsOf(
          `select coalesce(opcode_label(opcode), 'no opcode'), count(*) from messages where direction = 'in'
           group by 1 order by 2 desc, 1 limit 15`,
        ),
      );
      const failed = await marksOf(page, 'Failed transactions, by exit code');
      const total = failed.reduce((sum, [, count]) => sum + Number(count), 0);
      expect(String(total)).toBe(await value('select count(*) from transactions where aborted'));
      expect(await page.locator('[data-name=transactions]').first().textContent()).toBe(
        Number(await value('select count(*) from transactions')).toLocaleString('en-US'),
      );
    });
  });

  test('the heights of bars are in proportion to their numbers', async () => {
    await visit('network-daily', {}, async (page) => {
      const bars = page.locator('figure.chart').first().locator('div.wide rect[data-value]');
      const measured = await bars.evaluateAll((all) =>
        all.map((bar) => Number(bar.getAttribute('data-value')) / Number(bar.getAttribute('height'))),
      );
      const [first = Number.NaN] = measured;
      for (const ratio of measured) expect(ratio).toBeCloseTo(first, 3);
    });
  });

  const account = (page: Page) =>
    page.locator('figure', { has: page.getByText('Accounts with the most transactions') });
  const column = (page: Page, at: number) => account(page).locator(`tbody td:nth-child(${at})`).allInnerTexts();
  const digits = (texts: readonly string[]) => texts.map((text) => Number(text.replaceAll(',', '')));

  test('a table is sorted by a click on a heading, and the other way round by a second', async () => {
    await visit('network-daily', {}, async (page) => {
      const heading = account(page).getByRole('columnheader', { name: 'fees, TON' });
      const before = digits(await column(page, 4));
      await heading.getByRole('button').click();
      expect(await heading.getAttribute('aria-sort')).toBe('ascending');
      expect(digits(await column(page, 4))).toEqual([...before].sort((a, b) => a - b));
      await heading.getByRole('button').click();
      expect(await heading.getAttribute('aria-sort')).toBe('descending');
      expect(digits(await column(page, 4))).toEqual([...before].sort((a, b) => b - a));
      expect(await account(page).locator('th[aria-sort=none]').count()).toBe(4);
    });
  });

  test('a table is sorted by keyboard as well', async () => {
    await visit('network-daily', {}, async (page) => {
      await account(page).locator('.scroll').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const names = await column(page, 1);
      expect(names).toEqual([...names].sort());
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      const counts = digits(await column(page, 2));
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
    });
  });

  test('text that looks like HTML is seen as text, and no script of it runs', async () => {
    await visit('hostile', {}, async (page) => {
      expect(await page.locator('tbody td').first().textContent()).toBe('<script>document.title="taken"</script>');
      expect(await page.title()).toBe('A report');
      expect(await page.locator('script').count()).toBe(1);
    });
  });

  test('the policy of the page forbids scripts and requests that are not its own', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${server.url}/network-daily`);
    const blocked = await page.evaluate<boolean>(`(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken"';
      document.body.append(script);
      return fetch('${server.url}/secret').then(() => false, () => true);
    })()`);
    expect({ blocked, title: await page.title() }).toEqual({ blocked: true, title: 'The network, day by day' });
    await page.close();
  });

  const names = ['network-daily', 'account', 'jetton', 'export-health', 'hostile'];
  test.each(names)('%s fits a phone and a desk, in light and dark, with one picture of each chart', async (name) => {
    for (const [width, opened, changed] of [
      [1100, 'light', 'dark'],
      [360, 'dark', 'light'],
    ] as const) {
      await visit(name, { width, colorScheme: opened }, async (page) => {
        for (const colorScheme of [opened, changed]) {
          await page.emulateMedia({ colorScheme });
          if (screenshots !== undefined) {
            await page.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
          }
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          expect(overflow, `${width} ${colorScheme}`).toBeLessThanOrEqual(0);
          const charts = await page.locator('figure.chart:has([role=img])').count();
          expect(await page.locator('figure.chart [role=img]:visible').count()).toBe(charts);
          const surface = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
          expect(surface).toBe(colorScheme === 'dark' ? 'rgb(20, 23, 28)' : 'rgb(255, 255, 255)');
        }
      });
    }
  });

  test('every chart has a text that stands for it, and its numbers in a table that opens', async () => {
    await visit('network-daily', { width: 360 }, async (page) => {
      for (const chart of await page.locator('figure.chart').all()) {
        const picture = chart.locator('[role=img]:visible');
        expect(await picture.getAttribute('aria-label')).toMatch(/chart of .+ points from .+; least .+, most .+\./);
        await chart.locator('summary').click();
        const rows = await chart.locator('details tbody tr').count();
        expect(await picture.locator('[data-value]').count()).toBe(rows);
        expect(await chart.locator('details td').first().isVisible()).toBe(true);
      }
    });
  });

  test('nothing but the pages was asked for', () => {
    expect(server.asked.filter((url) => !pages.has(url))).toEqual([]);
  });

  function hostileReport(): string {
    const select = `select '<script>document.title="taken"</script>' as comment, 5 as n
      union all select repeat('wide', 60), 7 union all select '"><img src=/taken onerror=alert(1)>', 9`;
    return writeReport(
      `${FRONT}\n\`\`\`sql shown\n${select}\n\`\`\`\n\`\`\`table shown\ntitle: Rows\n\`\`\`\n` +
        '```chart shown\nmark: barX\nx: n\ny: comment\ncolor: comment\ntitle: Bars\n```\n```figures shown\ntitle: One\n```\n',
    );
  }
});
