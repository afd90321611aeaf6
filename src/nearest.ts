import { closest, distance } from 'fastest-levenshtein';

/** The choice that begins with what was typed, or else takes the fewest changes of one character to reach from it. */
export function nearest(typed: string, choices: readonly string[]): string {
  return choices.find((choice) => choice.startsWith(typed)) ?? closest(typed, choices);
}

/** How many changes of one character lie between two words. */
export function wordDistance(a: string, b: string): number {
  return distance(a, b);
}
