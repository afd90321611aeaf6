import type { Command } from 'commander';
import { formatCount } from '../../core/format.ts';
import { formatSpans } from '../../core/span.ts';
import type { ForgetReport } from '../../verify/forget.ts';
import { type CommonOptions, networkOption, warehouseOf, warehouseOption } from '../common-options.ts';

interface ForgetFlags extends CommonOptions {
  readonly range: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const HELP = `
Removes the rows of a range, and the fact that it is done, in one commit; tonlake run asks for it again. Without --yes it only tells what
would go. Where another pipeline needs the rows, both go together or neither: name both.

Lookups and lists that were made from the rows stay, and marts stay as they are until tonlake mart build. Of snapshots and lookups
no range can be forgotten. Lists that are exported by logical time go by whole entries.

Examples:
  tonlake forget actions --network sandbox --range 1000:1999
  tonlake forget transactions blocks --warehouse data/mainnet --range 2026-05-01 --yes`;

/** `tonlake forget`: removes a range of some pipelines. */
export function addForget(program: Command): void {
  program
    .command('forget')
    .description('remove the rows of a range, so that it counts as not done')
    .argument('<pipelines...>', 'pipelines whose rows go')
    .addOption(networkOption())
    .addOption(warehouseOption())
    .requiredOption('-r, --range <range>', 'blocks or UTC days to forget')
    .option('--yes', 'remove them (default: tell what would go)')
    .option('--json', 'one JSON object on standard output')
    .addHelpText('after', HELP)
    .action(async (pipelines: readonly string[], flags: ForgetFlags) => {
      const { forgetRange } = await import('../../verify/forget.ts');
      const { range, network } = flags;
      const options = { warehouse: warehouseOf(flags), network, pipelines, range };
      const write = (report: ForgetReport): void => {
        process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : describe(report));
      };
      const plan = await forgetRange({ ...options, isDry: true });
      if (flags.yes !== true || flags.json !== true) write(plan);
      if (flags.yes === true) write(await forgetRange(options));
    });
}

function describe({ event, spans, rows, staying, marts, warehouse }: ForgetReport): string {
  const ranges = Object.entries(spans).map(([name, list]) => `${name} ${formatSpans(list)}`);
  if (ranges.length === 0) return `nothing to forget in ${warehouse}\n`;
  if (event === 'forgotten') return `forgotten: ${ranges.join('; ')}\n`;
  const counts = Object.entries(rows).map(([name, count]) => `${formatCount(count)} ${name}`);
  const lines = [`would go: ${ranges.join('; ')} in ${warehouse}`, `  rows: ${counts.join(', ')}`];
  if (staying.length > 0) lines.push(`  stay, although made from or compared with them: ${staying.join(', ')}`);
  if (marts.length > 0) lines.push(`  marts stay until tonlake mart build: ${marts.join(', ')}`);
  return `${lines.join('\n')}\n`;
}
