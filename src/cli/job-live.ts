import { realEffects } from '../core/effects.ts';
import { jobActions } from '../jobs/default-actions.ts';
import type { Job } from '../jobs/job.ts';
import { type JobEvent, runJob } from '../jobs/run-job.ts';
import { describeRecord, describeStep } from '../jobs/show-job.ts';
import { watchInterrupts } from './interrupts.ts';
import { pasteable, rememberPlace } from './invocation.ts';
import { openProgress } from './progress-bar.ts';
import { limitHeap } from './run-live.ts';
import { print } from './streams.ts';

/** Runs a job once: prints JSON lines to standard output, or steps to standard error and the result to standard output. */
export async function runOnce(job: Job, due: number | undefined, isJson: boolean): Promise<void> {
  limitHeap();
  rememberPlace({ warehouse: job.warehouse, network: job.network });
  const progress = await openProgress(isJson);
  const interrupts = watchInterrupts(progress.tell);
  try {
    const { record, error } = await runJob({
      ...{ job, actions: jobActions, effects: realEffects, due, stop: interrupts.signal },
      onEvent: (event) => {
        progress.end();
        if (isJson) process.stdout.write(`${JSON.stringify(event)}\n`);
        else process.stderr.write(pasteable(describeEvent(event)));
      },
      onRunEvent: progress.show,
    });
    print({ event: 'end', ...record }, isJson, describeRecord);
    if (error !== undefined) throw error;
    if (record.state === 'interrupted') {
      process.stderr.write(`interrupted: committed rows are kept; run the same command again to continue\n`);
      process.exitCode = 130;
    }
  } finally {
    progress.end();
    interrupts.close();
  }
}

function describeEvent(event: JobEvent): string {
  if (event.event === 'begin') {
    return event.attempt === 1 ? '' : `${event.job}: resuming the run of ${event.due}\n`;
  }
  const failed = event.kind === 'notify' && event.status === 'failed' ? 'warning: ' : '';
  return `${failed}${describeStep(event)}\n`;
}
