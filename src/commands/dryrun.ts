import { formatCount } from '../format.ts';
import { planRun } from '../plan.ts';
import type { RunOptions } from '../run.ts';
import { formatSpans } from '../span.ts';

/** Shows what a run would do. */
export async function dryRun(options: RunOptions, isJson: boolean): Promise<void> {
  const plan = await planRun(options);
  if (isJson) {
    process.stdout.write(`${JSON.stringify(plan)}\n`);
    return;
  }
  const lines = [`range: ${formatSpans(plan.asked)} on ${plan.network}`];
  for (const { pipeline, done, missing, seqnos, requests, isExact } of plan.pipelines) {
    const about = isExact ? '' : 'about ';
    lines.push(
      `${pipeline}: done ${formatSpans(done)}; missing ${formatSpans(missing)} (${formatCount(seqnos)} blocks, ${about}${formatCount(requests)} requests)`,
    );
  }
  lines.push(
    `${plan.pipelines.some(({ isExact }) => !isExact) ? 'at least ' : ''}${formatCount(plan.requests)} requests; nothing was changed`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}
