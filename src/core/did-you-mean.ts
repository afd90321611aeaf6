import { closest, distance } from 'fastest-levenshtein';

/**
 * The choice that begins with what was typed, or else takes the fewest changes of one character to reach from it.
 * @returns nothing when more than a third of the characters would change: then none was meant
 */
export function nearest(typed: string, choices: readonly string[]): string | undefined {
  const longer = typed === '' ? undefined : choices.find((choice) => choice.startsWith(typed));
  if (longer !== undefined || choices.length === 0) return longer;
  const swapped = choices.find((choice) => isSwapped(typed, choice));
  if (swapped !== undefined) return swapped;
  const near = closest(typed, choices);
  return distance(typed, near) <= Math.ceil(Math.max(typed.length, near.length) / 3) ? near : undefined;
}

/** Whether two neighbours changed places: `rnu` for `run`. */
function isSwapped(typed: string, choice: string): boolean {
  const at = [...choice].findIndex((letter, index) => letter !== typed[index]);
  const swapped = `${choice.slice(0, at)}${choice[at + 1] ?? ''}${choice[at] ?? ''}${choice.slice(at + 2)}`;
  return at >= 0 && swapped === typed;
}

/** `did you mean blocks? `, before what else is said; nothing when no choice is near. */
export function didYouMean(typed: string, choices: readonly string[]): string {
  const near = nearest(typed, choices);
  return near === undefined ? '' : `did you mean ${near}? `;
}
