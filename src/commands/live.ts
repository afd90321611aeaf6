import { formatCount, formatDuration } from '../format.ts';
import { type RunOptions, run } from '../run.ts';
import { invocation, shellWord } from './options.ts';
import { openProgress } from './progress.ts';

/** Runs an export and shows it: JSON lines on standard output, or progress and a summary for people on standard error. */
export async function runLive(options: RunOptions, isJson: boolean): Promise<void> {
  const interrupts = watchInterrupts();
  const progress = openProgress(isJson);
  try {
    const report = await run({
      ...options,
      stop: interrupts.signal,
      onEvent: (event) => {
        if (isJson && event.event !== 'progress') process.stdout.write(`${JSON.stringify(event)}\n`);
        progress.show(event);
      },
      onRetry: progress.retry,
    });
    progress.end();
    if (interrupts.signal.aborted) {
      process.stderr.write(
        'interrupted: everything up to the last span is kept; the same command goes on from there\n',
      );
      process.exitCode = 130;
      return;
    }
    if (!isJson) process.stdout.write(summary(report, options));
    if (!report.complete) process.exitCode = 1;
  } finally {
    progress.end();
    interrupts.close();
  }
}

function summary(report: Awaited<ReturnType<typeof run>>, options: RunOptions): string {
  const { network, pipeline, from, to, rows, requests, seconds } = report;
  const added = Object.entries(rows)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `${formatCount(count)} ${table}`);
  const what = added.length === 0 ? 'nothing was missing' : added.join(', ');
  const state = report.complete ? 'complete' : 'incomplete';
  const head = `${state}: ${pipeline} ${from}:${to} on ${network}: ${what} (${formatCount(requests)} requests, ${formatDuration(seconds)})\n`;
  const place = `--warehouse ${shellWord(options.warehouse)}`;
  if (!report.complete) {
    const again = `tonlake run ${options.pipelines.join(' ')} --network ${shellWord(network)} --range ${shellWord(options.range)}`;
    return `${head}  see ${invocation()} status ${place}; ${again} asks for the rest\n`;
  }
  const sql =
    'select descr, count(*) as transactions, sum(total_fees) / 1e9 as fees_ton from transactions group by all';
  return `${head}\nNext, ask the tables:\n  ${invocation()} sql "${sql}" ${place}\n  ${invocation()} status ${place}\n  ${invocation()} describe\n`;
}

interface Interrupts {
  readonly signal: AbortSignal;
  close(): void;
}

/** The first Ctrl-C ends after the span in flight, the second at once; both lose nothing that was committed. */
function watchInterrupts(): Interrupts {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
    process.stderr.write('\ninterrupted: ending after the span in flight; press Ctrl-C again to stop at once\n');
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    signal: controller.signal,
    close: () => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    },
  };
}
