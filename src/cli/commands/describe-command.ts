import type { Command } from 'commander';
import { TonlakeError } from '../../core/errors.ts';
import { type CommonOptions, pipelinesOption, withPlace } from '../common-options.ts';
import type { Declared } from '../describe-name.ts';
import { findWarehouse } from '../find-warehouse.ts';
import { fitTerminal } from '../fit-terminal.ts';

interface DescribeFlags extends CommonOptions {
  readonly json?: boolean;
}

/** `tonlake describe`: tables and columns. */
export function addDescribe(program: Command): void {
  withPlace(program.command('describe'))
    .description('list tables and marts, or show the columns of a table, mart or view')
    .argument('[table]', 'name of a table, mart or view; _commits for the ledger')
    .addOption(pipelinesOption())
    .option('--json', 'print a JSON object')
    .addHelpText('after', '\nExamples:\n  tonlake describe\n  tonlake describe messages')
    .action(async (name: string | undefined, flags: DescribeFlags) => {
      const { describeName } = await import('../describe-name.ts');
      const declared = await declaredFor(flags);
      const text = await describeName(name, declared, flags.json === true ? 'json' : 'text');
      process.stdout.write(flags.json === true ? text : fitTerminal(text));
    });
}

/** The loaded pipelines, and what a warehouse has besides; one that was named must be there. */
async function declaredFor(flags: DescribeFlags): Promise<Declared> {
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
