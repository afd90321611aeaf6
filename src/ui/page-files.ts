import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { themeStyle } from '../reports/html/page-style.ts';
import type { UiEnvironment } from './ui-options.ts';

/** The bundle, which the build puts beside the compiled sources. */
const FOLDER = fileURLToPath(new URL('../../ui/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the page: its files by their exact names, and the page itself for every other path. */
export function addPageFiles(app: Hono<UiEnvironment>): void {
  const files = new Map(
    readdirSync(FOLDER)
      .filter((name) => TYPES[extname(name)] !== undefined)
      .map((name) => [name, readFileSync(join(FOLDER, name))]),
  );
  files.set('theme.css', Buffer.from(themeStyle));
  const page = String(files.get('index.html'));
  // Browsers revalidate by ETag, and load the bundle again only when it has changed.
  app.use('/assets/*', compress(), etag({ weak: true }));
  app.get('/assets/:name', (c) => {
    const name = c.req.param('name');
    const content = files.get(name);
    if (content === undefined) return c.text('not found\n', 404);
    c.header('Cache-Control', 'private, no-cache');
    return c.body(new Uint8Array(content), 200, { 'Content-Type': TYPES[extname(name)] ?? '' });
  });
  app.get('*', (c) =>
    c.req.path.startsWith('/api/') ? c.text('not found\n', 404) : c.html(page.replace('NONCE', c.get('nonce'))),
  );
}
