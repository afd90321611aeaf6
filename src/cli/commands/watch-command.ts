import { type Command, Option } from 'commander';
import { formatCount, formatDuration } from '../../core/format.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Store } from '../../warehouse/index.ts';
import type { WatchEvent, WatchReport } from '../../watch/watch.ts';
import { type CommonOptions, parseCount, parseDuration, parseRps, withPlace } from '../common-options.ts';
import { placeOf } from '../find-warehouse.ts';
import { watchInterrupts } from '../interrupts.ts';
import { pasteable } from '../invocation.ts';

interface WatchFlags extends CommonOptions {
  readonly account?: readonly string[];
  readonly message?: readonly string[];
  readonly every: number;
  readonly for?: number;
  readonly polls?: number;
  readonly store?: Store['kind'];
  readonly rps?: number | 'auto';
  readonly json?: boolean;
}

const HELP = `
Pending data is a prediction: some of it never gets on chain, and an empty response proves nothing. Rows are saved every 10 seconds at
first, less often later, and at the end. Once a trace is complete, its rows show how it ended.

Examples:
  tonlake watch --account EQ... --for 30s
  tonlake watch --account EQ... --account 0:AB... --network testnet --every 5s
  tonlake watch --message "$EXTERNAL_MESSAGE_HASH" --polls 20 --json
  tonlake sql "select account, first_seen, last_seen, finality, outcome, final_hash from pending_transactions"`;

const STANDING =
  'note: the head of this sandbox stands still, and what is pending stays so; tonlake sandbox --block-ms 400 starts one that makes blocks';

/** `tonlake watch`: pending transactions of some accounts. */
export function addWatch(program: Command): void {
  withPlace(program.command('watch'))
    .description('poll pending transactions of accounts and store what is seen')
    .option('-a, --account <address>', 'account to watch; repeatable', collect)
    .option('-m, --message <hash>', 'external message to watch, by its plain or normalized hash; repeatable', collect)
    .addOption(
      new Option('--every <time>', 'poll interval: 500ms, 2s, 1m').argParser(parseDuration).default(2_000, '2s'),
    )
    .option('--for <time>', 'stop after this time (default: run until Ctrl-C)', parseDuration)
    .option('--polls <n>', 'stop after this many polls', parseCount)
    .addOption(new Option('--store <kind>', 'format of a new warehouse').choices(['parquet', 'duckdb']))
    .option('--rps <n>', 'maximum requests per second, or auto to find the limit', parseRps)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(watchLive);
}

async function watchLive(flags: WatchFlags): Promise<void> {
  const [{ watch }, { loadRegistry }, { resolveNetwork }] = await Promise.all([
    import('../../watch/watch.ts'),
    import('../../declare/registry.ts'),
    import('../../http/network.ts'),
  ]);
  const { note, ...place } = await placeOf(flags);
  const interrupts = watchInterrupts(() => {});
  if (note !== undefined) process.stderr.write(`${note}\n`);
  if (resolveNetwork(place.network).kind === 'sandbox') process.stderr.write(`${STANDING}\n`);
  try {
    const report = await watch({
      accounts: flags.account ?? [],
      messages: flags.message ?? [],
      everyMs: flags.every,
      forMs: flags.for,
      polls: flags.polls,
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

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
