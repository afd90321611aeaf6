import type { Command } from 'commander';
import { type UsageError, usage } from '../../core/errors.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../core/format.ts';
import { formatSpan } from '../../core/span.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import type { AddedWarehouse, AddReport } from '../../verify/add-warehouses.ts';
import type { CopiedFile, CopyReport } from '../../warehouse/index.ts';
import { endpointOption } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';

const HELP = `
Each file is compared with its checksum in the ledger. An interrupted copy continues where it stopped, and cannot be opened before it is
complete. Run the command again later to update a copy, unless the copy was written itself. The source may be written meanwhile; the copy
has the entries that were there at the start.

With --add, the blocks of one or more folders are added to another one, such as the slices of a range that were exported into a folder each.
Their files are compared with their checksums, and their rows are measured again. Blocks that are there already stay unchanged. A commit
with some of these blocks is not added; the command names it. Marts, lookups and lists of the whole network are not added.

Examples:
  tonlake copy data/mainnet s3://lake/mainnet
  tonlake copy s3://lake/mainnet data/copy --s3-endpoint http://127.0.0.1:9000
  tonlake copy --add data/slice-1 data/slice-2 data/mainnet`;

interface CopyFlags extends ContextFlags {
  readonly add?: boolean;
}

/** `tonlake copy`: a warehouse between folder and bucket. */
export function addCopy(program: Command): void {
  program
    .command('copy')
    .summary('copy a warehouse between folders and object stores')
    .description('copy a warehouse of Parquet files between folders and object stores')
    .usage('[options] <from> <to>')
    .argument('<paths...>', 'from and to, each a folder or s3://bucket/prefix; with --add any number of folders first')
    .option('--add', 'add the blocks of folders to those of the last one')
    .addOption(endpointOption())
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(inContext(copy));
}

async function copy(context: Context<CopyFlags>, paths: readonly string[]): Promise<void> {
  const [from, to] = [paths[0] ?? '', paths.at(-1) ?? ''];
  if (paths.length < 2 || (paths.length > 2 && context.flags.add !== true)) throw wrongPaths(paths.length);
  if (context.flags.add === true) return addFolders(context, paths.slice(0, -1), to);
  const { copyWarehouse } = await import('../../warehouse/index.ts');
  const write = (event: CopiedFile | CopyReport): void => context.print(event, describe);
  const options = { from, to, effects: context.effects, stop: context.signal, onEvent: write };
  const report = await context.line.during('copying', () => copyWarehouse(options));
  if (report.complete && !isObjectUrl(to)) await renewCatalog(to);
  write(report);
  if (!report.complete) process.exitCode = 130;
}

async function renewCatalog(warehouse: string): Promise<void> {
  const [{ rebuildCatalog }, { knownWarehouse }] = await Promise.all([
    import('../../warehouse/index.ts'),
    import('../../warehouse/query/warehouse-registry.ts'),
  ]);
  await rebuildCatalog(await knownWarehouse(warehouse));
}

async function requireFolders(paths: readonly string[]): Promise<void> {
  const { requireKind, warehousePath } = await import('../../warehouse/index.ts');
  for (const path of paths) {
    const isFolder = !isObjectUrl(path) && (await requireKind(path, undefined)).kind === 'parquet';
    if (isFolder) continue;
    throw usage(
      'folders of Parquet files with --add',
      path,
      'slices can write to one bucket by themselves; without --add, a warehouse is copied to or from a bucket',
      { code: 'wrong-kind' },
    );
  }
  if (new Set(paths.map(warehousePath)).size === paths.length) return;
  throw usage('different warehouses with --add', 'one twice');
}

async function addFolders(context: Context, from: readonly string[], to: string): Promise<void> {
  await requireFolders([...from, to]);
  const { addWarehouses } = await import('../../verify/add-warehouses.ts');
  const write = (event: AddedWarehouse | AddReport): void => context.print(event, describeAdded);
  const options = { from, to, effects: context.effects, stop: context.signal, onEvent: write };
  const report = await context.line.during('adding', () => addWarehouses(options));
  await renewCatalog(to);
  write(report);
  if (!report.complete) process.exitCode = 130;
}

function describeAdded(event: AddedWarehouse | AddReport): string {
  if (event.event === 'done') {
    const state = event.complete ? 'done' : 'interrupted; the same command goes on';
    return `${state}: ${counted(event.added, 'commit')} added to ${event.to} (${formatDuration(event.seconds)})\n`;
  }
  const left = event.left.map(({ pipeline, span, why }) => `  ${pipeline} ${formatSpan(span)} not added: ${why}\n`);
  return `${event.from}: ${event.added} added, ${event.present} there already\n${left.join('')}`;
}

function wrongPaths(count: number): UsageError {
  return usage(
    'two paths, from and to',
    count,
    'from a folder to a bucket, or back; with --add, several folders are added to the last one',
  );
}

function describe(event: CopiedFile | CopyReport): string {
  if (event.event === 'copied') return '';
  const { complete, files, bytes, present, entry, to, seconds } = event;
  const state = complete ? 'done' : 'interrupted; the same command goes on';
  return `${state}: ${formatCount(files)} files, ${formatBytes(bytes)} copied, ${formatCount(present)} were there; ${to} has entries 1 to ${entry} (${formatDuration(seconds)})\n`;
}
