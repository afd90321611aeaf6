import type { Argument, Command, Option } from 'commander';
import { endpointNames, endpointOf } from '../api/endpoints.ts';
import { loadRegistry } from '../declare/registry.ts';
import { networkNames } from '../http/network.ts';
import { shippedNames } from '../sql/shipped-queries.ts';

/** A word that can stand next, and what it is. */
interface Candidate {
  readonly word: string;
  readonly doc: string;
}

/**
 * Completes the last of some words of the command line.
 *
 * @param words after `tonlake`; the last may be empty
 * @returns none where a path can stand, so that the shell completes paths
 */
export async function completeWords(program: Command, words: readonly string[]): Promise<readonly Candidate[]> {
  const last = words.at(-1) ?? '';
  const { command, path, position, pending } = follow(program, words.slice(0, -1));
  const of = async (given: Option | Argument, name: string, from: string): Promise<readonly Candidate[]> => {
    const values = given.argChoices ?? (await valuesOf(name, path.join(' ')));
    return startingWith(
      values.map((word) => ({ word, doc: '' })),
      from,
    );
  };
  if (pending !== undefined) return of(pending, pending.long ?? '', last);
  const [, flag, value] = /^(--[\w-]+)=(.*)$/.exec(last) ?? [];
  if (flag !== undefined && value !== undefined) {
    const option = optionOf(command, flag);
    if (option === undefined) return [];
    return (await of(option, flag, value)).map(({ word, doc }) => ({ word: `${flag}=${word}`, doc }));
  }
  if (last.startsWith('-')) return startingWith(command.createHelp().visibleOptions(command).map(optionWord), last);
  const subcommands = command.createHelp().visibleCommands(command);
  if (subcommands.length > 0) {
    return startingWith(
      subcommands.map((each) => ({ word: each.name(), doc: each.description() })),
      last,
    );
  }
  const { registeredArguments: known } = command;
  const argument = known[position] ?? (known.at(-1)?.variadic === true ? known.at(-1) : undefined);
  return argument === undefined ? [] : of(argument, argument.name(), last);
}

interface Place {
  readonly command: Command;
  /** Names of the command and those above it, without `tonlake`. */
  readonly path: readonly string[];
  /** Number of arguments so far. */
  readonly position: number;
  /** The option whose value is next. */
  readonly pending: Option | undefined;
}

function follow(program: Command, words: readonly string[]): Place {
  let command = program;
  const path: string[] = [];
  let position = 0;
  let pending: Option | undefined;
  for (const word of words) {
    // Bash takes `=` for a word.
    if (word === '=') continue;
    if (pending !== undefined) pending = undefined;
    else if (word.startsWith('-')) {
      const option = optionOf(command, word);
      pending = option?.required === true || option?.optional === true ? option : undefined;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) position++;
      else {
        command = next;
        path.push(word);
      }
    }
  }
  return { command, path, position, pending };
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ long, short }) => long === word || short === word);
}

function optionWord({ long, short, description }: Option): Candidate {
  return { word: long ?? short ?? '', doc: description };
}

function startingWith(candidates: readonly Candidate[], start: string): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(start));
}

/**
 * Values of an argument, by its name and the names of its command, or of an option, by its name: `--network`. None for paths and free text.
 */
async function valuesOf(argument: string, command: string): Promise<readonly string[]> {
  switch (argument) {
    case '--network':
      return networkNames;
    case 'pipeline':
    case 'pipelines':
      return (await loadRegistry()).pipelines.map(({ name }) => name);
    case 'names':
      return [...(await loadRegistry()).pipelines.map(({ name }) => name), ...(await shippedNames('marts'))];
    case 'rows':
    case 'thing': {
      const [{ tables }, { ownRelations }] = await Promise.all([
        loadRegistry(),
        import('../warehouse/query/state-relations.ts'),
      ]);
      const declared = tables.flatMap((table) => [table, ...table.views]);
      return [...[...declared, ...ownRelations].map(({ name }) => name), ...(await shippedNames('marts'))];
    }
    case 'name':
      return shippedNames(command === 'test' ? 'checks' : 'marts');
    case 'report':
      return shippedNames('reports');
    case 'endpoint':
      return endpointNames.map((name) => endpointOf(name).path.slice(1));
    default:
      return [];
  }
}
