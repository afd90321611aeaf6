import { type Command, InvalidArgumentError, Option } from 'commander';
import { requireLocalPath } from '../../files/local-path.ts';
import type { FollowHeadOptions } from '../../follow/follow-head.ts';
import { runOptions } from '../../jobs/step-options.ts';
import {
  budgetOption,
  named,
  optionOf,
  parseCount,
  parseDuration,
  withPlace,
  witnessOption,
} from '../common-options.ts';
import { type Context, inContext } from '../context.ts';
import { type FeedFlags, feedsOf, withFeeds } from '../feed-options.ts';
import { withOperations } from '../operations-options.ts';
import { refuseOthersWith, refuseWithout } from '../option-conflicts.ts';
import type { PendingFlags } from '../pending-live.ts';
import { namedPipelines } from '../pipeline-names.ts';
import { type PublishFlags, publishPlaceOf, withPublishing } from '../publishing.ts';
import type { ResidentFlags } from '../resident-live.ts';
import { collectInSteps } from '../v8-flags.ts';
import { withSelection } from './selection-options.ts';

/** Flags that are options of following. */
const SAME = [
  ...(['from', 'backfill', 'marts', 'store', 'rps', 'budget', 'witness', 'concurrency'] as const),
  ...(['without', 'columns'] as const),
] as const satisfies readonly (keyof FollowHeadOptions)[];

interface FollowFlags
  extends PendingFlags,
    FeedFlags,
    PublishFlags,
    ResidentFlags,
    Pick<FollowHeadOptions, (typeof SAME)[number]> {
  readonly lag?: number;
  readonly refresh?: Readonly<Record<string, number>>;
  readonly withoutColumn?: readonly string[];
  readonly jobs?: readonly string[];
  readonly maxLag?: number;
  readonly log?: string;
}

const LAG_MS = 30_000;

const HELP = `
It exports what is missing, like run, and then keeps up with the head until it is stopped. Each round requests the head once, and all new
blocks in windows. Blocks that are not indexed yet delay no others: they are retried, less and less often. Once the source has responded,
follow waits until failures pass: a source that is down, a full disk, a refused key whose file is replaced. It ends, before anything is
written, if the source serves another chain than that of the warehouse.

With --pending, it polls pending transactions instead, and stores what is seen. They are a prediction: some never get on chain, and an
empty response proves nothing. Each record is a row when it is first seen, and whenever it has changed. Rows are saved every 10 seconds at
first, less often later, and at the end. What became of them is a query: the view pending_outcomes, once transactions and traces of the same
time are exported.

Examples:
  tonlake follow --network testnet
  tonlake follow transactions jetton_transfers --network testnet --lag 10s
  tonlake follow --network testnet --from 2026-05-01 --refresh jetton_masters=1h
  tonlake follow transactions --network testnet --marts transactions_daily,gas_fees_daily
  tonlake follow --network testnet --from 2026-05-01 --backfill 2026-01-01:2026-04-30
  tonlake follow --network testnet --lag 10s --metrics 127.0.0.1:9464 --max-lag 5m
  tonlake follow --network testnet --on-commit https://example.org/commits --on-commit 'cat >> commits.jsonl'
  tonlake follow --network testnet --alerts alerts
  tonlake follow --network testnet --jobs jobs
  tonlake follow --pending EQ... --pending 0:AB... --network testnet --every 5s --for 10m

Exit codes: 1 failed, 2 invalid usage, 130 stopped by Ctrl-C or SIGTERM.`;

/** `tonlake follow`: keeps a warehouse current. */
export function addFollow(program: Command): void {
  const command = withPlace(program.command('follow'))
    .summary('keep a warehouse current, until stopped')
    .description('keep a warehouse current: export what is missing, then follow the head until stopped')
    .argument('[pipeline...]', 'pipelines to follow, with those they depend on (default: transactions)')
    .option(
      '--from <range>',
      'first block, as the start of a range: 2026-05-01, -1000:, 47670000 (default: where following began; at first the end of what is proven, or the head)',
    )
    .option(
      '--lag <time>',
      'target time from a block to its rows, at least 1s, which sets the interval of requests (default: 30s)',
      parseDuration,
    )
    .option(
      '--refresh <list=time>',
      'how often to read a changing list, such as jetton_masters=1h; repeatable (default: 1h for each that is followed)',
      collectRefresh,
    )
    .option('--backfill <range>', 'older range to export beside the head, with what it leaves of the rate limit')
    .option(
      '--marts <names>',
      'marts to keep current, in a tenth of the time: all, or names separated by commas (default: none)',
      parseMarts,
    )
    .option(
      '--pending <account>',
      'follow pending transactions of this account instead, or of an external message by its plain or normalized hash; repeatable',
      collect,
    )
    .option('--every <time>', 'with --pending: poll interval: 500ms, 2s, 1m (default: 2s)', parseDuration)
    .option('--for <time>', 'with --pending: stop after this time (default: run until Ctrl-C)', parseDuration)
    .addOption(new Option('--store <kind>', 'format of a new warehouse').choices(['parquet', 'duckdb']));
  withOperations(withPublishing(withFeeds(withSelection(command))))
    .addOption(optionOf('--rps <n>', runOptions.rps))
    .addOption(budgetOption())
    .addOption(witnessOption())
    .option('--concurrency <n>', 'maximum concurrent requests (default: 8)', parseCount)
    .option(
      '--jobs <path>',
      'run the jobs of this file or folder on their schedules beside the head; repeatable',
      collect,
    )
    .option('--max-lag <time>', 'lag above which /healthz answers 503 (default: three times --lag)', parseDuration)
    .option('--json', 'print one JSON object per line')
    .option('--log <path>', 'append all events and retries to a file, as JSON lines')
    .addHelpText('after', HELP)
    .action(inContext(follow));
}

/** Options that can be combined with --pending. */
const PENDING_OPTIONS = [
  'every',
  'for',
  'store',
  'rps',
  'budget',
  'json',
] as const satisfies readonly (keyof PendingFlags)[];

async function follow(context: Context<FollowFlags>, words: readonly string[]): Promise<void> {
  const { flags } = context;
  const { log: logPath, lag = LAG_MS, pending, jobs: paths } = flags;
  if (logPath !== undefined) requireLocalPath(logPath, '--log');
  if (pending !== undefined) {
    const hintOf = () => 'follow pending transactions with a separate command';
    refuseOthersWith(context, 'pending', PENDING_OPTIONS, { words, hintOf });
    const { pendingLive } = await import('../pending-live.ts');
    return pendingLive(context, pending);
  }
  refuseWithout(context, '--pending', ['every', 'for']);
  if (flags.metrics === undefined) refuseWithout(context, '--metrics', ['metricsPublic', 'maxLag']);
  if (paths === undefined) refuseWithout(context, '--jobs', ['drain']);
  collectInSteps();
  const [{ followLive }, { openJobs }] = await Promise.all([import('../resident-live.ts'), import('../job-files.ts')]);
  const jobs = paths === undefined ? [] : await openJobs(paths);
  const { note, ...place } = await context.place();
  const options = { ...(await followOptions(context, words)), ...place };
  const exported = [...options.pipelines, ...Object.keys(options.refreshMs)];
  const publish = await publishPlaceOf(context, options.network);
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const feeds = await feedsOf(flags, { ...options, pipelines: exported });
  await followLive(
    context,
    { options, logPath, maxLagMs: flags.maxLag ?? 3 * lag, note, publish, feeds, command },
    jobs,
  );
}

async function followOptions(context: Context<FollowFlags>, words: readonly string[]) {
  const { flags, effects } = context;
  const registry = await context.pipelines();
  const { refresh: refreshMs = {} } = flags;
  return {
    ...named(flags, SAME),
    pipelines: await namedPipelines('follow', words, registry, Object.keys(refreshMs)),
    registry,
    refreshMs,
    lagMs: flags.lag,
    effects,
    withoutColumns: flags.withoutColumn,
  };
}

function collect(word: string, before: readonly string[] = []): readonly string[] {
  return [...before, word];
}

/** `all`, or names such as `transactions_daily,accounts`. */
function parseMarts(text: string): 'all' | readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('Expected all, or names of marts separated by commas.');
  return names.includes('all') ? 'all' : names;
}

/** Adds a cadence such as `jetton_masters=1h`. */
function collectRefresh(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, name, time] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || time === undefined) throw new InvalidArgumentError('Expected list=time.');
  return { ...before, [name]: parseDuration(time) };
}
