import type { Command } from 'commander';
import { MartError, TonlakeError, UsageError } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import type { Registry } from '../../declare/registry.ts';
import type { ThingFacts } from '../../show/shown-thing.ts';
import { pipelinesOption, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import type { Declared } from '../describe-name.ts';
import { fitTerminal } from '../fit-terminal.ts';
import { refuseOthersWith, refuseWithout } from '../option-conflicts.ts';

interface ShowFlags extends ContextFlags {
  readonly files?: boolean;
  readonly why?: boolean;
  readonly live?: boolean;
}

const HELP = `
An address (raw or user-friendly) shows the account: balance, status, contract, jettons, NFTs, last transactions. A hash (hex, base64 or
base64url) shows the transaction, message or block, and its trace as a tree. A seqno shows the masterchain block, @NAME the account of a
domain. --why adds where its row is from: ledger entry, file, proof. --live reads from the source instead of the warehouse.

A table shows its columns, or its Parquet files (--files), one path per line, for Spark, Polars, ClickHouse or pandas. A table with the key
of a row shows that row, and where it is from. A key is given as values in the order of the key columns, or as column=value for any column.
Without arguments: the tables and marts.

Exit code 1 if nothing is found, or if the file or the proof of a row is damaged.

Examples:
  tonlake show
  tonlake show EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs
  tonlake show 7ltaAgIdIqIm6EOHiX6cmAiVYKhc7kvyjIvCLEcLL/g= --why
  tonlake show 47670000 --live
  tonlake show @alice --json
  tonlake show transactions --files --network sandbox
  tonlake show messages tx_hash=ee5b5a02... direction=in`;

/** `tonlake show`: things on the chain, tables and marts with their columns and files, and rows with their origin. */
export function addShow(program: Command): void {
  withPlace(program.command('show'))
    .summary('show an account, transaction, block, table or row')
    .description('show what a warehouse knows of an account, transaction, block, table or row, and where it is from')
    .argument(
      '[thing]',
      'address, hash, seqno, @name, or name of a table, mart or view; _commits for the ledger, _coverage and _freshness for what is there',
    )
    .argument('[key...]', 'of a table: values of its key columns, or column=value')
    .addOption(pipelinesOption())
    .option('--why', 'add where the row of a thing is from, and how it was proven')
    .option('--files', 'list the Parquet files of a table or mart')
    .option('--live', 'show what the source sends for a thing now')
    .option('--json', 'print a JSON object')
    // Masterchain addresses and base64url hashes may begin with a hyphen.
    .allowUnknownOption()
    .addHelpText('after', HELP)
    .action(inContext(show));
}

async function show(context: Context<ShowFlags>, name: string | undefined, key: readonly string[]): Promise<void> {
  const { flags, isJson } = context;
  await refuseOptions([...(name === undefined ? [] : [name]), ...key]);
  const [{ parseThing }, { requireSoundAddress }] = await Promise.all([
    import('../../show/thing.ts'),
    import('../../core/address.ts'),
  ]);
  const isThing = name !== undefined && key.length === 0 && (name.startsWith('@') || parseThing(name) !== undefined);
  requireTogether(context, isThing, name, key);
  requireSoundAddress(name ?? '', flags.live === true ? (await context.place()).network : undefined);
  if (name !== undefined && isThing) return flags.live === true ? showLive(context, name) : showOne(context, name);
  if (name !== undefined && key.length > 0) return showRow(context, name, key);
  if (name !== undefined && flags.files === true) return showFiles(context, name);
  const { describeName } = await import('../describe-name.ts');
  const text = await describeName(name, await declaredFor(context), isJson ? 'json' : 'text');
  context.write(isJson ? text : fitTerminal(text));
}

/** @throws {UsageError} for a word that is neither an option nor a value of a key */
async function refuseOptions(words: readonly string[]): Promise<void> {
  const { canonicalText } = await import('../../core/address.ts');
  const wrong = words.find((word) => /^-\D/.test(word) && canonicalText(word) === word);
  if (wrong === undefined) return;
  throw new UsageError(`unknown option '${wrong}'`, { hint: 'see --help' });
}

/** @throws {UsageError} for an option that says nothing about what is shown */
function requireTogether(
  context: Context<ShowFlags>,
  isThing: boolean,
  name: string | undefined,
  key: readonly string[],
): void {
  if (name === undefined || key.length > 0 || isThing) {
    refuseWithout(context, 'a table alone', ['files'], () => suggest('show', 'transactions --files'));
  }
  if (!isThing) {
    const thing = 'an address, hash, seqno or @name';
    refuseWithout(context, thing, ['live'], () => `${suggest('api')} asks the source for anything else`);
    refuseWithout(context, thing, ['why'], () => 'a row of a table always says where it is from');
  }
  if (context.flags.live !== true) return;
  refuseOthersWith(context, 'live', ['json'], { hintOf: () => 'the source does not know the rows of the warehouse' });
}

async function showOne(context: Context<ShowFlags>, word: string): Promise<void> {
  const [{ showIn }, { describeFacts, describePlaces, describeThing }, { isSound }, { describeExplanation }] =
    await Promise.all([
      import('../../show/show-thing.ts'),
      import('../../show/describe-thing.ts'),
      import('../../show/explanation.ts'),
      import('../../show/describe-row.ts'),
    ]);
  const { why: isWhy } = context.flags;
  const opened = await context.openWarehouse({ isPinned: true });
  try {
    let isBegun = false;
    const onFacts = (facts: ThingFacts): void => {
      if (context.isJson || facts.sections.length === 0) return;
      isBegun = true;
      context.write(describeFacts(facts));
    };
    const shown = await context.line.during('searching', () => showIn(opened, word, { why: isWhy, onFacts }));
    const text = isBegun ? describePlaces(shown.places) : describeThing(shown);
    const { why } = shown;
    const origin = why === undefined ? '' : `\n${describeExplanation(why, [word])}`;
    context.write(context.isJson ? `${JSON.stringify(shown)}\n` : `${text}${origin}`);
    if (why !== undefined && !isSound(why)) process.exitCode = 1;
  } finally {
    await opened.reader.close();
  }
}

async function showLive(context: Context<ShowFlags>, word: string): Promise<void> {
  const [{ readLive }, { requireThing }] = await Promise.all([
    import('../../api/client/live-record.ts'),
    import('../../show/thing.ts'),
  ]);
  const { network } = await context.place();
  const { request, text } = await readLive(requireThing(word), { network, onRetry: context.printRetry });
  context.line.print(request);
  context.write(text);
}

/** The loaded pipelines, and what a warehouse has besides; one that was named must be there. */
async function declaredFor(context: Context<ShowFlags>): Promise<Declared> {
  const { declaredIn } = await import('../describe-name.ts');
  const registry = await context.pipelines();
  try {
    return await declaredIn(await context.warehouse(), { registry, network: context.flags.network });
  } catch (error) {
    if (error instanceof TonlakeError && !context.isWarehouseGiven) return { registry, ledger: [], built: [] };
    throw error;
  }
}

async function showRow(context: Context<ShowFlags>, table: string, key: readonly string[]): Promise<void> {
  const [{ explainRow }, { isSound }, { describeExplanation }] = await Promise.all([
    import('../../show/explain-row.ts'),
    import('../../show/explanation.ts'),
    import('../../show/describe-row.ts'),
  ]);
  const pipelines = await context.pipelines();
  const { network } = context.flags;
  const explanation = await explainRow(await context.warehouse(), table, key, { registry: pipelines, network });
  context.write(context.isJson ? `${JSON.stringify(explanation)}\n` : describeExplanation(explanation, key));
  if (!isSound(explanation)) process.exitCode = 1;
}

async function showFiles(context: Context<ShowFlags>, table: string): Promise<void> {
  const { registry, reader } = await context.openWarehouse().catch(async (error: unknown) => {
    // An unknown name is reported first.
    const pipelines = await context.pipelines();
    if (!(await isDeclaredMart(pipelines, table))) pipelines.table(table);
    throw error;
  });
  try {
    const isBuilt = (await reader.ledger()).some((entry) => entry.mart !== undefined && table in entry.tables);
    if (!isBuilt && (await isDeclaredMart(registry, table))) throw notBuilt(table);
    const name = isBuilt ? table : registry.table(table).name;
    const paths = await reader.files(name);
    context.print(paths, () => paths.map((path) => `${path}\n`).join(''));
    if (reader.kind === 'duckdb') {
      context.line.print(`no Parquet files: a DuckDB warehouse is a single file, ${reader.path}`);
    } else if (paths.length === 0) context.line.print(`no Parquet files: ${name} has no rows in ${reader.path}`);
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
    hint: suggest('build', name),
  });
}
