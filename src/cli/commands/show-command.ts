import type { Command } from 'commander';
import { MartError, oneLine, TonlakeError, UsageError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Explanation, SourceRecord } from '../../explain/explanation.ts';
import type { RetryEvent } from '../../http/source.ts';
import { type CommonOptions, pipelinesOption, withPlace } from '../common-options.ts';
import type { Declared } from '../describe-name.ts';
import { findWarehouse } from '../find-warehouse.ts';
import { fitTerminal } from '../fit-terminal.ts';
import { pasteable } from '../invocation.ts';
import { print } from '../streams.ts';

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
    .action(async (name: string | undefined, key: readonly string[], flags: ShowFlags) => {
      await refuseOptions([...(name === undefined ? [] : [name]), ...key]);
      requireTogether(name, key, flags);
      if (name !== undefined && key.length > 0) await showRow(name, key, flags);
      else if (name !== undefined && flags.files === true) await showFiles(name, flags);
      else {
        const { describeName } = await import('../describe-name.ts');
        const text = await describeName(name, await declaredFor(flags), flags.json === true ? 'json' : 'text');
        process.stdout.write(flags.json === true ? text : fitTerminal(text));
      }
    });
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
async function declaredFor(flags: ShowFlags): Promise<Declared> {
  const [{ loadRegistry }, { declaredIn }] = await Promise.all([
    import('../../declare/registry.ts'),
    import('../describe-name.ts'),
  ]);
  const registry = await loadRegistry(flags.pipelines);
  try {
    return await declaredIn(await findWarehouse(flags), registry);
  } catch (error) {
    if (error instanceof TonlakeError && flags.warehouse === undefined) return { registry, ledger: [], built: [] };
    throw error;
  }
}

async function showRow(table: string, key: readonly string[], flags: ShowFlags): Promise<void> {
  const [{ explainRow }, { isSound }, { describeExplanation }, { warehouseRegistry }] = await Promise.all([
    import('../../explain/explain-row.ts'),
    import('../../explain/explanation.ts'),
    import('../../explain/describe-row.ts'),
    import('../../warehouse/query/warehouse-registry.ts'),
  ]);
  const warehouse = await findWarehouse(flags);
  const registry = await warehouseRegistry(warehouse);
  const explanation = await explainRow(warehouse, table, key, { registry });
  const records = flags.live === true ? await readRecords(explanation, registry, flags) : [];
  print({ ...explanation, records }, flags.json, () => pasteable(describeExplanation(explanation, key, records)));
  if (!isSound(explanation, records)) process.exitCode = 1;
}

async function readRecords(
  explanation: Explanation,
  registry: Registry,
  { network }: ShowFlags,
): Promise<readonly SourceRecord[]> {
  const [{ readSourceRecord }, { realEffects }] = await Promise.all([
    import('../../explain/source-record.ts'),
    import('../../core/effects.ts'),
  ]);
  const onRetry = ({ message, sleepMs }: RetryEvent): void => {
    process.stderr.write(`${oneLine(message)}; retrying in ${(sleepMs / 1000).toFixed(1)} s\n`);
  };
  const records: SourceRecord[] = [];
  for (const row of explanation.rows) {
    records.push(
      await readSourceRecord(explanation, row, { registry, network, effects: realEffects, waitMs: 0, onRetry }),
    );
  }
  return records;
}

async function showFiles(table: string, flags: ShowFlags): Promise<void> {
  const [{ loadRegistry }, { openReader }, { requireSameNetwork }, { warehouseRegistry }] = await Promise.all([
    import('../../declare/registry.ts'),
    import('../../warehouse/index.ts'),
    import('../../warehouse/query/status.ts'),
    import('../../warehouse/query/warehouse-registry.ts'),
  ]);
  let registry = await loadRegistry();
  const reader = await findWarehouse(flags)
    .then(async (path) => {
      registry = await warehouseRegistry(path);
      return openReader(path, registry.tables);
    })
    .catch(async (error: unknown) => {
      // An unknown name is reported first.
      if (!(await isDeclaredMart(registry, table))) registry.table(table);
      throw error;
    });
  try {
    requireSameNetwork(reader.path, reader.network, flags.network);
    const isBuilt = (await reader.ledger()).some((entry) => entry.mart !== undefined && table in entry.tables);
    if (!isBuilt && (await isDeclaredMart(registry, table))) throw notBuilt(table);
    const name = isBuilt ? table : registry.table(table).name;
    const paths = await reader.files(name);
    if (flags.json === true) process.stdout.write(`${JSON.stringify(paths)}\n`);
    else for (const path of paths) process.stdout.write(`${path}\n`);
    if (reader.kind === 'duckdb') {
      process.stderr.write(`no Parquet files: a DuckDB warehouse is a single file, ${reader.path}\n`);
    } else if (paths.length === 0) process.stderr.write(`no Parquet files: ${name} has no rows in ${reader.path}\n`);
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
