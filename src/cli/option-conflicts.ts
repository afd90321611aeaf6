import { UsageError, usage } from '../core/errors.ts';
import type { Context, ContextFlags } from './context.ts';

/** Names of flags. Values from the environment and tonlake.yaml apply to all commands, so they are never refused. */
type Names<F> = readonly (keyof F & string)[];

/** Options that select the warehouse. They are never refused, so that an alias can contain them. */
const PLACE_OPTIONS: ReadonlySet<string> = new Set(['network', 'warehouse', 's3Endpoint', 'pipelines']);

/**
 * Refuses options that have no effect without another one.
 * @param needed such as `--repair`
 * @throws {UsageError}
 */
export function refuseWithout<F extends ContextFlags>(
  { given }: Context<F>,
  needed: string,
  names: Names<F>,
  hintOf = (flag: string): string => `add ${needed}, or remove ${flag}`,
): void {
  const name = names.find((each) => given.has(each));
  if (name === undefined) return;
  throw usage(`${needed} with ${flagOf(name)}`, undefined, hintOf(flagOf(name)));
}

/** What cannot be combined with an option. */
interface Refused<F> {
  readonly words?: readonly string[];
  readonly names?: Names<F>;
  /** Default: remove one of the two. */
  readonly hintOf?: (other: string) => string;
}

/**
 * Refuses options and words that cannot be combined with an option.
 * @throws {UsageError}
 */
export function refuseWith<F extends ContextFlags>(
  { given }: Context<F>,
  name: keyof F & string,
  { words = [], names = [], hintOf = (other) => `remove ${other}, or ${flagOf(name)}` }: Refused<F>,
): void {
  const [other] = [...words, ...names.filter((each) => given.has(each)).map(flagOf)];
  if (other === undefined) return;
  throw new UsageError(`${flagOf(name)} cannot be combined with ${other}`, { hint: hintOf(other) });
}

/**
 * Refuses all options beside one that changes what the command does, except `takes` and those that select the warehouse.
 * @param takes options that can be combined with it
 * @throws {UsageError}
 */
export function refuseOthersWith<F extends ContextFlags>(
  context: Context<F>,
  name: keyof F & string,
  takes: Names<F>,
  refused: Omit<Refused<F>, 'names'> = {},
): void {
  refuseWith(context, name, { ...refused, names: otherOptions(context, [name, ...takes]) });
}

/** Options that were typed, except `takes` and those that select the warehouse. */
export function otherOptions<F extends ContextFlags>({ given }: Context<F>, takes: Names<F>): Names<F> {
  const taken: ReadonlySet<string> = new Set(takes);
  return [...given].filter((each): each is keyof F & string => !taken.has(each) && !PLACE_OPTIONS.has(each));
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
