import type { Command } from 'commander';
import { formatBytes, formatCount, formatDuration } from '../../core/format.ts';
import type { CompactEvent, CompactReport, Reader } from '../../warehouse/index.ts';
import { parsePositive, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';

interface CompactFlags extends ContextFlags {
  readonly range?: string;
  readonly targetMb: number;
}

const HELP = `
Every commit adds a file to each table, and thousands of small files make queries slow. Each merge is a single commit, so
readers always see every row once, and a killed process loses only the current merge. The old files leave tables/ at once and stay in
pinned/ for an hour, for open readers. Files of half the maximum size stay, and smaller ones are merged only if they make a file of
several times their size, so repeated merges cost little. A file that is alone in the folder of its day stays as it is. A DuckDB warehouse has nothing to merge.

Examples:
  tonlake compact --network sandbox
  tonlake compact --warehouse data/mainnet --range 47.67M:47.68M --target-mb 512 --json`;

/** `tonlake compact`: merges small files. */
export function addCompact(program: Command): void {
  withPlace(program.command('compact'))
    .summary('merge small files into larger ones')
    .description('merge small files of many spans into larger ones')
    .option('-r, --range <range>', 'merge only spans within these blocks (default: all)')
    .option('--target-mb <MB>', 'maximum size of a merged file, in megabytes', parsePositive, 128)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(inContext(compact));
}

async function compact(context: Context<CompactFlags>): Promise<void> {
  const [{ compactWarehouse }, { resolveStored, storedChain }] = await Promise.all([
    import('../../warehouse/index.ts'),
    import('../../verify/limit-range.ts'),
  ]);
  const { range, targetMb } = context.flags;
  const registry = await context.registry();
  const { tables, pipelines } = registry;
  const requireNetwork = await context.networkCheck();
  const write = (event: CompactEvent | CompactReport): void => context.print(event, describe);
  const options = {
    warehouse: await context.warehouse(),
    tables,
    pipelines,
    effects: context.effects,
    targetBytes: targetMb * 1e6,
    limit: async (reader: Reader) => {
      requireNetwork(reader);
      return range === undefined ? undefined : (await resolveStored(await storedChain(reader, registry), range)).asked;
    },
    stop: context.signal,
    onEvent: write,
  };
  const report = await context.line.during('merging', () => compactWarehouse(options));
  write(report);
  if (!report.complete) process.exitCode = 130;
}

function describe(event: CompactEvent | CompactReport): string {
  const { files, bytes } = event;
  const change = `${formatCount(files.before)} files, ${formatBytes(bytes.before)} -> ${formatCount(files.after)}, ${formatBytes(bytes.after)}`;
  if (event.event === 'merged') {
    const isWhole = event.blocks === event.to - event.from + 1;
    const of = isWhole ? '' : `${formatCount(event.blocks)} blocks of `;
    return `${event.pipeline} ${of}${event.from}:${event.to}: ${change}\n`;
  }
  if (event.kind === 'duckdb') return 'nothing to merge: a DuckDB warehouse is a single file\n';
  if (event.merged === 0) return 'nothing to merge\n';
  const state = event.complete ? 'done' : 'interrupted';
  return `${state}: ${change} (${formatDuration(event.seconds)}); the next command that writes, from an hour on, removes the old files\n`;
}
