import type { Command } from 'commander';
import { realEffects } from '../../core/effects.ts';
import { formatBytes, formatCount, formatDuration } from '../../core/format.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import type { CopiedFile, CopyReport } from '../../warehouse/index.ts';
import { whileBusy } from '../busy-line.ts';
import { endpointOption } from '../common-options.ts';
import { watchInterrupts } from '../interrupts.ts';
import { print } from '../streams.ts';

const HELP = `
Each file is compared with its checksum in the ledger on its way. A copy that was interrupted goes on where it was, and cannot be opened
before it is complete. Run it again later to bring a copy up to date, unless the copy was written itself. The source may be written
meanwhile; the copy has the entries that were there at the start.

Examples:
  tonlake copy data/mainnet s3://lake/mainnet
  tonlake copy s3://lake/mainnet data/copy --s3-endpoint http://127.0.0.1:9000`;

/** `tonlake copy`: a warehouse between folder and bucket. */
export function addCopy(program: Command): void {
  program
    .command('copy')
    .description('copy a warehouse of Parquet files between folders and object stores')
    .argument('<from>', 'folder, or s3://bucket/prefix')
    .argument('<to>', 'folder, or s3://bucket/prefix')
    .addOption(endpointOption())
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(async (from: string, to: string, flags: { readonly json?: boolean }) => {
      const [{ copyWarehouse, rebuildCatalog }, { warehouseRegistry }] = await Promise.all([
        import('../../warehouse/index.ts'),
        import('../../warehouse/query/warehouse-registry.ts'),
      ]);
      const interrupts = watchInterrupts(() => {});
      const write = (event: CopiedFile | CopyReport): void => print(event, flags.json, describe);
      const work = copyWarehouse({ from, to, effects: realEffects, stop: interrupts.signal, onEvent: write });
      const report = await whileBusy('copying', () => work.finally(interrupts.close));
      if (report.complete && !isObjectUrl(to)) await rebuildCatalog(to, (await warehouseRegistry(to)).tables);
      write(report);
      if (!report.complete) process.exitCode = 130;
    });
}

function describe(event: CopiedFile | CopyReport): string {
  if (event.event === 'copied') return '';
  const { complete, files, bytes, present, entry, to, seconds } = event;
  const state = complete ? 'done' : 'interrupted; the same command goes on';
  return `${state}: ${formatCount(files)} files, ${formatBytes(bytes)} copied, ${formatCount(present)} were there; ${to} has entries 1 to ${entry} (${formatDuration(seconds)})\n`;
}
