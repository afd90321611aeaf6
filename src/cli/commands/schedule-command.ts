import type { Command } from 'commander';
import { type Context, inContext } from '../context.ts';
import { withOperations } from '../operations-options.ts';
import type { ResidentFlags } from '../resident-live.ts';
import { requireNeeded } from '../useless-options.ts';

const HELP = `
Jobs on the same warehouse run one after another; jobs on different warehouses run in parallel. Missed runs are caught up, oldest
first, up to the job's catch_up. On SIGTERM or Ctrl-C, the current run has --drain seconds to finish; then it stops after the current
span. A second signal stops it at once. Committed rows are never lost, and the next start resumes the run.

Examples:
  tonlake job schedule pipelines/jobs
  tonlake job schedule nightly.yaml --metrics 127.0.0.1:9464 --drain 300

Exit codes: 0 drained, 1 failed, 2 invalid usage or job file.`;

/** `tonlake job schedule`: runs jobs when they are due, until it is stopped. */
export function addSchedule(job: Command): void {
  const command = job
    .command('schedule')
    .description('run jobs on their schedules until stopped')
    .argument('[path...]', 'job files or folders of job files (default: jobs, or pipelines/jobs)');
  withOperations(command)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(
      inContext(async (context: Context<ResidentFlags>, paths: readonly string[]) => {
        if (context.flags.metrics === undefined) requireNeeded(context, '--metrics', ['metricsPublic']);
        const [{ scheduleLive }, { openJobs }] = await Promise.all([
          import('../resident-live.ts'),
          import('../job-files.ts'),
        ]);
        await scheduleLive(context, () => openJobs(paths));
      }),
    );
}
