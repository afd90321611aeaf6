import type { Command } from 'commander';
import { runOptions, verifyOptions } from '../../jobs/step-options.ts';
import { optionOf, parseCount, pipelinesOption, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { refuseWithout } from '../option-conflicts.ts';

interface VerifyFlags extends ContextFlags {
  readonly range?: string;
  readonly deep?: boolean;
  readonly content?: boolean;
  readonly repair?: boolean;
  readonly keepReadable?: boolean;
  readonly rps?: number | 'auto';
  readonly memory?: number;
}

const HELP = `
Every file must be there, with the bytes that were committed and with the rows, keys and sums of the ledger, and must match the
block headers. --deep also checks rows against each other: each transaction follows the previous one of its account, and each
internal message is sent once and received once. Records that cross the edges of the done ranges are counted separately.

Lists are compared with the transactions of the same blocks, if the warehouse has both. Lists that cannot be compared with
anything are reported as unproven; that is not a finding.

--repair fetches only what fails. Intact rows stay, and damaged rows are removed only when their replacements are committed. If the
source no longer serves a block, its entry stays as it is; with --keep-readable, the rest is repaired, and the block counts as missing.

Examples:
  tonlake verify --network sandbox
  tonlake verify --warehouse may.duckdb --range 47.67M:47.68M --deep --json
  tonlake verify --network testnet --repair --rps 1

Exit codes: 0 proven, 1 not proven or failed, 2 invalid usage.`;

/** `tonlake verify`: proves a warehouse from its own files, offline. */
export function addVerify(program: Command): void {
  withPlace(program.command('verify'))
    .summary('are the rows those of the chain? hashes, counts, links')
    .description('verify offline that a warehouse is complete and unchanged')
    .addOption(pipelinesOption())
    .option('-r, --range <range>', 'blocks or UTC days to verify (default: everything that is done)')
    .addOption(optionOf('--deep', verifyOptions.deep))
    .option('--content', 'also compute a content hash of every table, to compare warehouses')
    .addOption(optionOf('--repair', verifyOptions.repair))
    .option('--keep-readable', 'of blocks that cannot be fetched, keep what can be read')
    .addOption(optionOf('--rps <n>', runOptions.rps))
    .option(
      '--memory <MB>',
      'memory limit for sorting and joining (default: 256, and up to 2000 for what needs more)',
      parseCount,
    )
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(inContext(verify));
}

async function verify(context: Context<VerifyFlags>): Promise<void> {
  const [{ repairWarehouse }, { verifyWarehouse }, { showVerify }] = await Promise.all([
    import('../../verify/repair.ts'),
    import('../../verify/verify.ts'),
    import('../../verify/show-findings.ts'),
  ]);
  const {
    network,
    range,
    deep = false,
    content = false,
    repair = false,
    memory: memoryMb,
    rps,
    keepReadable,
  } = context.flags;
  if (!repair) refuseWithout(context, '--repair', ['keepReadable', 'rps']);
  const [warehouse, registry] = [await context.warehouse(), await context.pipelines()];
  const options = { warehouse, network, registry, range, deep, content, memoryMb };
  const shown = { ...options, ...showVerify({ ...options, print: context.print }) };
  const report = await context.line.during(repair ? 'verifying and repairing' : 'verifying', () =>
    repair ? repairWarehouse({ ...shown, rps, keepReadable }) : verifyWarehouse(shown),
  );
  if (!report.proven) process.exitCode = 1;
}
