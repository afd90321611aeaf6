import type { Command } from 'commander';
import type { CheckResult } from '../../marts/run-checks.ts';
import { withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';

interface TestFlags extends ContextFlags {
  readonly checks?: string;
  readonly marts?: string;
  readonly all?: boolean;
}

const HELP = `
A check is a query in sql/checks that returns the rows that break its rule. They are stored in the table check_failures. A check reads the
days that changed since it last passed, and is skipped if the warehouse lacks one of its inputs. Whether rows are those of the chain is the question of tonlake verify.

Examples:
  tonlake test --network sandbox
  tonlake test transaction_balances block_tx_counts --warehouse may.duckdb --json
  tonlake sql "select * from check_failures" --network sandbox

Exit codes: 0 all checks passed, 1 a check failed, 2 invalid usage.`;

/** Width of the status, the offenders and all borders, in characters. */
const STATUS_WIDTH = 28;
const MIN_RULE_WIDTH = 20;

/** `tonlake test`: SQL rules that return the rows that break them. */
export function addTest(program: Command): void {
  withPlace(program.command('test'))
    .summary('do tables agree with each other? keys, balances, sums')
    .description('run SQL checks of the tables against each other: do keys, references, balances and sums agree?')
    .argument('[name...]', 'checks to run (default: all)')
    .option('--checks <folder>', 'also run your own checks: a folder of .sql files like those in sql/checks')
    .option('--marts <folder>', 'folder of your own marts, if checks read them')
    .option('--all', 'read all days, also those that have not changed, and compare keys of different days')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(inContext(test));
}

async function test(context: Context<TestFlags>, names: readonly string[]): Promise<void> {
  const { runChecks } = await import('../../marts/run-checks.ts');
  const { network, checks: folder, marts, all } = context.flags;
  const warehouse = await context.warehouse();
  const onEvent = (event: object): void => context.print(event, () => '');
  const report = await context.line.during('testing', () =>
    runChecks(warehouse, { names, all, network, folder, marts, onEvent }),
  );
  const table = await tableOf(report.checks);
  context.print({ event: 'checked', ...report }, () => table);
  if (!report.passed) process.exitCode = 1;
}

/** Wraps the rules at the width of the terminal, if there is one. */
function ruleWidth(checks: readonly CheckResult[], { isTTY, columns }: NodeJS.WriteStream): object {
  if (!isTTY) return {};
  const others = Math.max(...checks.map(({ name }) => name.length)) + STATUS_WIDTH;
  return { colWidths: [null, null, null, Math.max(MIN_RULE_WIDTH, columns - others)], wordWrap: true };
}

async function tableOf(checks: readonly CheckResult[]): Promise<string> {
  const { drawTable } = await import('../../sql/text-table.ts');
  const rows = checks.map(({ name, status, offenders, rule, reason }) => {
    return [name, status, status === 'skipped' ? '' : String(offenders), reason ?? rule];
  });
  const table = await drawTable(['check', 'status', 'offenders', 'rule'], rows, {
    colAligns: ['left', 'left', 'right', 'left'],
    ...ruleWidth(checks, process.stdout),
  });
  const count = (of: CheckResult['status']): number => checks.filter(({ status }) => status === of).length;
  const failed = count('failed');
  const hint = failed === 0 ? '' : '; the rows are in check_failures';
  return `${table}${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped${hint}\n`;
}
