import type { Command } from 'commander';
import { counted } from '../../core/format.ts';
import { exportOptions } from '../../jobs/step-options.ts';
import type { ExportReport } from '../../targets/export-rows.ts';
import { collectParam, optionOf, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { refuseWithout } from '../option-conflicts.ts';
import { collectInSteps } from '../v8-flags.ts';

interface ExportFlags extends ContextFlags {
  readonly to: string;
  readonly as?: string;
  readonly days?: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly strict?: boolean;
  readonly keepFormulas?: boolean;
}

const HELP = `
Targets: a file that ends in .csv, .json, .jsonl, .parquet, .arrow, .xlsx, .sqlite or .db, postgres://user@host/database, or the
HTTP interface of ClickHouse, https://user@host:8443/database. A file is replaced when the new one is complete; of a SQLite file,
only the exported rows are. In an .xlsx file, --as names the first sheet.

In a database, each UTC day of rows with a block_date replaces the rows of that day in one step, so the same export can be
repeated. Rows without a day are replaced together. The table is created with types, key, index and comments.
_tonlake_exports in the target says which days are there. The password is read from PGPASSWORD or ~/.pgpass, or
from CLICKHOUSE_PASSWORD or the file that CLICKHOUSE_PASSWORD_FILE names, never from the URL.

What a target cannot hold as it is, such as 64-bit numbers in a spreadsheet, is written as text, with a warning: docs/export.md has
the types of each target.

Examples:
  tonlake export transactions --to transactions.parquet --network sandbox
  tonlake export gas_fees_daily --to fees.xlsx
  tonlake export transactions --days 2026-05-01:2026-05-07 --to postgres://analyst@db.local/lake
  tonlake export messages --to http://analyst@localhost:8123/lake
  tonlake export "select * from messages where comment is not null" --as comments --to lake.sqlite`;

/** `tonlake export`: rows go to files and databases. */
export function addExport(program: Command): void {
  withPlace(program.command('export'))
    .description('export a table, mart or query to a file or database')
    .argument('<rows>', 'name of a table, mart or view, or a query in DuckDB SQL')
    .requiredOption('--to <target>', 'file or database')
    .addOption(optionOf('--as <name>', exportOptions.as))
    .option('--days <range>', 'UTC days to export: 2026-05-01, or 2026-05-01:2026-05-07 (default: all)')
    .option('-p, --param <name=value>', 'value of $name in the query; repeatable', collectParam)
    .option('--strict', 'fail if a table has missing or quarantined blocks in the exported days')
    .option('--keep-formulas', 'leave texts of a CSV file that begin like a formula as they are')
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action(inContext(exportOne));
}

async function exportOne(context: Context<ExportFlags>, rows: string): Promise<void> {
  const [{ exportRows }, { parseDays }, { parseTarget, uselessOption }] = await Promise.all([
    import('../../targets/export-rows.ts'),
    import('../../targets/exported-rows.ts'),
    import('../../targets/target.ts'),
  ]);
  collectInSteps();
  const { network, as, strict, keepFormulas, param: parameters } = context.flags;
  const to = parseTarget(context.flags.to);
  const useless = uselessOption(to, { as, keepFormulas });
  if (useless !== undefined) refuseWithout(context, useless.needed, [useless.name], (flag) => `remove ${flag}`);
  const days = context.flags.days === undefined ? undefined : parseDays(context.flags.days);
  const source = /\s/.test(rows.trim()) ? { sql: rows } : { table: rows.trim() };
  const options = { network, days, as, strict, keepFormulas, parameters, onWarning: context.warn };
  const warehouse = await context.warehouse();
  const report = await context.line.during('exporting', () => exportRows(warehouse, source, to, options));
  if (context.isJson) context.write(`${JSON.stringify(report)}\n`);
  else context.line.print(summaryOf(report));
}

function summaryOf({ rows, days, target }: ExportReport): string {
  const count = `${counted(rows, 'row')} in ${target}`;
  const dated = days?.filter(({ day }) => day !== undefined) ?? [];
  return dated.length === 0 ? count : `${count}: ${counted(dated.length, 'day')} replaced`;
}
