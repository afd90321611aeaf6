import type { Command } from 'commander';
import {
  type CommonOptions,
  networkOption,
  parseCount,
  parsePositive,
  pipelinesOption,
  warehouseOption,
} from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';

interface VerifyFlags extends CommonOptions {
  readonly range?: string;
  readonly deep?: boolean;
  readonly content?: boolean;
  readonly repair?: boolean;
  readonly rps?: number;
  readonly memory?: number;
  readonly json?: boolean;
}

const HELP = `
Every file must be there with the bytes that were committed, hold the rows, keys and sums that the ledger tells, and agree with the
block headers. --deep adds what only neighbours prove: each transaction follows the one of its account before, and each internal
message is sent once and received once. What crosses the edges of the done ranges is counted apart.

Lists are compared with the transactions of the same blocks, where the warehouse holds both. What nothing can be compared with is named
as only read, and is no finding.

--repair asks the network of the warehouse for what fails, and for nothing else; sound rows stay, and rows
are replaced only by those that came.

Examples:
  tonlake verify --network sandbox
  tonlake verify --warehouse may.duckdb --range 47.67M:47.68M --deep --json
  tonlake verify --network testnet --repair --rps 1

Exit codes: 0 proven, 1 not proven or failed, 2 wrong usage.`;

/** `tonlake verify`: proves a warehouse from its own files, offline. */
export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('prove again that a warehouse is whole and unchanged, from its own files')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .addOption(pipelinesOption())
    .option('-r, --range <range>', 'blocks or UTC days to prove (default: everything that is done)')
    .option('--deep', 'also the chain of every account and both ends of every internal message')
    .option('--content', 'also the content hash of every table, to compare with another warehouse')
    .option('--repair', 'bring what fails in again')
    .option('--rps <n>', 'most requests per second of a repair', parsePositive)
    .option('--memory <MB>', 'bound of the memory for sorting and joining (default: 512)', parseCount)
    .option('--json', 'one JSON object per line on standard output')
    .addHelpText('after', HELP)
    .action(async (flags: VerifyFlags) => {
      const [{ loadRegistry }, { repairWarehouse }, { verifyWarehouse }, { showVerify }] = await Promise.all([
        import('../../declare/registry.ts'),
        import('../../verify/repair.ts'),
        import('../../verify/verify.ts'),
        import('../../verify/show-findings.ts'),
      ]);
      const options = {
        warehouse: await findWarehouse(flags),
        network: flags.network,
        registry: await loadRegistry(flags.pipelines),
        range: flags.range,
        deep: flags.deep === true,
        content: flags.content === true,
        memoryMb: flags.memory,
        ...showVerify(flags.json === true),
      };
      const report =
        flags.repair === true ? await repairWarehouse({ ...options, rps: flags.rps }) : await verifyWarehouse(options);
      if (!report.proven) process.exitCode = 1;
    });
}
