import { basename, extname } from 'node:path';
import type { Hono } from 'hono';
import { usage } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { suggest } from '../core/suggest.ts';
import { filesOf } from '../jobs/output-files.ts';
import { JOB_NAME } from '../jobs/parse-job.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { readLog } from '../jobs/run-log.ts';
import type { JobRecord, StagedOutput } from '../jobs/run-record.ts';
import type { PipelineStatus } from '../warehouse/query/status.ts';
import type { StatusCache } from './commit-cache.ts';
import { type JobFiles, jobItem } from './read-job-files.ts';
import { readRuns, runItem } from './read-runs.ts';
import { sendReport } from './send-report.ts';
import type { SharedReader } from './shared-reader.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { Jobs, OutputItem, RunDetail } from './ui-types.ts';

/** Lines of a log that are shown. */
const MAX_LINES = 2_000;

interface JobPlaces {
  readonly warehouse: string;
  readonly shared: SharedReader;
  readonly status: StatusCache;
  readonly files: JobFiles;
}

/** Jobs, their runs with steps and logs, and the files that they published. */
export function addJobRoutes(app: Hono<UiEnvironment>, places: JobPlaces): void {
  const { warehouse, files } = places;
  app.get('/api/jobs', async (c) => {
    const now = Date.now();
    const found = await files.read(now);
    const jobs: Jobs = {
      beginCommand: suggest('init'),
      jobs: found.map((each) => jobItem(each, now)),
      runs: await readRuns(warehouse, await pipelinesOf(places)),
    };
    return c.json(jobs);
  });
  app.get('/api/jobs/:job/runs/:id', async (c) => {
    const { record, history } = await findRun(warehouse, c.req.param('job'), c.req.param('id'));
    const log = await readLog(history.folder, record);
    const detail: RunDetail = {
      run: await runItem(record, history, await pipelinesOf(places)),
      log: log.slice(-MAX_LINES),
      logLines: log.length,
      outputs: record.state === 'done' ? await Promise.all(record.outputs.map(outputItem)) : [],
    };
    return c.json(detail);
  });
  app.get('/api/jobs/:job/runs/:id/outputs/:at', async (c) => {
    const { record } = await findRun(warehouse, c.req.param('job'), c.req.param('id'));
    const output = record.outputs[Number(c.req.param('at'))];
    const bytes = output === undefined ? undefined : await publishedBytes(output);
    if (output === undefined || bytes === undefined) return c.text('not found\n', 404);
    if (isPage(output)) return sendReport(c, bytes.toString('utf8'));
    c.header('Content-Type', 'application/octet-stream');
    c.header('Content-Disposition', `attachment; filename*=UTF-8''${encodeURIComponent(basename(output.path))}`);
    return c.body(new Uint8Array(bytes));
  });
}

/** The status of the pipelines; undefined while a warehouse of one file is being written. */
function pipelinesOf({ shared, status }: JobPlaces): Promise<readonly PipelineStatus[] | undefined> {
  return shared.use(async (opened) => (await status.get(opened)).pipelines).catch(() => undefined);
}

/** @throws {UsageError} `unknown-run` */
async function findRun(
  warehouse: string,
  job: string,
  id: string,
): Promise<{ readonly record: JobRecord; readonly history: JobHistory }> {
  const history = JOB_NAME.test(job) ? await JobHistory.open(warehouse, job) : undefined;
  const record = await history?.find(id);
  if (history !== undefined && record !== undefined) return { record, history };
  throw usage('a run of a job', `${job} ${id}`, 'the last 1,000 runs of a job are kept', { code: 'unknown-run' });
}

async function outputItem(output: StagedOutput): Promise<OutputItem> {
  const { path, bytes, sha256 } = output;
  const found = await filesOf(path).sum(path);
  const state = found === undefined ? 'gone' : found.sha256 === sha256 ? 'published' : 'replaced';
  return { path, bytes, state, isPage: isPage(output) };
}

function isPage({ path }: StagedOutput): boolean {
  return extname(path).toLowerCase() === '.html';
}

/** The bytes of a file that a run published; undefined if they are others now, because the file may be anybody's. */
async function publishedBytes({ path, sha256 }: StagedOutput): Promise<Buffer | undefined> {
  const bytes = await filesOf(path)
    .read(path)
    .catch(() => undefined);
  return bytes !== undefined && sha256Of(bytes) === sha256 ? bytes : undefined;
}
