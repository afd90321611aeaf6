import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import PQueue from 'p-queue';
import * as z from 'zod';
import { formatError, usage } from '../core/errors.ts';
import { listReports, openReport, type ReportListing } from '../reports/find-report.ts';
import { renderReport } from '../reports/render-report.ts';
import { withinTime } from './query-runs.ts';
import type { JobFiles } from './read-job-files.ts';
import { sendReport } from './send-report.ts';
import type { UiEnvironment, UiOptions } from './ui-options.ts';
import type { RenderedItem, ReportItem } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Number of stored pages; older ones are dropped. */
const MAX_PAGES = 8;

const renderSchema = z.object({ report: z.string().min(1) }).catchall(z.string().max(2_000));

/** Renders the reports that come with tonlake, and those of the project's jobs. */
export function addReportRoutes(app: Hono<UiEnvironment>, files: JobFiles, options: UiOptions): void {
  const pages = new Map<string, string>();
  const turns = new PQueue({ concurrency: 1 });
  app.get('/api/reports', async (c) => c.json(await listItems(files)));
  app.get('/api/reports/render', valid('query', renderSchema), async (c) => {
    const { report, ...given } = c.req.valid('query');
    await requireListed(files, report);
    const params = Object.fromEntries(
      Object.entries(given).filter(([name, text]) => name.startsWith('$') && text !== ''),
    );
    const startedAt = performance.now();
    const rendered = await turns.add(() =>
      withinTime(options.seconds, c.req.raw.signal, (signal) =>
        renderReport(options.warehouse, report, {
          params: Object.fromEntries(Object.entries(params).map(([name, text]) => [name.slice(1), text])),
          memoryMb: options.memoryMb,
          signal,
        }),
      ),
    );
    const { title, isEmpty, content } = rendered;
    const ms = Math.round(performance.now() - startedAt);
    const item: RenderedItem = { id: randomUUID(), title, isEmpty, ms };
    pages.set(item.id, content);
    for (const old of [...pages.keys()].slice(0, -MAX_PAGES)) pages.delete(old);
    return c.json(item);
  });
  app.get('/api/reports/pages/:id', (c) => {
    const page = pages.get(c.req.param('id'));
    return page === undefined ? c.text('this report is no longer stored: render it again\n', 404) : sendReport(c, page);
  });
}

/** Reports of the project: those that its jobs publish. */
async function projectReports(files: JobFiles): Promise<readonly string[]> {
  const jobs = await files.read(Date.now());
  const named = jobs.flatMap((found) => ('job' in found ? found.job.outputs : []));
  return [...new Set(named.flatMap((output) => (output.kind === 'report' ? [output.report] : [])))];
}

async function listItems(files: JobFiles): Promise<readonly ReportItem[]> {
  const shipped = await listReports();
  const names = new Set(shipped.map(({ name }) => name));
  const own = (await projectReports(files)).filter((name) => !names.has(name));
  const items = await Promise.all(
    own.map(async (name): Promise<ReportItem> => {
      try {
        return reportItem({ name, ...(await openReport(name)).front });
      } catch (error) {
        return { name, title: name, doc: '', params: [], error: formatError(error) };
      }
    }),
  );
  return [...items, ...shipped.map(reportItem)];
}

function reportItem({ name, title, doc, params = {} }: ReportListing): ReportItem {
  return {
    name,
    title,
    doc,
    error: null,
    params: Object.entries(params).map(([param, { type, doc: about, default: value, required, choices }]) => ({
      name: param,
      type,
      doc: about,
      value: value?.toString() ?? '',
      isRequired: required === true && value === undefined,
      choices: choices ?? [],
    })),
  };
}

/** Refuses reports outside of the list, so that no request reads other files. @throws {UsageError} `unknown-report` */
async function requireListed(files: JobFiles, report: string): Promise<void> {
  const items = await listItems(files);
  if (items.some(({ name }) => name === report)) return;
  throw usage(
    'a report of the list',
    JSON.stringify(report),
    'reports of the project are those that its jobs publish',
    { code: 'unknown-report' },
  );
}
