import { counted, formatBytes, formatCount, formatDuration } from '../core/format.ts';
import { formatSpan, shortSpans } from '../core/span.ts';
import type { EstimateBasis } from '../export/estimate.ts';
import type { RunPlan } from '../export/plan.ts';

/** What the figures of a pipeline are based on. */
const SOURCES: Readonly<Record<EstimateBasis, string>> = {
  headers: ', exact: planned from the headers in the warehouse',
  history: ', estimated from earlier runs',
  sample: ', estimated from one page of the source',
  keys: ', from the keys in the warehouse; more if pages are full or keys have no row',
  least: ' or more; the number of rows is known only after reading them',
};

/** A plan as text. */
export function formatPlan(plan: RunPlan): string {
  const lines = [`${shortSpans(plan.asked)} on ${plan.network}`];
  if (plan.index !== undefined && plan.absent.length > 0) {
    lines.push(`not in the index: ${shortSpans(plan.absent)}; the index has ${formatSpan(plan.index)}`);
  }
  for (const { pipeline, done, missing, seqnos, rows, requests, basis } of plan.pipelines) {
    const ofRows = basis === 'least' ? '' : `, ${counted(rows, 'row')}`;
    const size = seqnos === 0 && rows === 0 ? '' : ` (${counted(seqnos, 'masterchain block')}${ofRows})`;
    const paths = Object.entries(requests).map(([path, count]) => `${formatCount(count)} ${path}`);
    lines.push(
      '',
      pipeline,
      `  done      ${shortSpans(done)}`,
      `  missing   ${shortSpans(missing)}${size}`,
      `  requests  ${paths.length === 0 ? 'none' : `${paths.join(', ')}${basis === undefined ? '' : SOURCES[basis]}`}`,
    );
  }
  if (plan.requests === 0 && plan.unknown.length === 0)
    return `${lines.join('\n')}\n\nnothing to request\nnothing was changed\n`;
  const basis = plan.basis === 'headers' ? 'exact' : 'estimated';
  lines.push(
    '',
    `total ${formatCount(plan.requests)} requests (${basis}), about ${formatBytes(plan.bytes)} of Parquet`,
  );
  if (plan.unknown.length > 0) lines.push(`  plus an unknown number for ${plan.unknown.join(', ')}`);
  for (const [rps, minutes] of Object.entries(plan.minutes)) {
    lines.push(`  at ${rps.padStart(3)} ${rps === '1' ? 'request/s ' : 'requests/s'}  ${formatDuration(minutes * 60)}`);
  }
  lines.push('nothing was changed');
  return `${lines.join('\n')}\n`;
}
