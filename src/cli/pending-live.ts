import { formatCount, formatDuration } from '../core/format.ts';
import { shellWord } from '../core/shell-word.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Store } from '../warehouse/index.ts';
import type { WatchEvent, WatchReport } from '../watch/watch.ts';
import type { CommonOptions } from './common-options.ts';
import { placeOf } from './find-warehouse.ts';
import { watchInterrupts } from './interrupts.ts';
import { pasteable } from './invocation.ts';

/** Flags of `follow` that apply to pending transactions. */
export interface PendingFlags extends CommonOptions {
  /** Accounts, and hashes of external messages. */
  readonly pending?: readonly string[];
  readonly every?: number;
  readonly for?: number;
  readonly store?: Store['kind'];
  readonly rps?: number | 'auto';
  readonly json?: boolean;
}

const STANDING =
  'note: the head of this sandbox stands still, and what is pending stays so; tonlake sandbox --block-ms 400 starts one that makes blocks';

/** A hash of an external message; anything else is taken for an account. */
const HASH = /^([0-9a-f]{64}|[\w+/-]{43}=?)$/i;

/** `tonlake follow --pending`: polls pending transactions, and stores what is seen. */
export async function pendingLive(flags: PendingFlags & { readonly pending: readonly string[] }): Promise<void> {
  const [{ watch }, { loadRegistry }, { resolveNetwork }] = await Promise.all([
    import('../watch/watch.ts'),
    import('../declare/registry.ts'),
    import('../http/network.ts'),
  ]);
  const { note, ...place } = await placeOf(flags);
  const interrupts = watchInterrupts(() => {});
  if (note !== undefined) process.stderr.write(`${note}\n`);
  if (resolveNetwork(place.network).kind === 'sandbox') process.stderr.write(`${STANDING}\n`);
  try {
    const report = await watch({
      accounts: flags.pending.filter((word) => !HASH.test(word)),
      messages: flags.pending.filter((word) => HASH.test(word)),
      everyMs: flags.every,
      forMs: flags.for,
      ...place,
      store: flags.store,
      rps: flags.rps,
      stop: interrupts.signal,
      onEvent: (event) => show(event, flags.json === true),
    });
    const { pipeline } = (await loadRegistry()).playing('pendingTransactions');
    if (flags.json !== true) process.stdout.write(summary(report, place.warehouse, pipeline));
    if (interrupts.signal.aborted) process.exitCode = 130;
  } finally {
    interrupts.close();
  }
}

function show(event: WatchEvent, isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(event)}\n`);
  else if (event.event === 'trace') process.stderr.write(`pending:   ${event.externalHash}\n`);
  else if (event.event === 'settled') {
    process.stderr.write(`complete:  ${event.externalHash} in block ${event.seqno}, trace ${event.traceId}\n`);
  }
  if (event.event === 'problem') process.stderr.write(`problem: ${event.message}\n`);
}

function summary(report: WatchReport, warehouse: string, { example = '' }: PipelineDef): string {
  const { network, polls, rows, traces, settled, requests, seconds } = report;
  const counts = Object.entries(rows).map(([table, count]) => `${formatCount(count)} ${table}`);
  const head = `watched ${network}: ${formatCount(traces)} traces, ${formatCount(settled)} of them complete; ${counts.join(', ')}`;
  const next = pasteable(`tonlake sql "${example}" --warehouse ${shellWord(warehouse)}`);
  return `${head} (${formatCount(polls)} polls, ${formatCount(requests)} requests, ${formatDuration(seconds)})\n\nNext:\n  ${next}\n`;
}
