import { requireSoundAddress } from '../core/address.ts';
import { formatCount, formatDuration } from '../core/format.ts';
import { suggest } from '../core/suggest.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { resolveNetwork } from '../http/network.ts';
import type { WatchEvent, WatchOptions, WatchReport } from '../watch/watch.ts';
import { named } from './common-options.ts';
import type { Context, ContextFlags } from './context.ts';

/** Flags of `follow` that apply to pending transactions. */
export interface PendingFlags extends ContextFlags, Pick<WatchOptions, 'store' | 'rps' | 'budget'> {
  /** Accounts, and hashes of external messages. */
  readonly pending?: readonly string[];
  readonly every?: number;
  readonly for?: number;
}

/** A hash of an external message; anything else is taken for an account. */
const HASH = /^([0-9a-f]{64}|[\w+/-]{43}=?)$/i;

/** `tonlake follow --pending`: polls pending transactions, and stores what is seen. */
export async function pendingLive(context: Context<PendingFlags>, pending: readonly string[]): Promise<void> {
  const { watch } = await import('../watch/watch.ts');
  const { flags, line } = context;
  const { note, ...place } = await context.place();
  if (note !== undefined) line.print(note);
  if (resolveNetwork(place.network).kind === 'sandbox') {
    const moving = suggest('sandbox', '--block-ms 400');
    line.print(
      `note: the head of this sandbox stands still, and what is pending stays so; ${moving} starts one that makes blocks`,
    );
  }
  for (const word of pending) requireSoundAddress(word, place.network);
  const registry = await context.pipelines();
  const report = await watch({
    accounts: pending.filter((word) => !HASH.test(word)),
    messages: pending.filter((word) => HASH.test(word)),
    everyMs: flags.every,
    forMs: flags.for,
    ...place,
    registry,
    ...named(flags, ['store', 'rps', 'budget']),
    stop: context.signal,
    onEvent: (event) => {
      const text = describeEvent(event);
      if (context.isJson) context.print(event, () => '');
      else if (text !== undefined) line.print(text);
    },
  });
  const { pipeline } = registry.playing('pendingTransactions');
  if (!context.isJson) context.write(summary(report, place.warehouse, pipeline));
  if (context.signal.aborted) process.exitCode = 130;
}

function describeEvent(event: WatchEvent): string | undefined {
  if (event.event === 'trace') return `pending:   ${event.externalHash}`;
  return event.event === 'problem' ? `problem: ${event.message}` : undefined;
}

function summary(report: WatchReport, warehouse: string, { example = '' }: PipelineDef): string {
  const { network, polls, rows, traces, requests, seconds } = report;
  const counts = Object.entries(rows).map(([table, count]) => `${formatCount(count)} ${table}`);
  const head = `watched ${network}: ${formatCount(traces)} traces; ${counts.join(', ')}`;
  const next = suggest('sql', `"${example}"`, { warehouse });
  return `${head} (${formatCount(polls)} polls, ${formatCount(requests)} requests, ${formatDuration(seconds)})\n\nNext:\n  ${next}\n`;
}
