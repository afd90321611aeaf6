import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';

/** Names of pipelines, separated by blanks or commas. */
export function splitNames(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => (word.includes(':') ? [word] : word.split(',').filter((name) => name !== '')));
}

/**
 * The pipelines that a command names, once each; without any, the one with the transactions.
 *
 * @param refreshed names of changing lists that options name
 * @throws {UsageError} `unknown-pipeline` for a range or a mart
 */
export async function namedPipelines(
  command: 'run' | 'follow',
  words: readonly string[],
  registry: Registry,
  refreshed: readonly string[] = [],
): Promise<readonly string[]> {
  const names = splitNames(words);
  await refuseRangesAndMarts(command, [...names, ...refreshed], registry);
  return names.length > 0 ? [...new Set(names)] : [registry.playing('counted').pipeline.name];
}

async function refuseRangesAndMarts(
  command: 'run' | 'follow',
  names: readonly string[],
  { pipelines }: Registry,
): Promise<void> {
  const others = names.filter((name) => !pipelines.some((pipeline) => pipeline.name === name));
  const [range] = others.filter((name) => /^[-+:\d]|:|^(yesterday|today)$/i.test(name));
  if (range !== undefined) {
    const option = command === 'follow' ? '--from' : '-r';
    const rest = names.filter((name) => name !== range);
    throw usage(
      'a pipeline',
      `${JSON.stringify(range)}, which is a range`,
      `ranges need ${option}: ${suggest(command, [...rest, option, range].join(' '))}`,
      { code: 'unknown-pipeline' },
    );
  }
  if (others.length === 0) return;
  const { shippedNames } = await import('../sql/shipped-queries.ts');
  const marts = await shippedNames('marts');
  const mart = others.find((name) => marts.includes(name));
  if (mart === undefined) return;
  throw usage('a pipeline', `the mart ${mart}`, `${suggest('build', mart)} builds it from exported tables`, {
    code: 'unknown-pipeline',
  });
}
