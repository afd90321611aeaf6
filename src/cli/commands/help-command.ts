import type { Command } from 'commander';
import { unknownName } from '../../core/did-you-mean.ts';

/** The end of the program's help. */
export const OVERVIEW = `
Start here:
  tonlake run transactions --network sandbox --range 1000:1999
  tonlake sql "select count(*) from transactions" --network sandbox

tonlake help COMMAND has the options and examples of a command.`;

/** `tonlake help`: the same as `--help` of a command. */
export function addHelp(program: Command): void {
  program
    .command('help', { hidden: true })
    .description('show the help of a command')
    .argument('[command...]', 'the command, such as run or job run (default: an overview)')
    .option('--all', 'show all options of commands that have many')
    .addHelpText('after', '\nExamples:\n  tonlake help run\n  tonlake help job run')
    .action((words: readonly string[]) => commandOf(program, words).outputHelp());
}

function commandOf(parent: Command, [word, ...below]: readonly string[]): Command {
  if (word === undefined) return parent;
  const names = parent.commands.map((each) => each.name());
  const found = parent.commands.find((each) => each.name() === word);
  if (found === undefined) throw unknownName('a command', word, names, 'no-command');
  return commandOf(found, below);
}
