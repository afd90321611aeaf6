import { UsageError, usage } from '../core/errors.ts';
import type { Context } from './context.ts';

/** Options of the command line, by their names in `flags`. Those of the environment and of tonlake.yaml are for all commands. */
type Given = Pick<Context, 'given'>;

/**
 * Refuses options without what they need.
 * @param needed such as `--repair`
 * @throws {UsageError} `bad-option`
 */
export function requireNeeded(
  { given }: Given,
  needed: string,
  names: readonly string[],
  hintOf = (flag: string): string => `add ${needed}, or remove ${flag}`,
): void {
  const name = names.find((each) => given.has(each));
  if (name === undefined) return;
  throw usage(`${needed} with ${flagOf(name)}`, undefined, { code: 'bad-option', hint: hintOf(flagOf(name)) });
}

/**
 * Refuses options and words beside an option that leaves them nothing to do.
 * @param beside such as `--list`
 * @throws {UsageError} `bad-option`
 */
export function refuseBeside(
  { given }: Given,
  beside: string,
  names: readonly string[],
  { words = [], hint }: { readonly words?: readonly string[] | undefined; readonly hint?: string | undefined } = {},
): void {
  const [other] = [...words, ...names.filter((name) => given.has(name)).map(flagOf)];
  if (other === undefined) return;
  throw new UsageError(`usage: ${beside} cannot be combined with ${other}`, {
    ...{ code: 'bad-option', hint: hint ?? `remove ${other}, or ${beside}` },
  });
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
