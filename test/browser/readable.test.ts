import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { FRONT, writeReport } from '../reports/support.ts';
import { freshFolder } from '../scratch.ts';
import { findChromium, launch, PATIENCE_MS } from './chromium.ts';
import { type PageServer, servePages } from './pages.ts';

const executable = findChromium();
const why = executable === undefined ? ' (no Chromium in PATH or $CHROMIUM)' : '';

const ADDRESS = `0:${'1F'.repeat(32)}`;
const COMMENT = `Dear reader, ${'this goes on and on. '.repeat(200)}The end.`;
const DIGITS = '12345678901234567890123456789012345678';

/** A table with more columns than a phone, or a desk, is wide. */
const WIDE = `select '${ADDRESS}' as account, '${COMMENT}' as comment, ${DIGITS}::DECIMAL(38, 0) as digits,
  '${DIGITS}' as text_of_digits, 57104.538701896::DECIMAL(38, 9) as ton, 0.000000001::DECIMAL(38, 9) as dust,
  ${Array.from({ length: 14 }, (_, at) => `'column number ${at}' as more_${at}`).join(', ')}`;

describe.skipIf(executable === undefined)(`a report is easy to read${why}`, () => {
  let browser: Browser;
  let server: PageServer;
  const pages = new Map<string, string>();

  beforeAll(async () => {
    const warehouse = join(freshFolder(), 'w');
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '1000:1299', warehouse });
    const wide = writeReport(`${FRONT}\n\`\`\`sql shown\n${WIDE}\n\`\`\`\n\`\`\`table shown\ntitle: Rows\n\`\`\`\n`);
    pages.set('/wide', (await renderReport(warehouse, wide)).content);
    pages.set('/network-daily', (await renderReport(warehouse, 'network-daily')).content);
    server = await servePages(pages);
    browser = await launch(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function visit<T>(name: string, width: number, use: (page: Page) => Promise<T>): Promise<T> {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await browser.newPage({ viewport: { width, height: 800 }, permissions });
    page.setDefaultTimeout(PATIENCE_MS);
    try {
      await page.goto(`${server.url}/${name}`);
      return await use(page);
    } finally {
      await page.close();
    }
  }

  const table = (page: Page) => page.locator('figure .scroll');
  const seen = async (at: Locator): Promise<string> => (await at.allInnerTexts()).join('');
  const cell = (page: Page, at: number) => table(page).locator(`tbody tr:first-child td:nth-child(${at})`);

  test.each([390, 1400])(
    'a table of %i pixels says how many columns stand outside, until they are seen',
    async (width) => {
      await visit('wide', width, async (page) => {
        const hint = page.locator('figure .hint');
        const heads = await table(page)
          .locator('th')
          .evaluateAll((all) => all.map((head) => head.getBoundingClientRect().right));
        const end = await table(page).evaluate((box) => box.getBoundingClientRect().right);
        const outside = heads.filter((right) => right > end + 8).length;
        expect(outside).toBeGreaterThan(1);
        expect(await hint.textContent()).toBe(`Scroll sideways: ${outside} more columns →`);
        expect(await hint.isVisible()).toBe(true);
        await table(page).evaluate((box) => box.scrollTo({ left: box.scrollWidth }));
        await hint.waitFor({ state: 'hidden' });
      });
    },
  );

  test('a table takes the width of a desk beyond the text, and needs no hint where all is seen', async () => {
    await visit('wide', 1400, async (page) => {
      const box = await table(page).boundingBox();
      expect(box?.width).toBeGreaterThan(1000);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1400);
    });
    await visit('network-daily', 1400, async (page) => {
      expect(await page.locator('.hint:visible').count()).toBe(0);
    });
  });

  test('a long comment is a line or two, and all of it when it is opened', async () => {
    await visit('wide', 1400, async (page) => {
      const row = table(page).locator('tbody tr').first();
      expect((await row.boundingBox())?.height).toBeLessThan(120);
      expect((await seen(cell(page, 2))).length).toBeLessThan(120);
      await cell(page, 2).locator('summary').press('Enter');
      expect(await seen(cell(page, 2))).toContain(COMMENT);
      expect((await row.boundingBox())?.height).toBeLessThan(400);
    });
  });

  test('a number of many digits is shown whole, and decimals as people need them, with the exact number behind', async () => {
    await visit('wide', 1400, async (page) => {
      expect(await cell(page, 3).textContent()).toBe('12,345,678,901,234,567,890,123,456,789,012,345,678');
      expect(await cell(page, 4).textContent()).toBe(DIGITS);
      for (const at of [3, 4]) {
        expect(await cell(page, at).locator('.long').count()).toBe(0);
        expect(await cell(page, at).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      }
      expect([await cell(page, 5).textContent(), await cell(page, 5).getAttribute('title')]).toEqual([
        '57,104.54',
        '57,104.538701896',
      ]);
      expect(await cell(page, 6).textContent()).toBe('0.000000001');
    });
  });

  test('an address is copied whole by its button, by keyboard too', async () => {
    await visit('wide', 390, async (page) => {
      const button = cell(page, 1).getByRole('button', { name: `Copy ${ADDRESS}` });
      await button.click();
      await cell(page, 1).getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(ADDRESS);
      expect(await page.locator('table a').count()).toBe(0);
    });
  });

  test('without a clipboard the address is copied all the same', async () => {
    await visit('wide', 390, async (page) => {
      await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('no'))`);
      await cell(page, 1).getByRole('button').press('Space');
      await cell(page, 1).getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(ADDRESS);
    });
  });

  test('bars whose minute is cut by the range are pale and say so, the others are not', async () => {
    await visit('network-daily', 1400, async (page) => {
      const chart = page.locator('figure.chart', { has: page.getByText('Transactions', { exact: true }) });
      const bars = await chart.locator('div.wide rect[data-value]').evaluateAll((all) =>
        all.map((bar) => ({
          time: bar.querySelector('title')?.textContent?.split('\n')[0],
          isPartial: bar.hasAttribute('data-partial'),
          opacity: bar.getAttribute('fill-opacity'),
          isTold: bar.querySelector('title')?.textContent?.endsWith('missing in part'),
        })),
      );
      const of = (time: string, isPartial: boolean) => ({
        ...{ time: `2026-05-01 ${time}`, isPartial, isTold: isPartial, opacity: isPartial ? '0.35' : '1' },
      });
      expect(bars).toEqual([of('23:33:00', true), of('23:34:00', false), of('23:35:00', true)]);
      expect(await chart.locator('.partial').textContent()).toMatch(/^Pale bars are incomplete/);
      const line = page.locator('figure.chart', { has: page.getByText('Share of transactions that failed') });
      expect(
        await line.locator('div.wide circle').evaluateAll((all) => all.map((dot) => dot.getAttribute('fill'))),
      ).toEqual(['var(--page)', 'var(--c1)', 'var(--page)']);
    });
  });

  test('nothing but the pages was asked for', () => {
    expect(server.asked.filter((url) => !pages.has(url))).toEqual([]);
  });
});
