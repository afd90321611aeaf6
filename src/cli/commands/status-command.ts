import type { Command } from 'commander';
import { readApiKey, resolveNetwork } from '../../http/network.ts';
import { networkOf, parseBudget, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { refuseOthersWith } from '../option-conflicts.ts';

interface StatusFlags extends ContextFlags {
  readonly budget?: boolean | string;
  readonly long?: boolean;
  readonly range?: string;
}

/** `tonlake status`: shows what a warehouse contains and what is missing. */
export function addStatus(program: Command): void {
  withPlace(program.command('status'))
    .summary('show what a warehouse contains and what is missing')
    .description('show what a warehouse contains and what is missing: ranges, rows, files')
    .argument('[names...]', 'pipelines and marts to show in full (default: a summary of each)')
    .option('--long', 'show everything: all spans, days, rows of each table')
    .option(
      '--budget [url]',
      'show the rate limit of the network on this machine instead, or on all that share it through Redis (env: TONLAKE_BUDGET)',
      parseBudget,
    )
    .option('-r, --range <range>', 'show only which blocks of a range are missing; the exit code is 1 if any is')
    .option('--json', 'print a JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake status --network sandbox\n  tonlake status transactions traces --network sandbox\n  tonlake status --warehouse may.duckdb --json\n  tonlake status transactions --warehouse s3://lake/mainnet --range 2026-05',
    )
    .action(inContext(showStatus));
}

async function showStatus(context: Context<StatusFlags>, names: readonly string[]): Promise<void> {
  const { budget, range, long, network } = context.flags;
  if (budget !== undefined) {
    refuseOthersWith(context, 'budget', ['json'], { words: names });
    return showBudget(context);
  }
  if (range !== undefined) {
    refuseOthersWith(context, 'range', ['json']);
    return showMissing(context, names, range);
  }
  const [{ readStatus, formatStatus }, { formatSummary, selectStatus }] = await Promise.all([
    import('../../warehouse/query/status.ts'),
    import('../../warehouse/query/status-summary.ts'),
  ]);
  const all = await readStatus(await context.warehouse(), network);
  const format = long === true || names.length > 0 ? formatStatus : formatSummary;
  context.print(names.length === 0 ? all : selectStatus(all, names), format);
}

async function showMissing(context: Context<StatusFlags>, pipelines: readonly string[], range: string): Promise<void> {
  const { formatMissing, readMissing } = await import('../../verify/read-missing.ts');
  const { network } = context.flags;
  const report = await readMissing({ warehouse: await context.warehouse(), range, pipelines, network });
  context.print(report, formatMissing);
  if (!report.complete) process.exitCode = 1;
}

async function showBudget({ flags, print }: Context<StatusFlags>): Promise<void> {
  const { budgetStatus, formatBudgetStatus } = await import('../../rate-limit/budget-status.ts');
  const network = resolveNetwork(networkOf(flags));
  const budget = typeof flags.budget === 'string' ? flags.budget : undefined;
  print(await budgetStatus({ network, apiKey: readApiKey(process.env), budget }), formatBudgetStatus);
}
