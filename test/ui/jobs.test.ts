import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { readMark } from '../../src/files/process-liveness.ts';
import { openJob } from '../../src/jobs/check-job.ts';
import { jobActions } from '../../src/jobs/job-actions.ts';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { runJob } from '../../src/jobs/run-job.ts';
import { logPath } from '../../src/jobs/run-log.ts';
import type { JobRecord } from '../../src/jobs/run-record.ts';
import { addEventRoute } from '../../src/ui/event-route.ts';
import type { UiServer } from '../../src/ui/serve-ui.ts';
import { SharedReader } from '../../src/ui/shared-reader.ts';
import type { UiEnvironment } from '../../src/ui/ui-options.ts';
import type { Jobs, Overview, RenderedItem, ReportItem, RunDetail, Session } from '../../src/ui/ui-types.ts';
import type { OpenWarehouse } from '../../src/warehouse/query/warehouse-registry.ts';
import { freshFolder } from '../scratch.ts';
import { serveWarehouse, Visitor } from './support.ts';

const HOSTILE = '<img src=x onerror="alert(1)">';

let folder: string;
let warehouse: string;
let history: JobHistory;
let done: JobRecord;
let server: UiServer;
let visitor: Visitor;

/** Writes a record of the nightly job beside that of the real run. */
async function record(due: string, change: Partial<JobRecord>): Promise<JobRecord> {
  const id = due.replace(/[-:]|\.\d+/g, '');
  const owner = await readMark();
  const attempts = [{ startedAt: due, endedAt: due, owner }];
  const { error: _, ...base } = { ...done, id, due, outputs: [], steps: [], attempts };
  const value: JobRecord = { ...base, ...change };
  await history.write(value, realEffects);
  return value;
}

beforeAll(async () => {
  folder = freshFolder();
  warehouse = join(folder, 'w');
  const jobs = join(folder, 'jobs');
  mkdirSync(join(folder, 'notes'), { recursive: true });
  mkdirSync(jobs);
  const report = join(folder, 'notes', 'report.md');
  writeFileSync(
    report,
    `---\ntitle: Notes\ndoc: What was written.\nparams:\n  text: {type: text, doc: any text, default: none}\n---\n\n\`\`\`sql said\nselect $text as said\n\`\`\`\n\n\`\`\`table said\ntitle: Said\n\`\`\`\n`,
  );
  const text = (place: string): string => `doc: Every night.
network: sandbox
warehouse: ${place}
pipelines: [blocks]
range: '1000:1009'
reports:
  - {report: ${report}, output: ${join(folder, 'out', 'notes.html')}, params: {text: '${HOSTILE}'}}
exports:
  - {table: blocks, output: ${join(folder, 'out', 'blocks.csv')}}
schedule: {cron: '15 3 * * *'}
`;
  writeFileSync(join(jobs, 'nightly.yaml'), text(warehouse));
  writeFileSync(join(jobs, 'elsewhere.yaml'), text(join(folder, 'other')));
  writeFileSync(join(jobs, 'broken.yaml'), 'network: sandbox\npipelines: [blcks]\nrange: yesterday\n');
  const job = await openJob(join(jobs, 'nightly.yaml'), { now: Date.now() });
  const outcome = await runJob({ job, actions: jobActions, effects: realEffects, due: Date.UTC(2026, 4, 4, 3, 15) });
  expect(outcome.error).toBeUndefined();
  done = outcome.record;
  history = await JobHistory.open(warehouse, 'nightly');
  server = await serveWarehouse(warehouse, { jobsPath: jobs });
  visitor = await Visitor.enter(server);
});

describe('jobs', () => {
  test('are those of the warehouse, with what they write and when they are due; a broken file says what is wrong', async () => {
    const before = Date.now();
    const { jobs, beginCommand } = await visitor.read<Jobs>('/api/jobs');
    expect(beginCommand).toBe('tonlake init');
    expect((await visitor.read<Session>('/api/session')).writeCommand).toBe('tonlake sql --output');
    expect(jobs.map(({ name }) => name)).toEqual(['broken', 'nightly']);
    expect(jobs[0]?.error).toMatch(/expected a pipeline, got "blcks" .*broken.yaml:2:13/);
    expect(jobs[1]).toMatchObject({
      ...{ doc: 'Every night.', schedule: '15 3 * * * (UTC)', error: null },
      outputs: [join(folder, 'out', 'notes.html'), join(folder, 'out', 'blocks.csv')],
    });
    expect(jobs[1]?.next).toMatch(/T03:15:00.000Z$/);
    expect(Date.parse(jobs[1]?.next ?? '')).toBeGreaterThan(before);
    expect(Date.parse(jobs[1]?.next ?? '')).toBeLessThanOrEqual(Date.now() + 86_400_000);
  });

  test('a run has its steps, its log, and what it published', async () => {
    const { run, log, outputs } = await visitor.read<RunDetail>(`/api/jobs/nightly/runs/${done.id}`);
    expect(run).toMatchObject({ state: 'done', trigger: 'manual', attempts: 1, range: '1000:1009', progress: null });
    expect(run.steps.map(({ kind }) => kind)).toEqual(done.steps.map(({ kind }) => kind));
    expect(log.at(0)).toMatch(/Z attempt 1 of the run of 2026-05-04T03:15:00.000Z begins$/);
    expect(log.some((line) => /blocks: committed 1000:1009 /.test(line))).toBe(true);
    expect(log.at(-1)).toMatch(/Z done$/);
    expect(outputs.map(({ path, state, isPage }) => [path, state, isPage])).toEqual([
      [join(folder, 'out', 'notes.html'), 'published', true],
      [join(folder, 'out', 'blocks.csv'), 'published', false],
    ]);
  });

  test('a published page is shown in a frame of its own origin, and any other file only to keep', async () => {
    const path = `/api/jobs/nightly/runs/${done.id}/outputs`;
    const page = await visitor.get(`${path}/0`);
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*; sandbox allow-scripts$/);
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'");
    expect(page.text).not.toContain(HOSTILE);
    expect(page.text).toContain('&lt;img src=x');
    const csv = await visitor.get(`${path}/1`);
    expect(csv.headers['content-disposition']).toBe("attachment; filename*=UTF-8''blocks.csv");
    expect(csv.text).toBe(readFileSync(join(folder, 'out', 'blocks.csv'), 'utf8'));
    // What is there now may be anybody's.
    appendFileSync(join(folder, 'out', 'blocks.csv'), 'more\n');
    expect((await visitor.get(`${path}/1`)).status).toBe(404);
    const { outputs } = await visitor.read<RunDetail>(`/api/jobs/nightly/runs/${done.id}`);
    expect(outputs.map(({ state }) => state)).toEqual(['published', 'replaced']);
    expect((await visitor.get(`${path}/2`)).status).toBe(404);
  });

  test.each([
    '/api/jobs/..%2F..%2Fjobs/runs/nightly',
    '/api/jobs/nightly/runs/..%2F..%2Ftonlake',
    '/api/jobs/x/runs/1',
  ])('%s is no run', async (path) => {
    const { status, text } = await visitor.get(path);
    expect([status, JSON.parse(text).code]).toEqual([404, 'unknown-run']);
  });

  test('a run under way shows how many of its blocks are done, one whose process is gone was killed, and old failures stay in sight', async () => {
    const owner = await readMark();
    const startedAt = '2026-05-07T03:15:00.000Z';
    await record('2026-05-05T03:15:00.000Z', { state: 'failed', error: { code: 'x', message: HOSTILE } });
    for (let day = 10; day < 17; day++) await record(`2026-05-${day}T03:15:00.000Z`, {});
    await record('2026-05-06T03:15:00.000Z', {
      state: 'running',
      attempts: [{ startedAt, owner: { ...owner, pid: 2 ** 22 + 1, startedAt: '1' } }],
    });
    const running = await record('2026-05-07T03:15:00.000Z', {
      ...{ state: 'running', attempts: [{ startedAt, owner }] },
      range: { blocks: '1005:1014', from: 1005, to: 1014 },
    });
    const { runs } = await visitor.read<Jobs>('/api/jobs');
    const of = (id: string) => runs.find((run) => run.id === id);
    expect(of(running.id)).toMatchObject({ state: 'running', progress: { done: 5, total: 10 }, range: '1005:1014' });
    expect(of('20260506T031500Z')).toMatchObject({ state: 'killed', progress: null });
    const overview = await visitor.read<Overview>('/api/overview');
    expect(overview.beginCommand).toMatch(
      /^tonlake run transactions --network sandbox --range -1000: --warehouse \S+$/,
    );
    expect(overview.runs[0]?.id).toBe(running.id);
    expect(overview.failures.map(({ state, error }) => [state, error])).toEqual([
      ['killed', null],
      ['failed', HOSTILE],
    ]);
  });

  test('a new line in a log and a new step are told at once, to each open page', async () => {
    const stop = new AbortController();
    const open = async () => {
      const response = await fetch(`http://127.0.0.1:${server.port}/api/events`, {
        ...{ headers: { authorization: visitor.authorization }, signal: stop.signal },
      });
      return response.body?.pipeThrough(new TextDecoderStream()).getReader();
    };
    const pages = [await open(), await open(), await open()];
    const told = async (): Promise<void> => {
      for (const page of pages) {
        for (let text = ''; !text.includes('event: runs'); ) text += (await page?.read())?.value ?? '';
      }
    };
    await told();
    appendFileSync(logPath(history.folder, done), '2026-05-04T03:15:00.000Z more\n');
    await told();
    await record('2026-05-17T03:15:00.000Z', {});
    await told();
    stop.abort();
  });
});

/** Counts how often a warehouse is read. */
class CountedReader extends SharedReader {
  count = 0;
  override use<T>(work: (opened: OpenWarehouse) => Promise<T>): Promise<T> {
    this.count++;
    return super.use(work);
  }
}

test('the ledger is read once a second, however many pages are open', async () => {
  const app = new Hono<UiEnvironment>();
  const shared = new CountedReader(warehouse);
  addEventRoute(app, shared, warehouse);
  const startedAt = performance.now();
  const stop = new AbortController();
  const pages = await Promise.all([1, 2, 3].map(() => app.request('/api/events', { signal: stop.signal })));
  const readers = pages.map(({ body }) => body?.getReader());
  for (const reader of readers) await reader?.read();
  await vi.waitFor(() => expect(shared.count).toBeGreaterThan(2), { timeout: 200_000, interval: 50 });
  expect(shared.count).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1000);
  for (const reader of readers) await reader?.cancel();
  await shared.close();
});

describe('reports', () => {
  test('that take too long are stopped', async () => {
    const hasty = await serveWarehouse(warehouse, { seconds: 0.01 });
    const guest = await Visitor.enter(hasty);
    const answer = await guest.get('/api/reports/render?report=network-daily');
    expect(answer).toMatchObject({ status: 422, text: expect.stringContaining('"error":"expected an end within ') });
  });

  test('are those that come with tonlake and those of the jobs, with their parameters', async () => {
    const reports = await visitor.read<readonly ReportItem[]>('/api/reports');
    expect(reports[0]).toMatchObject({ title: 'Notes', params: [{ name: 'text', value: 'none', isRequired: false }] });
    expect(reports.map(({ name }) => name)).toContain('export-health');
    expect(reports.find(({ name }) => name === 'account')?.params).toContainEqual(
      expect.objectContaining({ name: 'account', type: 'address', isRequired: true }),
    );
  });

  test('are rendered with values as text, in a frame of their own origin', async () => {
    const query = new URLSearchParams({ report: join(folder, 'notes', 'report.md'), $text: HOSTILE });
    const { id, title } = await visitor.read<RenderedItem>(`/api/reports/render?${query}`);
    expect(title).toBe('Notes');
    const { text, headers } = await visitor.get(`/api/reports/pages/${id}`);
    expect(text).toContain('&lt;img src=x');
    expect(text).not.toContain(HOSTILE);
    expect(headers['content-security-policy']).toMatch(/; sandbox allow-scripts$/);
    // Opened by itself, it would be refused with it.
    expect(headers['cross-origin-opener-policy']).toBeUndefined();
  });

  test.each([
    { query: { report: '/etc/passwd' }, status: 404, says: 'expected a report of the list, got ' },
    { query: { report: '../notes/report.md' }, status: 404, says: 'expected a report of the list, got ' },
    { query: { report: 'account' }, status: 400, says: 'expected the parameter account of account, got none' },
    {
      query: { report: 'account', $account: 'x' },
      status: 400,
      says: 'expected an address, raw or user-friendly with its checksum as parameter account, got "x"',
    },
  ])('$query is refused', async ({ query, status, says }) => {
    const answer = await visitor.get(`/api/reports/render?${new URLSearchParams(query as Record<string, string>)}`);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([status, expect.stringContaining(says)]);
  });
});
