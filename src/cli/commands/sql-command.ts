import { type Command, Option } from 'commander';
import { usage } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-word.ts';
import { suggest } from '../../core/suggest.ts';
import { readNamedFile } from '../../files/named-file.ts';
import { formatOf } from '../../files/output-format.ts';
import { RELATION_FORMATS, write } from '../../sql/relation-writer.ts';
import { requireStatement } from '../../sql/statements.ts';
import type { Dialect } from '../../sql/trino/translate.ts';
import { type CommonOptions, collectParam, withPlace } from '../common-options.ts';
import { type Context, inContext } from '../context.ts';
import { otherOptions, refuseWithout } from '../option-conflicts.ts';
import { collectInSteps } from '../v8-flags.ts';

const FORMATS = ['box', ...RELATION_FORMATS] as const;

interface SqlFlags extends CommonOptions {
  readonly format?: (typeof FORMATS)[number];
  readonly output?: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly strict?: boolean;
  readonly timer?: boolean;
  readonly dialect: Dialect;
  readonly layouts?: string;
}

const HELP = `
All tables of tonlake show are available, and those of the warehouse itself: _commits, its ledger, _coverage and _freshness, what
is there. Parameters are bound as text and never parsed as SQL; cast them if you need a number: $lt::BIGINT. docs/sql.md lists
additional functions, such as raw_address(text), friendly_address(text), ton(nanotons), opcode_name(opcode) and shard_of(address).

With several statements, the earlier ones can set variables and create temporary objects. Only the last one returns rows, and none
can change the warehouse.

--timer counts from the start of the command. For a warehouse in an object store, it also prints requests and bytes, those of data files
and those of the ledger. With --format json, it prints a line of JSON.

The format follows from the extension of --output: .csv, .json, .parquet, or .txt for a box. --format must not contradict it. The
folder is created if needed. An existing file is replaced only when the new one is complete. On a terminal, a box that is too wide
becomes one line per column; --format box draws it all the same.

Without a query, tonlake sql is a prompt. Statements end with a semicolon and can have several lines. Tab completes tables, columns,
functions and keywords; Ctrl-C cancels the query, not the prompt; results that are larger than the terminal open in $PAGER. .help lists
the commands that begin with a dot. SET VARIABLE and CREATE TEMP last as long as the prompt. A DuckDB warehouse is open only while a
statement runs, so that others can write it: there they last for one statement. From a file or a pipe, statements run without prompts,
until one fails, with --format, --param and --strict as for a query.

Examples:
  tonlake sql --network sandbox
  tonlake sql -w data/mainnet < queries.sql
  tonlake sql "select count(*) from transactions" --network sandbox
  tonlake sql "select * from messages where comment is not null limit 5" --format json
  tonlake sql --file report.sql --format csv > report.csv
  tonlake sql 'select * from accounts where address = raw_address($account)' --param account=EQC...
  tonlake sql "select * from gas_fees_daily" --output fees.parquet`;

/** `tonlake sql`: runs a query on a warehouse, even during an export. */
export function addSql(program: Command): void {
  withPlace(program.command('sql'))
    .summary('run a query, or open a prompt for queries')
    .description('run a query over the tables of a warehouse, or open a prompt for queries')
    .argument('[query]', 'query in DuckDB SQL (default: a prompt)')
    .addOption(
      new Option(
        '--format <format>',
        'output format (default: from the extension of --output, box on a terminal, csv in a pipe)',
      ).choices(FORMATS),
    )
    .option('-o, --output <path>', 'write the result to a file instead of standard output; required for parquet')
    .option('-f, --file <path>', 'read the query from a file')
    .option('-p, --param <name=value>', 'value of $name in the query; repeatable', collectParam)
    .addOption(new Option('--dialect <dialect>', 'SQL of the query').choices(['duckdb', 'trino']).default('duckdb'))
    .option(
      '--layouts <file>',
      'YAML file with layouts of bodies for parse_boc and decode_body, in addition to those in sql/layouts',
    )
    .option('--timer', 'print the time of the query on standard error, and its requests to an object store')
    .option('--strict', 'fail if a table in the query has missing or quarantined blocks')
    .addHelpText('after', HELP)
    .action(inContext(runSql));
}

async function runSql(context: Context<SqlFlags>, query: string | undefined): Promise<void> {
  const { file } = context.flags;
  if (query === undefined && file === undefined) return prompt(context);
  if (query !== undefined && file !== undefined) {
    throw usage(
      'either a query or --file',
      'both',
      suggest('sql', file === undefined ? '' : `--file ${shellWord(file)}`),
    );
  }
  const sql = query ?? readQueryFile(file ?? '');
  requireStatement(sql);
  await runQuery(context, sql);
}

/** A prompt for queries, or the statements of a pipe. */
async function prompt(context: Context<SqlFlags>): Promise<void> {
  const { network, dialect, layouts, strict, format, param: params } = context.flags;
  const { isPrompt, openShell } = await import('../shell/open-shell.ts');
  const ofScripts = isPrompt() ? [] : (['format', 'param', 'strict'] as const);
  const hint = 'statements can be mixed with commands for it: .mode, .output, .timer; .help lists all';
  refuseWithout(context, 'a query', otherOptions(context, ['dialect', 'layouts', ...ofScripts]), () => hint);
  if (format === 'parquet') throw usage('box, csv, json or jsonl for a script', format, '.once result.parquet in it');
  collectInSteps();
  const mode = format ?? (process.stdout.isTTY === true ? 'box' : 'csv');
  const queries = { network, dialect, layouts, strict };
  if (!(await openShell(await context.warehouse(), { queries, params, mode }))) process.exitCode = 1;
}

async function runQuery(context: Context<SqlFlags>, sql: string): Promise<void> {
  const { flags, line, warn: onWarning } = context;
  const startedAt = performance.now();
  const { network, strict, param: params, file, output, dialect, layouts } = flags;
  // A box is for eyes; a program that reads a pipe gets CSV.
  const usual = output === undefined && process.stdout.isTTY !== true ? 'csv' : 'box';
  const format = formatOf({ output, format: flags.format, formats: FORMATS }) ?? usual;
  const options = { network, strict, params, file, dialect, layouts, onWarning, countsTraffic: flags.timer === true };
  if (format === 'parquet' && output === undefined) {
    throw usage('--output with --format parquet', 'none', '--output result.parquet');
  }
  const { usesLayouts } = await import('../../warehouse/query/define-bodies.ts');
  if (!usesLayouts(sql)) refuseWithout(context, 'parse_boc or decode_body', ['layouts'], (flag) => `remove ${flag}`);
  collectInSteps();
  const { withQueries } = await import('../../warehouse/query/query.ts');
  const warehouse = await context.warehouse();
  if (output !== undefined) {
    const { requireOutside } = await import('../../warehouse/query/copy-targets.ts');
    await requireOutside(warehouse, output);
  }
  await withQueries(warehouse, options, async (queries) => {
    if (format === 'box') {
      const { boxOf, fittedTo } = await import('../../sql/text-table.ts');
      const isForced = flags.format === 'box' || output !== undefined;
      const draw = isForced ? boxOf : fittedTo(terminalWidth(process.stdout));
      const box = await line.during('querying', () => queries.read(sql, draw));
      if (output === undefined) await write(process.stdout, box);
      else {
        const { writeTextAtomically } = await import('../../files/atomic-write.ts');
        await writeTextAtomically(output, box);
      }
    } else if (output !== undefined) await line.during('querying', () => queries.write(sql, { file: output, format }));
    else if (format !== 'parquet') await queries.write(sql, { out: process.stdout, format });
    if (flags.timer !== true) return;
    const { formatTiming } = await import('../query-timing.ts');
    const timing = { startedAt, now: performance.now(), traffic: await queries.traffic?.() };
    line.print(formatTiming(timing, format));
  });
}

/** Infinite for a file or a pipe. */
function terminalWidth({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

function readQueryFile(path: string): string {
  const hint = 'pass the path of a file, or the query itself without --file';
  return readNamedFile(path, 'a file with a query', hint);
}
