// Takes the pictures of the README from the page and a report, over some blocks of the sandbox: `node tools/pictures.mjs` after a build.
// It needs Chromium in $CHROMIUM or at /usr/bin/chromium.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const pictures = join(root, 'docs/pictures');
const folder = join(tmpdir(), 'tonlake');
// Its name is in the picture. Fails if it exists.
mkdirSync(folder);
const cli = join(root, 'dist/src/cli.js');
const tonlake = (...words) => execFileSync('node', [cli, ...words], { cwd: folder, stdio: 'inherit' });
const VIEW = { viewport: { width: 1200, height: 640 }, colorScheme: 'light' };

const pipelines = ['blocks', 'transactions', 'actions', 'jetton_transfers'];
tonlake('run', ...pipelines, '--network', 'sandbox', '--range', '1000:4999', '--warehouse', 'lake');
tonlake('report', 'network-daily', '--warehouse', 'lake', '--param', 'from=2026-05-01', '--output', 'report.html');
const ui = spawn('node', [cli, 'ui', '--warehouse', 'lake', '--port', '0'], { cwd: folder });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const [address] = await new Promise((resolve) =>
    ui.stdout.once('data', (text) => resolve(/http:\S+/.exec(String(text)))),
  );
  mkdirSync(pictures, { recursive: true });
  const page = await browser.newPage(VIEW);
  await page.goto(address);
  await page.locator('.activity svg').nth(1).waitFor();
  await page.screenshot({ path: join(pictures, 'page.png') });
  await page.goto(`file://${join(folder, 'report.html')}`);
  await page.getByRole('heading', { name: 'Activity' }).evaluate((heading) => heading.scrollIntoView());
  await page.screenshot({ path: join(pictures, 'report.png') });
} finally {
  await browser.close();
  ui.kill();
  rmSync(folder, { recursive: true });
}
