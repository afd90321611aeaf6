import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { shellWord } from '../core/shell-word.ts';
import { beginSuggestions, type SuggestedCommand, type SuggestedFlags } from '../core/suggest.ts';

/** Options that select the warehouse and the network of a command. */
const PLACE = ['warehouse', 'network', 'store'] as const;
type PlaceFlags = { readonly [K in (typeof PLACE)[number]]?: string | undefined };

/** Commands that send requests, by default to the default network; others use the network of the warehouse. */
const REQUESTING: ReadonlySet<string> = new Set(['run', 'follow', 'api']);

let given: PlaceFlags = {};
let program: Command | undefined;

/** Remembers the flags of the current command, for the commands that it suggests. */
export function rememberFlags(root: Command, running: Command): void {
  program = root;
  const flags = PLACE.filter((name) => running.getOptionValueSource(name) === 'cli');
  given = Object.fromEntries(flags.map((name) => [name, String(running.getOptionValue(name))]));
}

/** Like `rememberFlags`, for a warehouse that no flag named, such as that of a job. */
export function rememberPlace(place: PlaceFlags): void {
  given = place;
}

/**
 * How the user started tonlake, for suggested commands.
 *
 * @param script path of the script that Node runs: a link named `tonlake`, or the compiled file itself
 * @param root folder of the package
 */
export function invocationOf(script: string, root: string, env: NodeJS.ProcessEnv, folder: string): string {
  const isInstalled = basename(script, '.cmd') === 'tonlake' || root.includes(`${sep}node_modules${sep}`);
  // npm sets it for npx, and for the scripts of a package that depends on tonlake.
  if (isInstalled) return env['npm_command'] === undefined ? 'tonlake' : 'npx tonlake';
  if (relative(root, folder) === '') return 'npm run -s tonlake --';
  return `node ${shellWord(relative(folder, join(root, 'dist/src/cli.js')))}`;
}

let invocation = 'tonlake';
let startedBy = '';

/** Called before the command line is parsed. */
export function rememberInvocation(script: string): void {
  given = {};
  program = undefined;
  startedBy = script;
  enterFolder('.');
  beginSuggestions(beginAsGiven);
}

/** Commands that are suggested from now on will be typed in this folder. */
export function enterFolder(folder: string): void {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  invocation = invocationOf(startedBy, root, process.env, resolve(folder));
}

/** Suggested commands start tonlake as the user did, with the flags for the same warehouse. */
function beginAsGiven(command: SuggestedCommand, flags: SuggestedFlags): readonly string[] {
  const found = command
    .split(' ')
    .reduce<Command | undefined>((above, name) => above?.commands.find((each) => each.name() === name), program);
  return [invocation, command, ...(found === undefined ? [] : placeFlags(found, flags))];
}

function placeFlags(command: Command, flags: SuggestedFlags): readonly string[] {
  return PLACE.flatMap((name) => {
    const value = given[name];
    const isKnown = command.options.some((option) => option.attributeName() === name);
    if (value === undefined || !isKnown || flags[name] !== undefined) return [];
    const hasWarehouse = given.warehouse !== undefined || flags['warehouse'] !== undefined;
    if (name === 'network' && hasWarehouse && !REQUESTING.has(command.name())) return [];
    return [`--${name}`, shellWord(value)];
  });
}
