import type { Command } from 'commander';
import { formatCount } from '../../core/format.ts';
import { formatSpans } from '../../core/span.ts';
import type { ForgetReport } from '../../verify/forget.ts';
import { warehouseOf, withPlace } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { splitNames } from '../pipeline-names.ts';

interface ForgetFlags extends ContextFlags {
  readonly range: string;
  readonly yes?: boolean;
}

const HELP = `
Removes the rows of a range and marks it as not done, in a single commit. tonlake run can export it again. Without --yes, the command
only shows what would be removed. If another pipeline needs the rows, name both: they can only be removed together.

Lookups and lists derived from the rows stay. Marts built day by day keep their days; tonlake build rebuilds others from what is
left. Snapshots and lookups have no range to forget. Lists exported by logical time are removed by whole entries.

Blocks of a lost entry of the ledger that the source no longer serves stay a finding of tonlake verify until they are forgotten.

Examples:
  tonlake forget actions --network sandbox --range 1000:1999
  tonlake forget transactions blocks --warehouse data/mainnet --range 2026-05-01 --yes`;

/** `tonlake forget`: removes a range of some pipelines. */
export function addForget(program: Command): void {
  withPlace(program.command('forget'))
    .description('remove the rows of a range and mark it as not done')
    .argument('<pipelines...>', 'pipelines whose rows to remove')
    .requiredOption('-r, --range <range>', 'blocks or UTC days to forget')
    .option('--yes', 'remove the rows (default: only show what would be removed)')
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action(inContext(forget));
}

async function forget(context: Context<ForgetFlags>, words: readonly string[]): Promise<void> {
  const { forgetRange } = await import('../../verify/forget.ts');
  const { range, network, yes: isMeant = false } = context.flags;
  const options = { warehouse: warehouseOf(context.flags), network, pipelines: splitNames(words), range };
  const write = (report: ForgetReport): void => context.print(report, (shown) => describe(shown, isMeant));
  if (!isMeant || !context.isJson) {
    const planned = await forgetRange({ ...options, isDry: true });
    write(planned);
    if (Object.keys(planned.spans).length === 0) return;
  }
  if (isMeant) write(await context.line.during('forgetting', () => forgetRange(options)));
}

function describe({ event, spans, rows, staying, marts, warehouse }: ForgetReport, isMeant: boolean): string {
  const ranges = Object.entries(spans).map(([name, list]) => `${name} ${formatSpans(list)}`);
  if (ranges.length === 0) return `nothing to forget in ${warehouse}\n`;
  if (event === 'forgotten') return `forgotten: ${ranges.join('; ')}\n`;
  const counts = Object.entries(rows).map(([name, count]) => `${formatCount(count)} ${name}`);
  const [head, stay] = isMeant ? ['removing', 'stay'] : ['would remove', 'would stay'];
  const lines = [`${head}: ${ranges.join('; ')} in ${warehouse}`, `  rows: ${counts.join(', ')}`];
  if (staying.length > 0) lines.push(`  ${stay}, although derived from or compared with them: ${staying.join(', ')}`);
  if (marts.length > 0)
    lines.push(`  built from them: ${marts.join(', ')}; marts by day keep their days, others are rebuilt`);
  if (!isMeant) lines.push('nothing was changed; --yes removes the rows');
  return `${lines.join('\n')}\n`;
}
