import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { run } from '../../src/export/run.ts';
import { logPath } from '../../src/jobs/run-log.ts';
import type { UiServer } from '../../src/ui/serve-ui.ts';
import { query } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { addRuns, exportSandbox, serveWarehouse } from '../ui/support.ts';
import { findChromium, launch, PATIENCE_MS } from './chromium.ts';

const executable = findChromium();
const why = executable === undefined ? ' (no Chromium in PATH or $CHROMIUM)' : '';
const screenshots = process.env['TONLAKE_SCREENSHOTS'];

const hostile = [
  '<script>document.title = "taken"</script>',
  '"><img src=/taken onerror="document.title=`taken`">',
  '\u202etxt.exe',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
];

interface Look {
  /** Default: the server of all tests, whose visitor keeps its session and the files of the page. */
  readonly of?: UiServer;
  /** Messages of the browser that are expected. Default: none. */
  readonly faults?: readonly string[];
}

describe.skipIf(executable === undefined)(`tonlake ui in a browser${why}`, () => {
  let browser: Browser;
  let visitor: BrowserContext;
  let server: UiServer;
  let warehouse: string;
  /** A failed run, and one under way. */
  let runs: Awaited<ReturnType<typeof addRuns>>;
  const asked = new Set<string>();

  beforeAll(async () => {
    warehouse = await exportSandbox();
    runs = await addRuns(warehouse, hostile[0] ?? '');
    server = await serveWarehouse(warehouse);
    browser = await launch(executable ?? '');
    visitor = await enter(server);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  /** A visitor who has opened the first address. */
  async function enter({ url }: UiServer): Promise<BrowserContext> {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(PATIENCE_MS);
    context.on('request', (request) => asked.add(new URL(request.url()).origin.replace(new URL(url).origin, 'own')));
    const page = await context.newPage();
    await page.goto(url);
    await page.locator('.place').waitFor();
    const session = await page.evaluate<string>(`sessionStorage.getItem('tonlake session')`);
    // Each page of the tests is a tab of its own. Frames of reports have no storage.
    await context.addInitScript({
      content: `if (window.origin !== 'null') sessionStorage.setItem('tonlake session', ${JSON.stringify(session)});`,
    });
    await page.close();
    return context;
  }

  /** Opens a page. No message of the browser may be an error. */
  async function visit<T>(
    path: string,
    use: (page: Page) => Promise<T>,
    { of, faults: expected = [] }: Look = {},
  ): Promise<T> {
    const context = of === undefined ? visitor : await enter(of);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    try {
      await page.goto(new URL(path, (of ?? server).url).href);
      const result = await use(page);
      expect([...new Set(faults)]).toEqual(expected);
      return result;
    } finally {
      await page.close();
      if (context !== visitor) await context.close();
    }
  }

  const linkTo = (sql: string): string => `/query#${new URLSearchParams({ sql })}`;
  const value = async (sql: string): Promise<string> => (await query(warehouse, sql))[0]?.[0] ?? '';
  const grouped = (count: string): string => Number(count).toLocaleString('en-US');

  async function runLinked(page: Page): Promise<void> {
    await page.locator('.cm-content').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid-row[aria-busy=false]').first().waitFor();
  }

  test('the first address opens one tab, which forgets the key; another tab says how to get in', async () => {
    const own = await serveWarehouse(warehouse);
    const context = await browser.newContext();
    try {
      const [first, second] = [await context.newPage(), await context.newPage()];
      await first.goto(own.url);
      await first.locator('.place').waitFor();
      expect(first.url()).toBe(new URL('/', own.url).href);
      await first.reload();
      await first.locator('.place').waitFor();
      expect(await context.cookies()).toEqual([]);
      for (const address of [own.url, new URL('/tables', own.url).href]) {
        await second.goto(address);
        await second.getByRole('alert').first().waitFor();
        expect(await second.getByRole('alert').allTextContents()).toEqual([
          expect.stringMatching(/^This tab has no key\. .* start tonlake ui again for a new address\.$/),
        ]);
      }
    } finally {
      await context.close();
      await own.close();
    }
  });

  test('the overview has the numbers of SQL and status, and the command that fetches what is missing', async () => {
    await visit('/', async (page) => {
      const figure = (name: string) => page.locator('dl.figures-row div', { hasText: name }).locator('dd');
      await figure('missing blocks').waitFor();
      expect(await figure('missing blocks').textContent()).toBe('10');
      expect(await figure('blocks').first().textContent()).toBe('90');
      const newest = await value('select max(seqno) from blocks where workchain = -1');
      expect(await figure('newest block').textContent()).toMatch(new RegExp(`^${newest} `));
      expect(await page.locator('.command code').allTextContents()).toEqual([
        `tonlake run blocks transactions --network sandbox --range 1040:1049 --warehouse ${warehouse}`,
      ]);
      for (const title of ['Transactions per second', 'Fees per second, in TON']) {
        await page.getByRole('img', { name: title }).locator('svg').waitFor();
      }
      const rows = page.getByRole('row', { name: /^transactions missing in part/ });
      const strip = rows.locator('.map-cells .cell');
      expect(await strip.count()).toBe(40);
      expect(await strip.and(page.locator('.missing, .part')).count()).toBeGreaterThan(2);
      const counts = await query(
        warehouse,
        'select (select count(*) from transactions) + (select count(*) from messages) + (select count(*) from account_states)',
      );
      expect(await rows.getByRole('cell').nth(2).textContent()).toBe(grouped(counts[0]?.[0] ?? ''));
    });
  });

  test('a hole on the coverage page has its command and evidence, zooms by wheel and keyboard, and closes when it is filled', async () => {
    const copy = join(freshFolder(), 'w');
    cpSync(warehouse, copy, { recursive: true });
    const own = await serveWarehouse(copy);
    await visit(
      '/coverage',
      async (page) => {
        const cells = page.getByRole('gridcell', { name: /missing$/ });
        await cells.first().waitFor();
        await cells.first().click();
        const details = page.getByRole('region', { name: 'Chosen blocks' });
        await details.getByText(/--range 10(4\d|4\d:104\d) /).waitFor();
        await page.getByRole('grid', { name: 'Coverage' }).focus();
        await page.keyboard.press('+');
        await page.keyboard.press('+');
        await page.locator('.coverage-bar .figures').filter({ hasNotText: '1000 to 1099' }).waitFor();
        const before = await page.locator('.coverage-bar .figures').textContent();
        await page.locator('.map-cells').first().hover();
        await page.mouse.wheel(0, 300);
        await page
          .locator('.coverage-bar .figures')
          .filter({ hasNotText: before ?? '' })
          .waitFor();
        await page.getByRole('button', { name: 'All' }).click();
        await cells.first().waitFor();
        const what = { pipelines: ['transactions'], network: 'sandbox', warehouse: copy };
        await run({ ...what, range: '1040:1049' });
        await cells.first().waitFor({ state: 'detached' });
        expect(await page.getByRole('gridcell', { name: /(missing|in part)$/ }).count()).toBe(0);
        await details.getByText('proven by the block headers: links and counts').waitFor();
      },
      { of: own },
    );
  });

  test('the tables page has the numbers of SQL, and finds tables by name or meaning', async () => {
    await visit('/tables', async (page) => {
      const link = page.getByRole('link', { name: /^transactions / });
      await link.waitFor();
      expect(await link.locator('.figure').first().textContent()).toBe(
        grouped(await value('select count(*) from transactions')),
      );
      await page.getByLabel('Filter tables').fill('balance');
      await link.waitFor({ state: 'detached' });
      await page.getByLabel('Filter tables').fill('');
      await link.click();
      await page.getByRole('heading', { name: 'transactions', exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/tables/transactions');
      expect(await page.getByText('transactions: missing 1040:1049 (not exported)').count()).toBe(1);
      await page.getByRole('button', { name: 'Profile descr', exact: true }).click();
      const [top] = await query(
        warehouse,
        'select descr, count(*) from transactions group by 1 order by 2 desc limit 1',
      );
      await page.getByRole('meter', { name: `${top?.[0]}: ${grouped(top?.[1] ?? '')}` }).waitFor();
      await page.getByRole('tab', { name: 'Sample' }).click();
      await page.locator('.grid-row[aria-busy=false]').first().waitFor();
      const [busy] = await query(
        warehouse,
        'select friendly_address(account), account, max(lt) from transactions where block_workchain = 0 group by 1, 2 order by count(*) desc, 2 limit 1',
      );
      await page.getByLabel('Filter rows').fill(busy?.[0] ?? '');
      await page.keyboard.press('Enter');
      await page.getByRole('columnheader', { name: /^lt/ }).getByRole('button').click();
      await page.getByRole('columnheader', { name: /^lt/ }).getByRole('button').click();
      await page
        .getByRole('gridcell', { name: busy?.[2] ?? '', exact: true })
        .first()
        .waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'Tables', exact: true }).first().waitFor();
    });
  });

  test('a query is typed with completion, run, sorted, charted and downloaded; its link keeps it', async () => {
    await visit('/query', async (page) => {
      await page.locator('.cm-content').click();
      await page.keyboard.type('select block_date, count(*) as n, sum(total_f');
      const column = page.locator('.cm-tooltip-autocomplete').getByText('total_fees').first();
      // What was typed before the page knew the columns is completed when it is asked for.
      while (!(await column.isVisible())) {
        await page.keyboard.press('Control+Space');
        await page.waitForTimeout(200);
      }
      // The editor ignores keys for 75 ms after completions appear: they were not meant for them.
      await page.waitForTimeout(200);
      await page.keyboard.press('Tab');
      await page.locator('.cm-content').getByText('sum(total_fees').waitFor();
      await page.keyboard.type(') as fees from transac');
      await page.locator('.cm-tooltip-autocomplete').getByText('transactions').first().waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.type('tions group by all');
      await page.keyboard.press('Control+Enter');
      const [row] = await query(warehouse, 'select block_date, count(*), sum(total_fees) from transactions group by 1');
      await page.locator('.grid-row[aria-busy=false]').first().waitFor();
      const [date = '', n = '', fees = ''] = row ?? [];
      const cells = page.locator('.grid-row').first().getByRole('gridcell');
      expect(await cells.allTextContents()).toEqual([date, grouped(n), grouped(fees)]);
      expect(await page.getByRole('status').allTextContents()).toEqual(
        expect.arrayContaining([
          'transactions: missing 1040:1049 (not exported)',
          expect.stringMatching(/^1 row, [\d,]+ ms, .* read$/),
        ]),
      );
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.locator('.chart svg').waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'CSV' }).click(),
      ]);
      expect(readFileSync(await download.path(), 'utf8')).toBe(`block_date,n,fees\n${row?.join(',')}\n`);
      await page.getByRole('button', { name: 'Copy link' }).click();
      const link = await page.evaluate<string>('navigator.clipboard.readText()');
      await page.goto('about:blank');
      await page.goto(link);
      await page
        .getByText('select block_date, count(*) as n, sum(total_fees) as fees from transactions group by all')
        .waitFor();
      // A link fills the editor; only its reader runs it.
      expect(await page.locator('.grid').count()).toBe(0);
    });
  });

  test('rows of a result that was dropped come as an error, and not as blanks', async () => {
    await visit(
      linkTo('select range as n from range(1000)'),
      async (page) => {
        await runLinked(page);
        for (let at = 0; at < 4; at++) await visit(linkTo(`select ${at}`), runLinked);
        await page.getByRole('columnheader', { name: 'n BIGINT' }).getByRole('button').click();
        const alert = page.getByRole('alert');
        await alert.waitFor();
        expect(await alert.locator('p').allTextContents()).toEqual([
          'expected a stored result, got an older one',
          'run the query again',
        ]);
      },
      { faults: ['Failed to load resource: the server responded with a status of 404 (Not Found)'] },
    );
  });

  test('each name of a legend has the colour of its series', async () => {
    const sql = "select name, n from (values ('gamma', 3), ('alpha', 1), ('delta', 4), ('beta', 2)) as t(name, n)";
    await visit(linkTo(sql), async (page) => {
      await runLinked(page);
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.getByLabel('Mark').selectOption('bar');
      await page.getByLabel('Across').selectOption('name');
      await page.getByLabel('Color').selectOption('name');
      await page.locator('.legend').waitFor();
      const named = await page.evaluate<readonly (readonly [string, string])[]>(
        `[...document.querySelectorAll('.legend li')].map((item) =>
          [item.textContent, getComputedStyle(item.querySelector('span')).backgroundColor])`,
      );
      const fills = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('[aria-label=bar] rect')]
          .sort((a, b) => a.getAttribute('height') - b.getAttribute('height')).map((bar) => getComputedStyle(bar).fill)`,
      );
      expect(new Set(fills).size).toBe(4);
      const colors = new Map(named);
      expect(fills).toEqual(['alpha', 'beta', 'gamma', 'delta'].map((name) => colors.get(name)));
    });
  });

  test('several columns are drawn with a legend, on an axis for each size, and the link keeps them', async () => {
    const sql =
      'select block_time, seqno, tx_count, 2 * tx_count as twice, 1000 * tx_count as large from blocks limit 50';
    const colors = `[...document.querySelectorAll('.legend span')].map((each) => getComputedStyle(each).backgroundColor)`;
    await visit(linkTo(sql), async (page) => {
      await runLinked(page);
      // Places are written as they are, amounts with separators; a value that is copied is plain.
      const [first] = await query(warehouse, sql);
      const [, seqno = '', , , large = ''] = first ?? [];
      expect((await page.locator('.grid-row').first().getByRole('gridcell').allTextContents()).slice(1)).toEqual([
        ...[seqno, ...(first ?? []).slice(2).map(grouped)],
      ]);
      expect(await page.locator('.grid-row').first().locator('.number').count()).toBe(3);
      await page.locator('.grid').focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Control+c');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(large);
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.locator('.chart svg').waitFor();
      // An amount comes before a place on the chain, and one column stays.
      expect(await page.getByRole('checkbox', { name: 'tx_count' }).isDisabled()).toBe(true);
      await page.getByRole('checkbox', { name: 'twice' }).check();
      await page.locator('.legend').waitFor();
      expect(await page.locator('.legend li').allTextContents()).toEqual(['tx_count', 'twice']);
      expect(await page.locator('.chart svg').count()).toBe(1);
      await page.getByRole('checkbox', { name: 'large' }).check();
      await page.locator('.chart svg').nth(1).waitFor();
      const strokes = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.chart [aria-label=line] path')].map((line) => getComputedStyle(line).stroke)`,
      );
      const light = await page.evaluate<readonly string[]>(colors);
      expect(strokes).toEqual([light[2], light[0], light[1]]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(new Set([...light, ...(await page.evaluate<readonly string[]>(colors))]).size).toBe(6);
      const link = page.url();
      await page.goto('about:blank');
      await page.goto(link);
      await page.locator('.cm-content').waitFor();
      await page.keyboard.press('Control+Enter');
      await page.locator('.legend').waitFor();
      expect(await page.locator('.legend li').allTextContents()).toEqual(['tx_count', 'twice', 'large']);
      await takePictures(page, '/query-chart');
    });
  });

  test('the grid scrolls over a million rows by keyboard, and loads those that are seen', async () => {
    await visit(linkTo('select range as n, range * 2 as twice from range(1000000)'), async (page) => {
      await runLinked(page);
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.locator('.grid').focus();
      await page.keyboard.press('Control+End');
      await page.getByRole('gridcell', { name: '1,999,998', exact: true }).waitFor();
      expect(await page.locator('.grid-row').count()).toBeLessThan(60);
      expect(requests.length).toBeLessThanOrEqual(2);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      expect(await page.getByRole('region', { name: 'Value' }).locator('pre').textContent()).toBe('1999996');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+Home');
      await page.getByRole('gridcell', { name: '0', exact: true }).first().waitFor();
      await page.locator('.grid').evaluate((box) => box.scrollTo({ top: box.scrollHeight / 2 }));
      await page
        .getByRole('gridcell', { name: /^(499|500),\d{3}$/ })
        .first()
        .waitFor();
      await page.getByRole('columnheader', { name: 'twice' }).getByRole('button').press('Enter');
      await page.getByRole('columnheader', { name: 'twice' }).getByRole('button').press('Enter');
      await page.locator('[role=columnheader][aria-sort=descending]').waitFor();
    });
  });

  test('an account leads to its transactions, their trace, and where a row is from', async () => {
    const [[trace, account, friendly, hash]] = (await query(
      warehouse,
      `select trace_id, account, friendly_address(account), hash from transactions where trace_id in
        (select trace_id from transactions group by 1 having count(*) > 2) order by lt limit 1`,
    )) as [[string, string, string, string]];
    const busiest = await value(
      'select account from account_states where balance is not null group by 1 order by count(*) desc, 1 limit 1',
    );
    await visit('/explore', async (page) => {
      await page.getByLabel('Address, hash or seqno').fill(friendly);
      await page.keyboard.press('Enter');
      await page.getByText(account, { exact: true }).first().waitFor();
      await page.getByLabel('Address, hash or seqno').fill(busiest);
      await page.keyboard.press('Enter');
      await page.getByRole('img', { name: 'Balance over time, in TON' }).locator('svg').waitFor();
      await page.getByLabel('Address, hash or seqno').fill(hash);
      await page.keyboard.press('Enter');
      await page.locator('.trace li').first().waitFor();
      const count = await value(`select count(*) from transactions where trace_id = '${trace}'`);
      expect(await page.locator('.trace li').count()).toBe(Number(count));
      await page.getByRole('button', { name: 'Where is this row from?' }).first().click();
      await page.getByText('the file has the SHA-256 that the ledger recorded').waitFor();
      const block = await value(`select mc_block_seqno from transactions where hash = '${hash}'`);
      await page.getByRole('link', { name: block, exact: true }).first().click();
      await page.getByRole('heading', { name: 'masterchain block', exact: true }).waitFor();
    });
  });

  test('a query that runs is cancelled by its button, and the next one runs', async () => {
    await visit(linkTo('select count(*) from range(100000000000) a, range(100000000000) b'), async (page) => {
      await page.locator('.cm-content').waitFor();
      await page.keyboard.press('Control+Enter');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('alert').getByText('cancelled').waitFor();
      await page.locator('.cm-content').click();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.type('select 7 as seven');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('gridcell', { name: '7' }).waitFor();
    });
  });

  test('a query and its chart are saved with --queries, and drawn on the overview', async () => {
    const own = await serveWarehouse(warehouse, { savesQueries: true });
    await visit(
      linkTo('select block_time, tx_count, seqno from blocks'),
      async (page) => {
        await runLinked(page);
        await page.getByRole('tab', { name: 'Chart' }).click();
        await page.locator('.chart svg').waitFor();
        await page.getByRole('checkbox', { name: 'seqno' }).check();
        await page.locator('.legend').waitFor();
        await page.getByRole('button', { name: 'Save to the overview' }).click();
        await page.getByLabel('Name of the query').fill('busy blocks');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').waitFor();
        await page.getByLabel('Name of the query').fill('busy_blocks');
        await page.keyboard.press('Enter');
        await page.getByText('saved as busy_blocks.sql').waitFor();
        await page.getByRole('link', { name: 'Overview' }).click();
        await page.getByRole('img', { name: 'busy_blocks' }).locator('svg').first().waitFor();
        expect(await page.locator('.legend li').allTextContents()).toEqual(['tx_count', 'seqno']);
      },
      { of: own, faults: ['Failed to load resource: the server responded with a status of 400 (Bad Request)'] },
    );
    await visit('/query', async (page) => {
      await page.getByText('History').waitFor();
      expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    });
  });

  test('tables beside the editor have columns with units', async () => {
    await visit('/query', async (page) => {
      await page.locator('.schema').getByText('transactions', { exact: true }).click();
      const fees = page.locator('.schema li', { hasText: 'total_fees' });
      expect(await fees.first().textContent()).toBe('total_fees bigintnanoton');
    });
  });

  test('explore begins with examples, and a cell of a result leads to it', async () => {
    await visit('/explore', async (page) => {
      await page.getByText('a large trace').waitFor();
      expect(await page.locator('dl.values dt').allTextContents()).toEqual([
        'a busy account',
        'a large trace',
        'the newest block',
      ]);
      await page.locator('dl.values a').nth(1).click();
      await page.locator('.trace li').first().waitFor();
    });
    await visit(linkTo('select account from transactions limit 1'), async (page) => {
      await runLinked(page);
      const cell = page.getByRole('gridcell').first();
      const account = await cell.textContent();
      await cell.click();
      await page.getByRole('region', { name: 'Value' }).getByRole('link', { name: 'Explore' }).click();
      await page
        .locator('.sought')
        .getByText(account ?? '')
        .waitFor();
    });
  });

  test('a click on a question puts it into the editor and answers it', async () => {
    await visit('/query', async (page) => {
      const questions = page.getByRole('list').getByRole('button', { name: /\?/ });
      await questions.nth(13).waitFor();
      await page.getByRole('button', { name: 'What was committed last?' }).click();
      await page.locator('.cm-content').getByText('_commits').waitFor();
      await page.locator('.grid-row[aria-busy=false]').first().waitFor();
      expect(new URL(page.url()).hash).toContain('_commits');
    });
  });

  test('hostile comments, names and domains are shown as text', async () => {
    const list = hostile.map((text) => `('${text.replaceAll("'", "''")}')`).join(', ');
    await visit(
      linkTo(`select v as comment, v as "<b>name</b>", v as domain, 1 as n from (values ${list}) as t(v)`),
      async (page) => {
        await runLinked(page);
        const cells = await page.locator('.grid-row > :first-child').allTextContents();
        expect(cells).toEqual(hostile);
        await page.locator('.grid-row > :first-child').first().click();
        expect(await page.getByRole('region', { name: 'Value' }).locator('pre').textContent()).toBe(hostile[0]);
        await page.getByRole('tab', { name: 'Chart' }).click();
        await page.locator('.chart svg').waitFor();
        await page.getByLabel('Color').selectOption('domain');
        await page.locator('.legend').waitFor();
        expect(await page.evaluate<number>('document.scripts.length')).toBe(1);
        expect(await page.locator('img').count()).toBe(0);
        expect(await page.title()).toBe('Query · tonlake');
      },
    );
    const held = await value(`select count(*) from messages where comment like '%<script>%'`);
    expect(Number(held)).toBeGreaterThan(0);
    await visit(linkTo(`select comment from messages where comment like '%<script>%' limit 1`), async (page) => {
      await runLinked(page);
      expect(await page.getByRole('gridcell').first().textContent()).toContain('<script>alert("x")</script>');
    });
  });

  test('runs of jobs are followed as they go, their steps and logs shown; a report is rendered in a frame', async () => {
    const { history, record } = runs;
    await visit('/jobs', async (page) => {
      const failed = page.getByRole('row', { name: /^often 2026-05-02/ });
      await failed.waitFor();
      expect(await failed.getByRole('cell').last().textContent()).toBe(hostile[0]);
      await page.getByText('40 of 50 blocks').waitFor();
      await page.getByRole('link', { name: /^often 2026-05-03/ }).click();
      await page.getByRole('heading', { name: 'often running' }).waitFor();
      // The page follows without being asked.
      appendFileSync(logPath(history.folder, record), '2026-05-03T00:00:02.000Z second line\n');
      await page.locator('pre.log').getByText('2026-05-03 00:00:02  second line').waitFor();
      const [attempt] = record.attempts;
      if (attempt === undefined) throw new Error('expected an attempt');
      const steps = [{ kind: 'mart' as const, name: hostile[1] ?? '', status: 'done' as const, seconds: 2 }];
      const attempts = [{ ...attempt, endedAt: '2026-05-03T00:00:05.000Z' }];
      await history.write({ ...record, state: 'done', attempts, steps }, realEffects);
      await page.getByRole('heading', { name: 'often done' }).waitFor();
      expect(await page.locator('.steps tbody th').allTextContents()).toEqual([`mart ${hostile[1]}`]);
    });
    await visit('/reports', async (page) => {
      await page.getByRole('link', { name: /^Health of the export/ }).click();
      await page.getByRole('button', { name: 'Render' }).click();
      const frame = page.frameLocator('.report-frame iframe');
      await frame.getByRole('heading', { level: 1 }).waitFor();
      // Its script has run, in an origin of its own.
      await frame.locator('p.hint').first().waitFor({ state: 'attached' });
      expect(await page.frames()[1]?.evaluate('origin')).toBe('null');
    });
  });

  /** Widths and schemes of pictures; those of which axe judges. */
  const looks = [
    [1440, 'dark', false],
    [1440, 'light', true],
    [390, 'light', false],
    [390, 'dark', true],
  ] as const;

  async function show(page: Page, width: number, colorScheme: 'light' | 'dark'): Promise<void> {
    await page.setViewportSize({ width, height: 800 });
    // Without motion, colors do not fade into those of the other scheme while they are measured.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // What is as wide as its place is measured after the page was laid out.
    const standsOut = (box: string): string => `${box}.scrollWidth - ${box}.clientWidth`;
    const boxes = `Math.max(${standsOut('document.documentElement')}, ${standsOut("document.querySelector('main')")})`;
    await expect.poll(() => page.evaluate<number>(boxes)).toBe(0);
  }

  async function takePictures(page: Page, path: string): Promise<void> {
    if (screenshots === undefined) return;
    const name = path.replace(/#.*/, '').replaceAll('/', '-').slice(1);
    for (const [width, colorScheme] of looks) {
      await show(page, width, colorScheme);
      await page.screenshot({ path: join(screenshots, `ui-${name}-${width}-${colorScheme}.png`) });
    }
  }

  test.each([
    '/overview',
    '/jobs',
    '/jobs/often/20260502T000000Z',
    '/reports/export-health',
    '/coverage',
    '/tables',
    '/tables/transactions',
    '/explore',
    '/explore/1005',
    '/query',
    linkTo('select * from transactions'),
  ])(
    '%s is readable for all: axe finds nothing serious in light and dark, and nothing stands out of a phone or a desk',
    async (path) => {
      await visit(path, async (page) => {
        if (path.includes('#')) await runLinked(page);
        else await page.locator('main h1').first().waitFor();
        if (path === '/overview') await page.locator('.activity svg').nth(1).waitFor();
        if (path === '/query') await page.locator('.questions li').nth(5).waitFor();
        if (path === '/explore') await page.getByText('the newest block').waitFor();
        else if (path.startsWith('/explore')) await page.locator('.row').first().waitFor();
        if (path === '/coverage') await page.locator('.cell').first().click();
        if (path.startsWith('/tables')) await page.getByRole('link', { name: /^transactions / }).waitFor();
        if (path.startsWith('/tables/')) await page.locator('.columns tbody tr').first().waitFor();
        await page.evaluate(`${axe.source}; undefined`);
        await takePictures(page, path);
        for (const [width, colorScheme] of looks.filter(([, , isJudged]) => isJudged)) {
          await show(page, width, colorScheme);
          expect(
            await page.evaluate<
              readonly string[]
            >(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
            .filter(({ impact }) => ['serious', 'critical'].includes(impact))
            .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`),
          ).toEqual([]);
        }
      });
    },
  );

  test('the page is reached by keyboard alone', async () => {
    await visit('/tables', async (page) => {
      await page.getByRole('link', { name: /^transactions / }).waitFor();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type('messages');
      await page.keyboard.press('Tab');
      const link = await page.evaluate<string>('document.activeElement.href');
      expect(link).toContain('/tables/');
      await page.keyboard.press('Enter');
      await page.waitForURL(link);
    });
  });

  test('no address but that of the server was asked', () => {
    expect([...asked]).toEqual(['own']);
  });
});
