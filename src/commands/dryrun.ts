import { formatBytes, formatCount, formatDuration } from '../format.ts';
import { planRun, type RunPlan } from '../plan.ts';
import type { RunOptions } from '../run.ts';
import { formatSpans } from '../span.ts';

/** Shows what a run would do. */
export async function dryRun(options: RunOptions, isJson: boolean): Promise<void> {
  const plan = await planRun(options);
  process.stdout.write(isJson ? `${JSON.stringify(plan)}\n` : formatPlan(plan));
}

function formatPlan(plan: RunPlan): string {
  const lines = [`${formatSpans(plan.asked)} on ${plan.network}`];
  for (const { pipeline, done, missing, seqnos, rows, requests } of plan.pipelines) {
    const paths = Object.entries(requests).map(([path, count]) => `${formatCount(count)} ${path}`);
    lines.push(
      '',
      pipeline,
      `  done      ${formatSpans(done)}`,
      `  missing   ${formatSpans(missing)} (${formatCount(seqnos)} masterchain blocks, ${formatCount(rows)} rows)`,
      `  requests  ${paths.length === 0 ? 'none' : paths.join(', ')}`,
    );
  }
  const band = plan.band === 0 ? '' : ` ± ${formatCount(plan.band)}`;
  const basis = plan.basis === 'headers' ? 'from all headers' : 'from a sample of the headers';
  lines.push(
    '',
    `in all ${formatCount(plan.requests)}${band} requests (${basis}), ${formatBytes(plan.bytes)} of Parquet`,
  );
  for (const [rps, minutes] of Object.entries(plan.minutes)) {
    lines.push(`  at ${rps.padStart(3)} requests/s  ${formatDuration(minutes * 60)}`);
  }
  lines.push('nothing was changed');
  return `${lines.join('\n')}\n`;
}
