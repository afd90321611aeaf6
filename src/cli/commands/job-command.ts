import type { Command } from 'commander';
import { usage } from '../../core/errors.ts';
import { isDate } from '../../core/time-zone.ts';
import { parseCount, parseDuration } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { withOperations } from '../operations-options.ts';
import { refuseOthersWith, refuseWithout } from '../option-conflicts.ts';
import type { ResidentFlags } from '../resident-live.ts';

interface JobFlags extends ContextFlags {
  readonly at?: string;
  readonly limit?: number;
  readonly since?: number;
  readonly dryRun?: boolean;
}

const HELP = `
A job is a YAML file: see docs/jobs.md. The file name is the name of the job. Paths in it are relative to the working folder.

Examples:
  tonlake job run pipelines/jobs/nightly-sandbox.yaml
  tonlake job run nightly.yaml --dry-run
  tonlake job run nightly.yaml --at 2026-05-04T03:15:00Z
  tonlake job list
  tonlake job list pipelines/jobs/nightly-sandbox.yaml
  tonlake job log pipelines/jobs/nightly-sandbox.yaml
  tonlake job log pipelines/jobs/nightly-sandbox.yaml --since 24h || echo 'no run has ended well since yesterday'

Exit codes: 0 success, 1 failed (nothing was published), 2 invalid usage or job file, 130 interrupted.`;

const SCHEDULE_HELP = `
Jobs on the same warehouse run one after another; jobs on different warehouses run in parallel. Missed runs are caught up, oldest
first, up to the job's catch_up. On SIGTERM or Ctrl-C, the current run has --drain seconds to finish; then it stops after the current
span. A second signal stops it at once. Committed rows are never lost, and the next start resumes the run.

Examples:
  tonlake job schedule pipelines/jobs
  tonlake job schedule nightly.yaml --metrics 127.0.0.1:9464 --drain 300

Exit codes: 0 drained, 1 failed, 2 invalid usage or job file.`;

/** `tonlake job`: exports, marts, checks and reports of a job file. */
export function addJob(program: Command): void {
  const job = program
    .command('job')
    .summary('export, build, test and publish by a file, on a schedule')
    .description('run jobs: export, build marts, run checks, publish reports and files')
    .addHelpText('after', HELP);
  withWarehouse(job.command('run'))
    .description('run a job; an interrupted run is resumed with its range')
    .argument('<file>', 'job file')
    .option(
      '--at <time>',
      'run the job as if it were due at this time, in ISO 8601; days are counted back from it (default: now)',
    )
    .option('--dry-run', 'try what the job needs; show what it would export and forget; write nothing')
    .option('--json', 'print one JSON object per line; the last one is the run record')
    .action(inContext(run));
  withWarehouse(job.command('list'))
    .description('check job files, and show what they do, their schedules and runs; sends no requests')
    .argument('[path]', 'job file, or folder of job files for a line each (default: jobs, or pipelines/jobs)')
    .option('--limit <n>', 'maximum number of runs of a job, newest ones', parseCount, 20)
    .option('--json', 'print one JSON object per job; that of a single job has its runs, with all steps')
    .action(
      inContext(async (context: Context<JobFlags>, path: string | undefined) => {
        const { listJobs } = await import('../job-show.ts');
        await listJobs(context, path === undefined ? [] : [path]);
      }),
    );
  withWarehouse(job.command('log'))
    .description('print the log of a run: attempts, commits, problems, steps')
    .argument('<file>', 'job file')
    .argument('[run]', 'id of the run, as job list FILE --json shows it (default: the newest)')
    .option(
      '--since <time>',
      'say whether a run has ended well within this time, such as 24h, and exit with 1 if none has',
      parseDuration,
    )
    .action(
      inContext(async (context: Context<JobFlags>, file: string, id: string | undefined) => {
        const { requireRecent, showLog } = await import('../job-show.ts');
        const { since } = context.flags;
        if (since === undefined) await showLog(context, file, id);
        else {
          refuseOthersWith(context, 'since', [], { words: id === undefined ? [] : [id] });
          await requireRecent(context, file, since);
        }
      }),
    );
  addSchedule(job);
}

function withWarehouse(command: Command): Command {
  return command.option('-w, --warehouse <path>', 'overrides the warehouse of the job file');
}

async function run(context: Context<JobFlags>, file: string): Promise<void> {
  const [{ openJob }, { checkQueries }, { dryRunJob, runOnce }] = await Promise.all([
    import('../../jobs/check-job.ts'),
    import('../../jobs/check-queries.ts'),
    import('../job-live.ts'),
  ]);
  const { at, dryRun, warehouse } = context.flags;
  const job = await openJob(file, { warehouse, now: Date.now() });
  await checkQueries(job);
  await (dryRun === true ? dryRunJob : runOnce)(context, job, parseTime(at));
}

function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isTime = /^.{10}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const ms = isTime && isDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms - (ms % 1000);
  throw usage('a time with a zone', JSON.stringify(text), '--at 2026-05-04T03:15:00Z');
}

/** `tonlake job schedule`: runs jobs when they are due, until it is stopped. */
function addSchedule(job: Command): void {
  const command = job
    .command('schedule')
    .description('run jobs on their schedules until stopped')
    .argument('[path...]', 'job files or folders of job files (default: jobs, or pipelines/jobs)');
  withOperations(command)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', SCHEDULE_HELP)
    .action(
      inContext(async (context: Context<ResidentFlags>, paths: readonly string[]) => {
        if (context.flags.metrics === undefined) refuseWithout(context, '--metrics', ['metricsPublic']);
        const [{ scheduleLive }, { openJobs }] = await Promise.all([
          import('../resident-live.ts'),
          import('../job-files.ts'),
        ]);
        await scheduleLive(context, () => openJobs(paths));
      }),
    );
}
