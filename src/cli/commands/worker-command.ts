import type { Command } from 'commander';
import { formatCount } from '../../core/format.ts';
import { formatSpan } from '../../core/span.ts';
import type { WorkerEvent } from '../../fleet/worker.ts';
import {
  budgetOption,
  type CommonOptions,
  networkOf,
  parseCount,
  parseDuration,
  parseNonNegative,
  parseQueue,
  parseRps,
  parseWhole,
  pipelinesOption,
  warehouseOf,
  withPlace,
} from '../common-options.ts';
import { watchInterrupts } from '../interrupts.ts';

interface WorkerFlags extends CommonOptions {
  readonly queue: string;
  readonly rps?: number | 'auto';
  readonly budget?: string;
  readonly concurrency?: number;
  readonly workers?: number;
  readonly wait?: number;
  readonly idle?: number;
  readonly json?: boolean;
}

const HELP = `
A worker exports blocks for tonlake run --queue: it takes an order of some blocks, exports and proves them. In an object store it commits
them to the warehouse itself. In a folder, which must be visible on all machines, it leaves the files there, and the run that asks commits
them. A worker that is killed loses nothing: its order goes to another one after about 15 seconds.

Examples:
  tonlake worker --queue redis://10.0.0.5:6379 --warehouse s3://lake/mainnet
  tonlake worker --queue redis://10.0.0.5:6379 --warehouse /mnt/lake/mainnet --budget redis://10.0.0.5:6379 --rps 50
  tonlake worker --queue redis://10.0.0.5:6379 --network sandbox --idle 1m

The API key is read from TONLAKE_API_KEY, the password of the Redis server from TONLAKE_REDIS_PASSWORD.`;

/** `tonlake worker`: exports what a run with a queue asks for. */
export function addWorker(program: Command): void {
  withPlace(program.command('worker'))
    .description('export blocks for tonlake run --queue, on this or another machine')
    .requiredOption('--queue <url>', 'Redis server of the queue: redis://host:port, or rediss:// for TLS', parseQueue)
    .addOption(pipelinesOption())
    .option('--rps <n>', 'maximum requests per second of this worker, or auto to find the limit', parseRps)
    .addOption(budgetOption())
    .option('--concurrency <n>', 'maximum concurrent requests (default: 8)', parseCount)
    .option('--workers <n>', 'maximum of worker threads that decode pages; 0 for none', parseWhole)
    .option('--wait <seconds>', 'time to wait for a block that is not indexed yet (default: 60)', parseNonNegative)
    .option('--idle <time>', 'end after this time without an order: 30s, 5m (default: run until Ctrl-C)', parseDuration)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', HELP)
    .action(async (flags: WorkerFlags) => {
      const [{ runWorker }, { loadRegistry }, { limitHeap }] = await Promise.all([
        import('../../fleet/worker.ts'),
        import('../../declare/registry.ts'),
        import('../run-live.ts'),
      ]);
      limitHeap();
      const interrupts = watchInterrupts((line) => process.stderr.write(`${line}\n`));
      try {
        await runWorker({
          queue: flags.queue,
          network: networkOf(flags),
          warehouse: warehouseOf(flags),
          registry: await loadRegistry(flags.pipelines),
          rps: flags.rps,
          budget: flags.budget,
          concurrency: flags.concurrency,
          workers: flags.workers,
          waitMs: flags.wait === undefined ? undefined : flags.wait * 1000,
          idleMs: flags.idle,
          stop: interrupts.signal,
          onEvent: (event) => show(event, flags.json === true),
        });
        if (interrupts.signal.aborted) process.exitCode = 130;
      } finally {
        interrupts.close();
      }
    });
}

function show(event: WorkerEvent, isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(event)}\n`);
  else process.stderr.write(`${describe(event)}\n`);
}

const AWAITED = {
  queue: 'a run with --queue on this warehouse',
  orders: 'orders',
} as const;

function describe(event: WorkerEvent): string {
  switch (event.event) {
    case 'waiting':
      return event.for === 'server'
        ? `waiting for this to pass: ${event.message}`
        : `waiting for ${AWAITED[event.for]}`;
    case 'resumed':
      return 'the Redis server is back';
    case 'order':
      return `${formatSpan(event)}: exporting`;
    case 'delivered':
      return `${formatSpan(event)}: delivered ${formatCount(event.rows)} rows (${formatCount(event.requests)} requests)`;
    case 'problem':
      return `${formatSpan(event)}: ${event.message}`;
  }
}
