import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { formatError, oneLine, portTaken, TonlakeError, UsageError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { themeStyle } from '../reports/html/page-style.ts';
import { excerptOf, sqlFault } from '../sql/sql-fault.ts';
import { statusIn } from '../warehouse/query/status.ts';
import { guardAccess } from './access.ts';
import { CommitCache, type StatusCache } from './commit-cache.ts';
import { addCoverageRoutes } from './coverage-routes.ts';
import { addEventRoute } from './event-route.ts';
import { addExploreRoutes } from './explore-routes.ts';
import { addJobRoutes } from './job-routes.ts';
import { addQueryRoutes } from './query-routes.ts';
import { MAX_ROWS, QueryRuns } from './query-runs.ts';
import { JobFiles } from './read-job-files.ts';
import { addReportRoutes } from './report-routes.ts';
import { SharedReader } from './shared-reader.ts';
import { addTableRoutes } from './table-routes.ts';
import type { UiEnvironment, UiOptions } from './ui-options.ts';
import type { Failure, Session } from './ui-types.ts';

/** A running server. */
export interface UiServer {
  /** The first address, with the key. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Serves the page of a warehouse on loopback.
 *
 * @throws {StoreError} `no-warehouse`; {UsageError}
 */
export async function serveUi(options: UiOptions): Promise<UiServer> {
  const shared = new SharedReader(options.warehouse);
  await shared.requireNetwork(options.network);
  const runs = await QueryRuns.open(options);
  let port = options.port;
  const { key, guard } = guardAccess(() => port);
  const app = new Hono<UiEnvironment>();
  app.use(guard);
  app.get('/api/session', async (c) => c.json(await sessionOf(options, shared)));
  const status: StatusCache = new CommitCache(({ reader, registry }) => statusIn(reader, registry));
  const files = new JobFiles(options.jobsPath, options.warehouse);
  addCoverageRoutes(app, shared, status, runs);
  addTableRoutes(app, shared, runs);
  addQueryRoutes(app, shared, runs, options);
  addExploreRoutes(app, status, runs);
  addJobRoutes(app, { warehouse: options.warehouse, shared, status, files });
  addReportRoutes(app, files, options);
  addEventRoute(app, shared, options.warehouse);
  addPageFiles(app);
  app.onError((error, c) => c.json(failureOf(error), statusOf(error)));
  const server = await listen(app, options.port);
  const address = server.address();
  if (address !== null && typeof address === 'object') port = address.port;
  return {
    url: `http://${HOST}:${port}/#key=${key}`,
    port,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
      await runs.close();
      await shared.close();
    },
  };
}

function listen(app: Hono<UiEnvironment>, port: number): Promise<ReturnType<typeof serve>> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: HOST, port }, () => resolve(server));
    const hint = 'choose another port with --port; 0 picks a free one';
    server.once('error', (cause) => reject(portTaken(`${HOST}:${port}`, hint, cause)));
  });
}

async function sessionOf(options: UiOptions, shared: SharedReader): Promise<Session> {
  const { version, savesQueries } = options;
  return shared.use(async ({ reader }) => ({
    version,
    savesQueries,
    maxRows: MAX_ROWS,
    warehouse: reader.path,
    network: reader.network,
    writeCommand: suggest('sql', '--output'),
  }));
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof TonlakeError)) return { error: oneLine(formatError(error)), code: 'failed' };
  return { error: textOf(error), code: error.code, hint: error.hint, excerpt: excerptOf(error) };
}

/** The message of an error without its stage; for a query of several lines, with the line. */
function textOf(error: TonlakeError): string {
  const { message } = error;
  if (error instanceof UsageError && error.of === undefined) return oneLine(error.problem);
  if (!message.startsWith('store: query: ')) return oneLine(message);
  const { text, line = 1 } = sqlFault(message);
  return line > 1 ? `${text} (line ${line})` : text;
}

function statusOf(error: unknown): 400 | 404 | 422 | 500 {
  if (!(error instanceof TonlakeError)) return 500;
  if (/^unknown-(table|column|result|pipeline|report|run)$/.test(error.code)) return 404;
  return error instanceof UsageError ? 400 : 422;
}

/** The bundle, which the build puts beside the compiled sources. */
const PAGE_FOLDER = fileURLToPath(new URL('../../ui/', import.meta.url));

const PAGE_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the page: its files by their exact names, and the page itself for every other path. */
function addPageFiles(app: Hono<UiEnvironment>): void {
  const files = new Map(
    readdirSync(PAGE_FOLDER)
      .filter((name) => PAGE_TYPES[extname(name)] !== undefined)
      .map((name) => [name, readFileSync(join(PAGE_FOLDER, name))]),
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
    return c.body(new Uint8Array(content), 200, { 'Content-Type': PAGE_TYPES[extname(name)] ?? '' });
  });
  app.get('*', (c) =>
    c.req.path.startsWith('/api/') ? c.text('not found\n', 404) : c.html(page.replace('NONCE', c.get('nonce'))),
  );
}
