import type { Command } from 'commander';
import { parseNonNegative } from './common-options.ts';

/** Adds the options of processes that go on until they are stopped. */
export function withOperations(command: Command): Command {
  return command
    .option('--metrics <address>', 'serve /metrics and /healthz on this loopback address, such as 127.0.0.1:9464')
    .option(
      '--metrics-public',
      'allow any address for --metrics, such as 0.0.0.0:9464; anyone who can reach it can read the metrics, without a password',
    )
    .option('--drain <seconds>', 'time that the current run of a job may continue after SIGTERM', parseNonNegative, 60);
}
