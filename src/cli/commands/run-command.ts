import { type Command, Option } from 'commander';
import { usage } from '../../core/errors.ts';
import { coversBlocks, isOfNow } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import type { RunOptions } from '../../export/run.ts';
import { requireLocalPath } from '../../files/local-path.ts';
import { runOptions } from '../../jobs/step-options.ts';
import {
  budgetOption,
  named,
  optionOf,
  parseCount,
  parseDurationOrZero,
  parseNonNegative,
  withPlace,
  witnessOption,
} from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { type FeedFlags, feedsOf, withFeeds } from '../feed-options.ts';
import { refuseWith } from '../option-conflicts.ts';
import { namedPipelines } from '../pipeline-names.ts';
import { type PublishFlags, publishPlaceOf, withPublishing } from '../publishing.ts';
import { withSelection } from './selection-options.ts';

/** Flags that are options of a run. */
const SAME = [
  ...(['slice', 'store', 'walk', 'rps', 'priority', 'budget', 'witness', 'concurrency', 'content'] as const),
  ...(['from', 'history', 'soFar', 'without', 'columns'] as const),
] as const satisfies readonly (keyof RunOptions)[];

interface RunFlags extends ContextFlags, FeedFlags, PublishFlags, Pick<RunOptions, (typeof SAME)[number]> {
  readonly all?: boolean;
  readonly range?: string;
  readonly wait?: number;
  readonly commitEvery?: number;
  readonly withoutColumn?: readonly string[];
  readonly dryRun?: boolean;
  readonly log?: string;
}

const HELP = `
Ranges are masterchain seqnos, inclusive at both ends:
  47670000:47671000    these blocks; also 47.67M:47.68M, 47_670_000:47_671_000
  47670000             this block
  1000:1099,1500:1599  several ranges
  -1000:               the last 1000 blocks up to the head
  47670000:            up to the head at the start
  :+1000               the next 1000 blocks after the head, as they come
  2026-05-01           a UTC day; 2026-05-01:2026-05-07 is a week, 2026-05 a month
  yesterday            the previous UTC day; yesterday: is up to the head
  -7d:                 the last 7 days up to the head; -12h: the last 12 hours
  2026-05-01T12:00:2026-05-01T13:00
                       UTC times: up to, but not including, the second one

A day, month or time that is not over yet is exported up to the head, and the exit code is 1. With --so-far it is 0.

Examples:
  tonlake run --network sandbox --range 1000:1999
  tonlake run transactions --network testnet --range -1000: --rps 1
  tonlake run --range 2026-05-01 --dry-run
  tonlake run blocks --range 47.67M:47.68M --warehouse may.duckdb
  tonlake run --all --network sandbox --range 1000:1199
  tonlake run --network sandbox --range 1000:1999 --slice 3/16 --warehouse data/slice-3
  tonlake run jetton_masters --network sandbox
  tonlake run --range 2026-05-01 --without account_states --without-column messages.body_boc,messages.decoded
  tonlake run --range 2026-05-01 --columns transactions=hash,account,total_fees
  tonlake run account_latest --range -100: --from "select address from jetton_wallets"
  tonlake run jetton_wallets --range -100: --from "select distinct account as owner_address from transactions"

The API key is read from TONLAKE_API_KEY or from the file named by TONLAKE_API_KEY_FILE.
The password of a Redis server is read from TONLAKE_REDIS_PASSWORD, its user name from TONLAKE_REDIS_USERNAME.
Exit codes: 0 success, 1 failed or incomplete, 2 invalid usage, 130 interrupted.`;

/** `tonlake run`: exports a range to a warehouse. */
export function addRun(program: Command): void {
  const command = withFeeds(withRange(program.command('run')))
    .description('export a range of blocks; skips what is already done')
    .addOption(new Option('--store <kind>', 'format of a new warehouse').choices(['parquet', 'duckdb']))
    .addOption(optionOf('--rps <n>', runOptions.rps))
    .option('--concurrency <n>', 'maximum concurrent requests (default: 8)', parseCount)
    .option('--wait <seconds>', 'time to wait for a block that is not indexed yet (default: 60)', parseNonNegative)
    .option(
      '--commit-every <time>',
      'maximum time that proven rows wait for their commit: 30s, 5m; 0 commits each span by itself, in small files (default: 60s)',
      parseDurationOrZero,
    )
    .addOption(
      new Option(
        '--content <how>',
        'hash compares each transaction with its hash and corrects known errors of servers; none does not (default: hash)',
      ).choices(['hash', 'none']),
    )
    .option(
      '--from <sql>',
      'query with the keys of a lookup or the parents of lists; name its columns like the endpoint parameters',
    )
    .option('--history', 'keep earlier readings of changing lists instead of replacing them')
    .option('--so-far', 'treat a day that is not over as complete, up to the head')
    .option('--dry-run', 'show what is done and missing, and estimate the requests; change nothing');
  withPublishing(command)
    .option('--json', 'print one JSON object per line')
    .option('--log <path>', 'append all events and retries to a file, as JSON lines')
    .addHelpText('after', HELP)
    .action(inContext(runPipelines));
}

async function runPipelines(context: Context<RunFlags>, words: readonly string[]): Promise<void> {
  const { flags } = context;
  if (flags.log !== undefined) requireLocalPath(flags.log, '--log');
  requireAllAlone(context, words);
  const { note, ...place } = await context.place();
  const options = { ...(await optionsOf(context, words)), ...place };
  if (flags.dryRun === true) {
    const [{ planRun }, { formatPlan }] = await Promise.all([
      import('../../export/plan.ts'),
      import('../format-plan.ts'),
    ]);
    return context.print(await context.line.during('planning', () => planRun(options)), formatPlan);
  }
  const { runLive } = await import('../run-live.ts');
  const publish = await publishPlaceOf(context, options.network);
  const command = ['tonlake run', ...options.pipelines].join(' ');
  const what = flags.all === true ? '--all' : options.pipelines.join(' ');
  const feeds = await feedsOf(flags, options);
  await runLive(context, options, { logPath: flags.log, note, publish, feeds, command, what });
}

/** Adds what is exported, and how it is requested. */
function withRange(command: Command): Command {
  command
    .argument('[pipeline...]', 'pipelines to export, with those they depend on (default: transactions)')
    .option('--all', 'export every pipeline with a history, in order of dependency; lookups use their declared keys')
    .option(
      '-r, --range <range>',
      'blocks or UTC days to export; not needed for lists of the whole network, such as jetton_masters',
    )
    .option('--slice <i/n>', 'one of n slices of the range, for n machines: 1/16, 2/16 and so on to 16/16');
  return withSelection(withPlace(command))
    .addOption(
      new Option('--walk <way>', 'how to request rows; all give the same rows')
        .choices(['auto', 'window', 'masterchain'])
        .default('auto'),
    )
    .addOption(optionOf('--priority <priority>', runOptions.priority))
    .addOption(budgetOption())
    .addOption(witnessOption());
}

/** @throws {UsageError} for what `--all` leaves nothing to do */
function requireAllAlone(context: Context<RunFlags>, words: readonly string[]): void {
  if (context.flags.all !== true) return;
  refuseWith(context, 'all', { names: ['from'], hintOf: () => 'name the lookup that --from applies to' });
  refuseWith(context, 'all', { words, hintOf: (word) => `remove ${word}: --all includes it` });
}

/** The pipelines to run: those named, all, or the default one. */
async function namesOf(
  words: readonly string[],
  { all, slice }: RunFlags,
  registry: Registry,
): Promise<readonly string[]> {
  if (all !== true) return namedPipelines('run', words, registry);
  if (slice === undefined) return registry.lasting;
  // Lists and lookups belong to no slice: their keys are in the rows of all.
  return registry.lasting.filter((name) => coversBlocks(registry.pipeline(name)));
}

/** Lists of a whole network need no range: they are read as they are now, at the newest block. */
function rangeOf(pipelines: readonly string[], { range }: RunFlags, registry: Registry): string {
  if (range !== undefined) return range;
  const pipelineOf = (name: string) => registry.pipelines.find((one) => one.name === name);
  const ranged = pipelines.find((name) => {
    const pipeline = pipelineOf(name);
    return pipeline === undefined || !isOfNow(pipeline);
  });
  if (ranged === undefined) return '-1:';
  const why = pipelineOf(ranged)?.walk.kind === 'snapshot' ? ', which is listed for what a range holds' : '';
  throw usage(`--range for ${ranged}${why}`, undefined, '--range 1000:1999, or -1000:');
}

/** @throws {UsageError} if `--history` is given but no list that changes is read */
function requireReadings(pipelines: readonly string[], { all, history }: RunFlags, registry: Registry): void {
  if (history !== true || all === true) return;
  if (registry.toRun(pipelines).some(({ walk }) => walk.kind === 'snapshot')) return;
  const lists = registry.pipelines.filter(({ walk }) => walk.kind === 'snapshot').map(({ name }) => name);
  throw usage(
    'a changing list with --history',
    pipelines.join(', '),
    `remove --history; changing lists are ${lists.join(', ')}`,
  );
}

async function optionsOf(
  context: Context<RunFlags>,
  words: readonly string[],
): Promise<Omit<RunOptions, 'network' | 'warehouse'> & { readonly registry: Registry }> {
  const { flags } = context;
  const registry = await context.pipelines();
  const pipelines = await namesOf(words, flags, registry);
  requireReadings(pipelines, flags, registry);
  return {
    ...named(flags, SAME),
    pipelines,
    registry,
    range: rangeOf(pipelines, flags, registry),
    effects: context.effects,
    withoutColumns: flags.withoutColumn,
    waitMs: flags.wait === undefined ? undefined : flags.wait * 1000,
    commitEveryMs: flags.commitEvery,
  };
}
