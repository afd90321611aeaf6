import type { Command } from 'commander';
import { pasteable } from './invocation.ts';
import { type CommonOptions, DEFAULT_NETWORK, networkOption, warehouseOf, warehouseOption } from './options.ts';

interface StatusFlags extends CommonOptions {
  readonly json?: boolean;
  readonly budget?: boolean;
}

/** `tonlake status`: what a warehouse holds and what is missing. */
export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show what a warehouse holds: done ranges, holes, rows, files, quarantine')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .option('--budget', 'show the request budget of the network on this machine instead')
    .option('--json', 'one JSON object on standard output')
    .addHelpText(
      'after',
      '\nExamples:\n  tonlake status --network sandbox\n  tonlake status --warehouse may.duckdb --json',
    )
    .action(async (flags: StatusFlags) => {
      if (flags.budget === true) return showBudget(flags);
      const { readStatus, formatStatus } = await import('../status.ts');
      const status = await readStatus(warehouseOf(flags), flags.network);
      process.stdout.write(flags.json === true ? `${JSON.stringify(status)}\n` : pasteable(formatStatus(status)));
    });
}

async function showBudget(flags: StatusFlags): Promise<void> {
  const [{ budgetStatus, formatBudgetStatus }, { readApiKey, resolveNetwork }] = await Promise.all([
    import('../source/budgetstatus.ts'),
    import('../network.ts'),
  ]);
  const network = resolveNetwork(flags.network ?? DEFAULT_NETWORK);
  const budget = await budgetStatus({ network, apiKey: readApiKey(process.env) });
  process.stdout.write(flags.json === true ? `${JSON.stringify(budget)}\n` : formatBudgetStatus(budget));
}
