import { closest, distance } from 'fastest-levenshtein';
import { type UsageError, usage } from './errors.ts';

/**
 * The choice that begins with the typed text, or else has the smallest edit distance to it.
 * @returns undefined if more than a third of the characters differ
 */
export function nearest(typed: string, choices: readonly string[]): string | undefined {
  const longer = typed === '' ? undefined : choices.find((choice) => choice.startsWith(typed));
  if (longer !== undefined || choices.length === 0) return longer;
  const swapped = choices.find((choice) => isSwapped(typed, choice));
  if (swapped !== undefined) return swapped;
  const near = closest(typed, choices);
  return distance(typed, near) <= Math.ceil(Math.max(typed.length, near.length) / 3) ? near : undefined;
}

/** True if two adjacent characters are swapped: `rnu` for `run`. */
function isSwapped(typed: string, choice: string): boolean {
  const at = [...choice].findIndex((letter, index) => letter !== typed[index]);
  const swapped = `${choice.slice(0, at)}${choice[at + 1] ?? ''}${choice[at] ?? ''}${choice.slice(at + 2)}`;
  return at >= 0 && swapped === typed;
}

/** `did you mean blocks? `; empty if no choice is close. */
export function didYouMean(typed: string, choices: readonly string[]): string {
  const near = nearest(typed, choices);
  return near === undefined ? '' : `did you mean ${near}? `;
}

/** More names than these are listed only if none of them is close. */
const MAX_LISTED = 12;

/**
 * `did you mean blocks? There are: blocks, messages`, as hint for a name that is none of the choices.
 *
 * @param unlisted further choices, which are only guessed
 */
export function choicesFor(typed: string, choices: readonly string[], unlisted: readonly string[] = []): string {
  const guess = didYouMean(typed, [...choices, ...unlisted]);
  const list = choices.join(', ') || 'none';
  if (guess === '') return `there are: ${list}`;
  return choices.length > MAX_LISTED ? guess.trimEnd() : `${guess}There are: ${list}`;
}

/** @throws {UsageError} for a name that is none of the choices */
export function requireKnown(expected: string, got: string, choices: readonly string[], code?: string): void {
  if (!choices.includes(got)) throw unknownName(expected, got, choices, code);
}

/** The error for a name that is none of the choices. */
export function unknownName(expected: string, got: string, choices: readonly string[], code?: string): UsageError {
  return usage(expected, JSON.stringify(got), choicesFor(got, choices), { code });
}
