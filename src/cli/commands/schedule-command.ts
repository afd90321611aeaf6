import type { Command } from 'commander';
import { parseNonNegative } from '../common-options.ts';

interface ScheduleFlags {
  readonly metrics?: string;
  readonly metricsPublic?: boolean;
  readonly drain: number;
  readonly json?: boolean;
}

const HELP = `
Jobs of one warehouse run one after the other, those of several side by side. Runs that were missed are made up for, oldest first, as
the job's catch_up says. The first SIGTERM or Ctrl-C lets the run under way end, for as long as --drain says, then stops it after the
span in hand; the second ends at once. Nothing that was committed is lost, and the next start goes on.

Examples:
  tonlake schedule pipelines/jobs
  tonlake schedule nightly.yaml --metrics 127.0.0.1:9464 --drain 300

Exit codes: 0 drained, 1 failed, 2 wrong usage or a wrong file.`;

/** `tonlake schedule`: runs jobs when they come due, until it is told to end. */
export function addSchedule(program: Command): void {
  program
    .command('schedule')
    .description('run jobs when they come due, until it is told to end')
    .argument('[path...]', 'job files, or folders of them (default: jobs, or pipelines/jobs)')
    .option('--metrics <address>', 'serve /metrics and /healthz there, on this machine only: 127.0.0.1:9464')
    .option(
      '--metrics-public',
      'let --metrics be any address, such as 0.0.0.0:9464: who reaches it reads them, without a password',
    )
    .option('--drain <seconds>', 'how long a run under way may go on after SIGTERM', parseNonNegative, 60)
    .option('--json', 'one JSON object per line on standard output')
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], flags: ScheduleFlags) => {
      const { scheduleLive } = await import('../schedule-live.ts');
      const { metrics, metricsPublic: isPublic = false, drain, json: isJson = false } = flags;
      await scheduleLive({ paths, metrics, isPublic, drainMs: drain * 1000, isJson });
    });
}
