import { parseRange } from '../chain/range.ts';
import { movingPart } from '../chain/slice.ts';
import { formatCount, formatDuration } from '../core/format.ts';
import { formatSpans, shortSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { isOfNow } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { type RunOptions, type RunReport, run } from '../export/run.ts';
import { describeContent } from '../proof/verdicts.ts';
import { requireKind } from '../warehouse/index.ts';
import { describeUnproven } from '../warehouse/query/coverage.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import type { Context } from './context.ts';
import { type LiveOptions, LiveOutput } from './live-output.ts';
import { describeLastUnpublished } from './publishing.ts';
import { limitHeap } from './v8-flags.ts';

export interface RunLiveOptions extends LiveOptions {
  /** The pipelines as the user named them, for the summary. */
  readonly what: string;
}

/** Runs an export and shows it: JSON lines on standard output, or progress and a summary for people. */
export async function runLive(context: Context, options: RunOptions, live: RunLiveOptions): Promise<void> {
  limitHeap();
  const output = await LiveOutput.open(context, options, live, true);
  const report = await run({
    ...options,
    stop: output.signal,
    steps: output.steps,
    onEvent: (event) => output.see(event, isDetail(event), output.events.showRun),
    onRetry: output.retry,
  });
  context.line.end();
  output.throwIfBroken();
  const isInterrupted = context.signal.aborted;
  if (isInterrupted) {
    const fixed = fixedRange(options, report);
    const change = fixed === options.range ? '' : ` with --range ${fixed}`;
    context.line.print(`interrupted: committed rows are kept; run the same command again${change} to continue`);
  }
  const failure = output.finish();
  if (isInterrupted) {
    if (failure !== undefined) context.line.print(describeLastUnpublished(failure, live.publish));
    process.exitCode = 130;
    return;
  }
  if (!context.isJson) context.write(await summary(context, report, options, live.what));
  if (!report.complete) process.exitCode = 1;
  if (failure !== undefined) throw failure;
  output.requireDelivered();
}

/** Events that only the status line needs. */
export function isDetail({ event }: { readonly event: string }): boolean {
  return event === 'progress' || event === 'planned' || event === 'stages';
}

async function summary(context: Context, report: RunReport, options: RunOptions, what: string): Promise<string> {
  const { network, asked, to, rows, requests, seconds, spans } = report;
  const added = Object.entries(rows)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `${formatCount(count)} ${table}`);
  const empty = spans === 0 ? 'nothing was missing' : 'no rows were found';
  const nothing = report.complete ? empty : 'nothing was added';
  const gain = added.length === 0 ? nothing : added.join(', ');
  const head = `${stateOf(report, options.pipelines)}: ${what} ${shortSpans(asked)} on ${network}: ${gain} (${formatCount(requests)} requests, ${formatDuration(seconds)})\n`;
  const unproven = describeUnproven(report.unproven);
  const read = unproven.length === 0 ? '' : `  unproven: ${unproven.join('; ')}\n`;
  const content = `${contentLines(report.content)}${witnessLine(report)}`;
  const place = { warehouse: options.warehouse };
  if (report.openDays.length > 0) {
    const days = report.openDays.join(', ');
    const open = `${days} ${report.openDays.length === 1 ? 'is' : 'are'} not over: exported up to block ${to}`;
    if (!report.complete) return `${head}  ${open}; run it again later, or accept it with --so-far\n`;
    context.warn(open);
  }
  if (!report.complete) {
    const { isNew } = await requireKind(options.warehouse, options.store);
    const status = isNew ? '' : `see ${suggest('status', '', place)}; `;
    return `${head}${read}${content}  ${status}${runAgain(options, what, report)} fetches the rest\n`;
  }
  const query = firstQuery(options.pipelines, await warehouseRegistry(options.warehouse, options.registry));
  const next = [suggest('sql', `"${query}"`, place), suggest('status', '', place), suggest('show')];
  return `${head}${read}${content}\nNext, query the tables:\n${next.map((command) => `  ${command}\n`).join('')}`;
}

/** Results of comparing transactions with their hashes, a line each. */
function contentLines(counts: RunReport['content']): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${formatCount(count)} ${describeContent(name)}\n`)
    .join('');
}

function witnessLine({ witness }: RunReport): string {
  if (witness === undefined) return '';
  const { agreed, unanswered } = witness;
  const rest = unanswered === 0 ? '' : `; no answer for ${formatCount(unanswered)} more, which nothing else compares`;
  return `  ${formatCount(agreed)} ${agreed === 1 ? 'commit agrees' : 'commits agree'} with the witness${rest}\n`;
}

/** The first words of a summary. Unproven rows are not called complete. */
function stateOf({ complete, unproven }: RunReport, pipelines: readonly string[]): string {
  if (!complete) return 'incomplete';
  const names = pipelines.filter((name) => unproven[name] !== undefined);
  if (names.length === 0) return 'complete';
  return names.length === pipelines.length ? 'exported, unproven' : 'exported, partly unproven';
}

/** The command that continues the run, with the flags that decide what it writes and where. */
function runAgain(options: RunOptions, what: string, report: RunReport): string {
  const { slice, warehouse, store, from, history, registry } = options;
  const { network } = report;
  const range = fixedRange(options, report);
  const words = history === true ? `${what} --history` : what;
  return suggest('run', words, { network, range, slice, warehouse, pipelines: registry?.folder, store, from });
}

/** The requested range; as blocks, if the same text would mean other blocks later. Lists of a whole network have none. */
function fixedRange({ range, pipelines, registry }: RunOptions, { asked }: RunReport): string {
  const needsBlocks = pipelines.some((name) => registry === undefined || !isOfNow(registry.pipeline(name)));
  return needsBlocks && movingPart(parseRange(range)) !== undefined ? formatSpans(asked) : range;
}

/** An example query on an exported table. */
function firstQuery(pipelines: readonly string[], registry: Registry): string {
  const exported = pipelines.map((name) => registry.pipeline(name));
  const example = exported.flatMap((pipeline) => pipeline.example ?? [])[0];
  if (example !== undefined) return example;
  const [table = registry.playing('headers').table] = exported.flatMap(({ tables }) => tables);
  return `select count(*) from ${table.name}`;
}
