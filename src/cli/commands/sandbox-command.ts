import type { Command } from 'commander';
import { parseCount, parseNonNegative, parsePort, parsePositive, parseWhole } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';

interface SandboxFlags extends ContextFlags {
  readonly port: number;
  readonly seed: number;
  readonly blocks: number;
  readonly blockMs?: number;
  readonly rps?: number;
  readonly activity: number;
  readonly gzip?: boolean;
}

const HELP = `
The sandbox imitates the API over blocks generated from the seed. It listens on 127.0.0.1 only.

Examples:
  tonlake sandbox --port 8081
  tonlake sandbox --port 8081 --blocks 1000 --block-ms 400
  tonlake sandbox --rps 10 --gzip
  tonlake run --network http://127.0.0.1:8081/api/v3 --range 1000:1999`;

/** `tonlake sandbox`: serves a generated network until it is interrupted. */
export function addSandbox(program: Command): void {
  program
    .command('sandbox', { hidden: true })
    .description('serve a deterministic network that imitates the API, for demos and tests')
    .option('--port <port>', 'port on 127.0.0.1; 0 picks a free one', parsePort, 8081)
    .option('--seed <n>', 'seed from which all blocks are generated', parseWhole, 1)
    .option('--blocks <n>', 'number of blocks at the start; the first one is 1', parseCount, 10_000)
    .option('--block-ms <ms>', 'add a block at this interval (default: none)', parsePositive)
    .option(
      '--activity <n>',
      'multiplier for the number of transactions, normally about 16 per block; 0 to 8',
      parseNonNegative,
      1,
    )
    .option('--rps <n>', 'respond with 429 above this many requests per second', parsePositive)
    .option('--gzip', 'compress responses for clients that accept it')
    .addHelpText('after', HELP)
    .action(
      inContext(async (context: Context<SandboxFlags>) => {
        const { startSandbox } = await import('../../sandbox/index.ts');
        const sandbox = await startSandbox(context.flags);
        context.write(`sandbox at ${sandbox.url}, blocks 1 to ${sandbox.head()}; press Ctrl-C to stop\n`);
        await context.untilInterrupted();
        await sandbox.close();
      }),
    );
}
