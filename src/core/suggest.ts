import { shellFlags } from './shell-word.ts';

/** Commands that texts suggest; the words after `tonlake`. */
export type SuggestedCommand =
  | 'api'
  | 'build'
  | 'copy'
  | 'follow'
  | 'forget'
  | 'init'
  | 'job list'
  | 'job run'
  | 'publish iceberg'
  | 'report'
  | 'run'
  | 'sandbox'
  | 'show'
  | 'sql'
  | 'status'
  | 'test'
  | 'verify';

/** Flags of a command with their values. */
export type SuggestedFlags = Readonly<Record<string, string | undefined>>;

/** The first words of a command, as the user has to type them. */
type Beginning = (command: SuggestedCommand, flags: SuggestedFlags) => readonly string[];

const plain: Beginning = (command) => ['tonlake', command];
let beginning = plain;

/**
 * A command that can be typed as it stands: `tonlake verify --repair --warehouse w`. In the command line it starts tonlake as the user
 * did, and names the same warehouse.
 *
 * @param words what follows the command, quoted for a shell
 * @param flags quoted here; those without a value are left out
 */
export function suggest(command: SuggestedCommand, words = '', flags: SuggestedFlags = {}): string {
  return [...beginning(command, flags), words, ...shellFlags(flags)].filter((word) => word !== '').join(' ');
}

/** Sets the beginning of further suggestions. Default: the bare command. */
export function beginSuggestions(how: Beginning = plain): void {
  beginning = how;
}
