import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';

/** The pipelines that a command names: separated by blanks or commas. */
export function splitNames(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => (word.includes(':') ? [word] : word.split(',').filter((name) => name !== '')));
}

/** Rejects ranges and marts in place of pipelines. @throws {UsageError} `unknown-pipeline` */
export async function refuseOthers(
  command: 'run' | 'follow',
  names: readonly string[],
  { pipelines }: Registry,
): Promise<void> {
  const others = names.filter((name) => !pipelines.some((pipeline) => pipeline.name === name));
  const [range] = others.filter((name) => /^[-+:\d]|:|^(yesterday|today)$/i.test(name));
  if (range !== undefined) {
    const option = command === 'follow' ? '--from' : '-r';
    const rest = names.filter((name) => name !== range);
    throw usage('a pipeline', `${JSON.stringify(range)}, which is a range`, {
      code: 'unknown-pipeline',
      hint: `ranges need ${option}: ${suggest(command, [...rest, option, range].join(' '))}`,
    });
  }
  if (others.length === 0) return;
  const { shippedNames } = await import('../sql/shipped-queries.ts');
  const marts = await shippedNames('marts');
  const mart = others.find((name) => marts.includes(name));
  if (mart === undefined) return;
  throw usage('a pipeline', `the mart ${mart}`, {
    code: 'unknown-pipeline',
    hint: `${suggest('build', mart)} builds it from exported tables`,
  });
}
