import { type Command, InvalidArgumentError } from 'commander';
import type { ExportOptions } from '../export/open-export.ts';
import type { Feed } from '../feed/feed.ts';

export interface FeedFlags {
  readonly onCommit?: readonly string[];
  readonly alerts?: string;
}

/** Adds the options of commands that commit rows: where commits and alerts are sent. */
export function withFeeds(command: Command): Command {
  return command
    .option(
      '--on-commit <target>',
      'send one JSON line for each commit, until it is taken: to a shell command (standard input), a URL (POST), or env:NAME for a URL in a variable; repeatable',
      collectTarget,
    )
    .option('--alerts <path>', 'send alerts about new rows: a YAML file, or a folder of them; see docs/consumers.md');
}

function collectTarget(text: string, before: readonly string[] = []): readonly string[] {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a command or a URL.');
  if (before.includes(text)) throw new InvalidArgumentError('It is given twice.');
  return [...before, text];
}

/** The feeds of a command: commits and alerts. @throws {UsageError} */
export async function feedsOf({ onCommit = [], alerts }: FeedFlags, exported: ExportOptions): Promise<readonly Feed[]> {
  return [
    ...(onCommit.length === 0 ? [] : await commitFeeds(onCommit, exported.warehouse)),
    ...(alerts === undefined ? [] : await alertFeeds(alerts, exported)),
  ];
}

async function commitFeeds(targets: readonly string[], warehouse: string): Promise<readonly Feed[]> {
  const [{ commitFeed }, { parseDeliveryTarget }] = await Promise.all([
    import('../feed/commit-feed.ts'),
    import('../jobs/delivery-target.ts'),
  ]);
  return targets.map((text) => commitFeed(warehouse, parseDeliveryTarget(text, process.env)));
}

async function alertFeeds(path: string, options: ExportOptions): Promise<readonly Feed[]> {
  const [{ alertFeed }, { loadAlerts }, { choosePipelines }] = await Promise.all([
    import('../feed/alert-feed.ts'),
    import('../feed/load-alerts.ts'),
    import('../export/open-export.ts'),
  ]);
  const { registry, pipelines } = await choosePipelines(options);
  const alerts = await loadAlerts(path, { registry, exported: pipelines, env: process.env });
  return alerts.flatMap((alert) => alert.targets.map((target) => alertFeed(options.warehouse, alert, target)));
}
