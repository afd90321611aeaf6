import type { Command } from 'commander';
import { MartError, TonlakeError, UsageError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Explanation, SourceRecord } from '../../explain/explanation.ts';
import { type CommonOptions, pipelinesOption, withPlace } from '../common-options.ts';
import { type Context, inContext } from '../context.ts';
import type { Declared } from '../describe-name.ts';
import { fitTerminal } from '../fit-terminal.ts';

interface ShowFlags extends CommonOptions {
  readonly files?: boolean;
  readonly live?: boolean;
  readonly json?: boolean;
}

const HELP = `
Without arguments: the tables and marts. With a table: its columns, or its Parquet files (--files), one path per line, for Spark, Polars,
ClickHouse or pandas. With the key of a row: the row, and where it is from: ledger entry, file, requests and proof.

A key is given as values in the order of the key columns, or as column=value for any column. Addresses can be raw or user-friendly, hashes
base64 or hex, shards and opcodes hex. With --live, the record is requested from the source and read without the decoder that made the
row. Each field is equal, differs, is missing (the source no longer sends it), or is not stored (no column has it, or its column was left
out).

Exit code 1 if no row has the key, if its file or the proof is damaged, or if a field of chain data differs from the source. Rows
of changing lists, and fields that the server computes on each read, may differ.

Examples:
  tonlake show
  tonlake show messages
  tonlake show transactions --files --network sandbox
  tonlake show transactions 7ltaAgIdIqIm6EOHiX6cmAiVYKhc7kvyjIvCLEcLL/g=
  tonlake show messages tx_hash=ee5b5a02... direction=in --live
  tonlake show jetton_masters EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs --json`;

/** `tonlake show`: tables and marts, their columns and files, and rows with their origin. */
export function addShow(program: Command): void {
  withPlace(program.command('show'))
    .summary('show tables, columns, files, a row and where it is from')
    .description('list tables and marts; show the columns or files of one, or a row and how it was proven')
    .argument('[table]', 'name of a table, mart or view; _commits for the ledger')
    .argument('[key...]', 'values of its key columns, or column=value')
    .addOption(pipelinesOption())
    .option('--files', 'list the Parquet files of a table or mart')
    .option('--live', 'compare a row with the record that the source sends now')
    .option('--json', 'print a JSON object')
    // Masterchain addresses and base64url hashes may begin with a hyphen.
    .allowUnknownOption()
    .addHelpText('after', HELP)
    .action(inContext(show));
}

async function show(context: Context<ShowFlags>, name: string | undefined, key: readonly string[]): Promise<void> {
  const { flags, isJson } = context;
  await refuseOptions([...(name === undefined ? [] : [name]), ...key]);
  requireTogether(name, key, flags);
  if (name !== undefined && key.length > 0) return showRow(context, name, key);
  if (name !== undefined && flags.files === true) return showFiles(context, name);
  const { describeName } = await import('../describe-name.ts');
  const text = await describeName(name, await declaredFor(context), isJson ? 'json' : 'text');
  context.write(isJson ? text : fitTerminal(text));
}

/** @throws {UsageError} `bad-option` for a word that is neither an option nor a value of a key */
async function refuseOptions(words: readonly string[]): Promise<void> {
  const { base64Hash } = await import('../../core/address.ts');
  const wrong = words.find((word) => /^-\D/.test(word) && base64Hash(word) === undefined);
  if (wrong === undefined) return;
  throw new UsageError(`usage: unknown option '${wrong}'`, { code: 'bad-option', hint: 'see --help' });
}

/** @throws {UsageError} `bad-option` for an option that says nothing about what is shown */
function requireTogether(name: string | undefined, key: readonly string[], { files, live }: ShowFlags): void {
  if (files === true && (name === undefined || key.length > 0)) {
    throw new UsageError('usage: expected a table alone with --files', {
      ...{ code: 'bad-option', hint: 'tonlake show transactions --files' },
    });
  }
  if (live === true && key.length === 0) {
    throw new UsageError('usage: expected the key of a row with --live', {
      ...{ code: 'bad-option', hint: 'tonlake show transactions HASH --live' },
    });
  }
}

/** The loaded pipelines, and what a warehouse has besides; one that was named must be there. */
async function declaredFor(context: Context<ShowFlags>): Promise<Declared> {
  const { declaredIn } = await import('../describe-name.ts');
  const registry = await context.pipelines();
  try {
    return await declaredIn(await context.warehouse(), registry);
  } catch (error) {
    if (error instanceof TonlakeError && !context.isWarehouseGiven) return { registry, ledger: [], built: [] };
    throw error;
  }
}

async function showRow(context: Context<ShowFlags>, table: string, key: readonly string[]): Promise<void> {
  const [{ explainRow }, { isSound }, { describeExplanation }] = await Promise.all([
    import('../../explain/explain-row.ts'),
    import('../../explain/explanation.ts'),
    import('../../explain/describe-row.ts'),
  ]);
  const registry = await context.registry();
  const explanation = await explainRow(await context.warehouse(), table, key, { registry });
  const records = context.flags.live === true ? await readRecords(context, explanation, registry) : [];
  context.print({ ...explanation, records }, () => describeExplanation(explanation, key, records));
  if (!isSound(explanation, records)) process.exitCode = 1;
}

async function readRecords(
  { flags: { network }, effects, tellRetry: onRetry }: Context<ShowFlags>,
  explanation: Explanation,
  registry: Registry,
): Promise<readonly SourceRecord[]> {
  const { readSourceRecord } = await import('../../explain/source-record.ts');
  const records: SourceRecord[] = [];
  for (const row of explanation.rows) {
    records.push(await readSourceRecord(explanation, row, { registry, network, effects, waitMs: 0, onRetry }));
  }
  return records;
}

async function showFiles(context: Context<ShowFlags>, table: string): Promise<void> {
  const { openReader } = await import('../../warehouse/index.ts');
  let registry = await context.pipelines();
  const reader = await context
    .registry()
    .then(async (known) => {
      registry = known;
      return openReader(await context.warehouse(), known.tables);
    })
    .catch(async (error: unknown) => {
      // An unknown name is reported first.
      if (!(await isDeclaredMart(registry, table))) registry.table(table);
      throw error;
    });
  try {
    (await context.networkCheck())(reader);
    const isBuilt = (await reader.ledger()).some((entry) => entry.mart !== undefined && table in entry.tables);
    if (!isBuilt && (await isDeclaredMart(registry, table))) throw notBuilt(table);
    const name = isBuilt ? table : registry.table(table).name;
    const paths = await reader.files(name);
    context.print(paths, () => paths.map((path) => `${path}\n`).join(''));
    if (reader.kind === 'duckdb') {
      context.line.tell(`no Parquet files: a DuckDB warehouse is a single file, ${reader.path}`);
    } else if (paths.length === 0) context.line.tell(`no Parquet files: ${name} has no rows in ${reader.path}`);
  } finally {
    await reader.close();
  }
}

/** Whether a name is that of a built-in mart and not of a table. */
async function isDeclaredMart(registry: Registry, name: string): Promise<boolean> {
  if (registry.tables.some((table) => table.name === name)) return false;
  const { loadMarts } = await import('../../marts/load-marts.ts');
  return (await loadMarts(registry)).some((mart) => mart.name === name);
}

function notBuilt(name: string): MartError {
  return new MartError(`mart ${name}: expected a built mart, got one that is not built yet`, {
    code: 'not-built',
    hint: `tonlake build ${name}`,
  });
}
