import { closest, distance } from 'fastest-levenshtein';

/** The choice that takes the fewest changes of one character to reach from what was typed. */
export function nearest(typed: string, choices: readonly string[]): string {
  return closest(typed, choices);
}

/** How many changes of one character lie between two words. */
export function wordDistance(a: string, b: string): number {
  return distance(a, b);
}
