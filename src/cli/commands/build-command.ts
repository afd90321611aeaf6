import type { Command } from 'commander';
import { MartError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import type { MartBuild, MartEvent } from '../../marts/build-marts.ts';
import { withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { fitTerminal } from '../fit-terminal.ts';
import { refuseOthersWith } from '../option-conflicts.ts';

interface BuildFlags extends ContextFlags {
  readonly list?: boolean;
  readonly marts?: string;
  readonly full?: boolean;
}

const HELP = `
Marts are tables built by the queries in sql/marts. Marts with one row per day are built day by day, and only days with changed
inputs are rebuilt; accounts and latest_balances are merged with new blocks. The column _coverage is missing for rows of days with missing blocks, and unproven if nothing proves some of them.

Examples:
  tonlake build --list
  tonlake build --network sandbox
  tonlake build transactions_daily gas_fees_daily --warehouse may.duckdb --json`;

/** `tonlake build`: derived tables. */
export function addBuild(program: Command): void {
  withPlace(program.command('build'))
    .summary('build marts: daily figures, balances, holders')
    .description('build marts, which are tables made by SQL: daily figures, balances, holders')
    .argument('[name...]', 'marts to build, with the marts they read (default: all)')
    .option('--list', 'list the marts and the questions they answer instead')
    .option('--marts <folder>', 'also build your own marts: a folder of .sql files like those in sql/marts')
    .option('--full', 'rebuild everything, even if unchanged')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(
      inContext((context: Context<BuildFlags>, names: readonly string[]) =>
        context.flags.list === true ? list(context, names) : build(context, names),
      ),
    );
}

async function build(context: Context<BuildFlags>, names: readonly string[]): Promise<void> {
  const { buildMarts, notesOf } = await import('../../marts/build-marts.ts');
  const { network, full, marts: folder } = context.flags;
  const warehouse = await context.warehouse();
  const onEvent = (event: MartEvent): void =>
    context.print(event, () => (event.event === 'mart' ? `${describeBuild(event, notesOf(event))}\n` : ''));
  const builds = await context.line.during('building', () =>
    buildMarts(warehouse, { names, network, full, folder, onEvent }),
  );
  const lost = builds.find(({ name, status }) => names.includes(name) && status === 'empty');
  if (lost !== undefined) {
    throw new MartError(`mart ${lost.name}: expected its inputs, got none: ${lost.reason}`);
  }
}

function describeBuild(build: MartBuild, notes: readonly string[]): string {
  const { name, status, rows, days, isMerged, reason } = build;
  if (status === 'empty') return `${name}: skipped, ${reason}`;
  const parts = [
    `${name}: ${isMerged === true ? 'merged' : status}, ${counted(rows, 'row')}`,
    ...(days.length === 0 ? [] : [`${counted(days.length, 'day')} built`]),
    ...notes,
  ];
  return parts.join('; ');
}

async function list(context: Context<BuildFlags>, names: readonly string[]): Promise<void> {
  refuseOthersWith(context, 'list', ['marts', 'json'], { words: names });
  const [{ loadMarts }, { describeMarts, martSummary }] = await Promise.all([
    import('../../marts/load-marts.ts'),
    import('../../marts/describe-marts.ts'),
  ]);
  const marts = await loadMarts(await context.pipelines(), context.flags.marts);
  context.print(marts.map(martSummary), () => fitTerminal(describeMarts(marts)));
}
