import { UsageError, usage } from '../core/errors.ts';
import type { Context, ContextFlags } from './context.ts';

/** Names in `flags` of options of the command line. Those of the environment and of tonlake.yaml are for all commands. */
type Names<F> = readonly (keyof F & string)[];

/** Options that select a place. They are never refused, so that an alias can contain them. */
const OF_PLACE: ReadonlySet<string> = new Set(['network', 'warehouse', 's3Endpoint', 'pipelines']);

/**
 * Refuses options whose precondition is absent.
 * @param needed such as `--repair`
 * @throws {UsageError} `bad-option`
 */
export function requireNeeded<F extends ContextFlags>(
  { given }: Context<F>,
  needed: string,
  names: Names<F>,
  hintOf = (flag: string): string => `add ${needed}, or remove ${flag}`,
): void {
  const name = names.find((each) => given.has(each));
  if (name === undefined) return;
  throw usage(`${needed} with ${flagOf(name)}`, undefined, { code: 'bad-option', hint: hintOf(flagOf(name)) });
}

/** What cannot be combined with an option. */
interface Refused<F> {
  readonly words?: readonly string[];
  readonly names?: Names<F>;
  /** Default: to remove one of the two. */
  readonly hintOf?: (other: string) => string;
}

/**
 * Refuses options and words beside an option.
 * @throws {UsageError} `bad-option`
 */
export function refuseBeside<F extends ContextFlags>(
  { given }: Context<F>,
  name: keyof F & string,
  { words = [], names = [], hintOf = (other) => `remove ${other}, or ${flagOf(name)}` }: Refused<F>,
): void {
  const [other] = [...words, ...names.filter((each) => given.has(each)).map(flagOf)];
  if (other === undefined) return;
  throw new UsageError(`${flagOf(name)} cannot be combined with ${other}`, { code: 'bad-option', hint: hintOf(other) });
}

/**
 * Refuses all options beside one that turns the command into another, except those it takes and those of the place.
 * @param takes options that it takes
 * @throws {UsageError} `bad-option`
 */
export function refuseOthersBeside<F extends ContextFlags>(
  context: Context<F>,
  name: keyof F & string,
  takes: Names<F>,
  refused: Omit<Refused<F>, 'names'> = {},
): void {
  refuseBeside(context, name, { ...refused, names: othersGiven(context, [name, ...takes]) });
}

/** Options that were typed, except `takes` and those of the place. */
export function othersGiven<F extends ContextFlags>({ given }: Context<F>, takes: Names<F>): Names<F> {
  const taken: ReadonlySet<string> = new Set(takes);
  return [...given].filter((each): each is keyof F & string => !taken.has(each) && !OF_PLACE.has(each));
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
