import { type Command, Option } from 'commander';
import { UsageError } from '../errors.ts';
import type { SqlFormat } from '../print.ts';
import { type CommonOptions, networkOption, warehouseOf, warehouseOption } from './options.ts';

interface SqlFlags extends CommonOptions {
  readonly format: SqlFormat;
  readonly file?: string;
  readonly strict?: boolean;
}

const HELP = `
Every table of tonlake describe is a relation; so is _commits, the ledger.

Examples:
  tonlake sql "select count(*) from transactions" --network sandbox
  tonlake sql "select * from messages where comment is not null limit 5" --format json
  tonlake sql --file report.sql --format csv > report.csv`;

/** `tonlake sql`: a query over a warehouse; works while an export runs. */
export function addSql(program: Command): void {
  program
    .command('sql')
    .description('run a query over the tables of a warehouse')
    .argument('[query]', 'SQL as DuckDB understands it')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .addOption(new Option('--format <format>', 'form of the result').choices(['box', 'csv', 'json']).default('box'))
    .option('-f, --file <path>', 'read the query from a file')
    .option('--strict', 'refuse when a table of the query has missing or quarantined blocks')
    .addHelpText('after', HELP)
    .action(async (query: string | undefined, flags: SqlFlags) => {
      const { readFile } = await import('node:fs/promises');
      if ((query === undefined) === (flags.file === undefined)) {
        throw new UsageError('usage: expected a query or --file, and not both', {
          code: 'no-query',
          hint: 'tonlake sql "select count(*) from transactions"',
        });
      }
      const sql = query ?? (await readQueryFile(readFile, flags.file ?? ''));
      if (sql.trim() === '')
        throw new UsageError('usage: expected a query, got nothing', { code: 'no-query', hint: 'tonlake sql --help' });
      const [{ printResult }, { querySql }] = await Promise.all([import('../print.ts'), import('../query.ts')]);
      const result = await querySql(warehouseOf(flags), sql, {
        network: flags.network,
        strict: flags.strict,
        onWarning: (message) => process.stderr.write(`warning: ${message}\n`),
      });
      await printResult(result, flags.format, process.stdout);
    });
}

async function readQueryFile(
  readFile: (path: string, encoding: 'utf8') => Promise<string>,
  path: string,
): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`usage: expected a file with a query, cannot read ${path}`, {
      code: 'no-query',
      hint: 'give the path of a file, or the query itself without --file',
      cause,
    });
  }
}
