import { Command } from 'commander';
import { choicesFor } from '../core/did-you-mean.ts';
import { oneLine, UsageError } from '../core/errors.ts';
import { readVersion } from '../core/own-package.ts';
import { addApi } from './commands/api-command.ts';
import { addBuild } from './commands/build-command.ts';
import { addCompact } from './commands/compact-command.ts';
import { addCompletion } from './commands/completion-command.ts';
import { addCopy } from './commands/copy-command.ts';
import { addExport } from './commands/export-command.ts';
import { addFollow } from './commands/follow-command.ts';
import { addForget } from './commands/forget-command.ts';
import { addHelp, OVERVIEW } from './commands/help-command.ts';
import { addInit } from './commands/init-command.ts';
import { addJob } from './commands/job-command.ts';
import { addPublish } from './commands/publish-command.ts';
import { addReport } from './commands/report-command.ts';
import { addRun } from './commands/run-command.ts';
import { addSandbox } from './commands/sandbox-command.ts';
import { addShow } from './commands/show-command.ts';
import { addSql } from './commands/sql-command.ts';
import { addStatus } from './commands/status-command.ts';
import { addTest } from './commands/test-command.ts';
import { addUi } from './commands/ui-command.ts';
import { addVerify } from './commands/verify-command.ts';
import { fitParagraphs, fitTerminal } from './fit-terminal.ts';
import { groupOptions, hideOptions } from './help-text.ts';
import { rememberFlags } from './invocation.ts';

/** Commands by what they are for, in the order of the help. */
const GROUPS: readonly (readonly [title: string, commands: readonly ((program: Command) => void)[]])[] = [
  ['Export from the chain:', [addRun, addFollow, addApi]],
  ['Look at a warehouse:', [addStatus, addShow, addSql, addUi, addReport, addExport]],
  ['Derive tables, test and verify them:', [addBuild, addTest, addVerify]],
  ['Maintain a warehouse:', [addCompact, addCopy, addPublish, addForget]],
  ['Automate:', [addInit, addJob]],
];

/** Commands that the overview leaves out. */
const HIDDEN = [addSandbox, addCompletion, addHelp];

/** Commands with more options than this have them in groups. */
const MANY_OPTIONS = 14;

/**
 * The command line; docs/cli.md is generated from it.
 *
 * @param isWhole true to show all options of commands that have many
 */
export function createProgram(isWhole = true): Command {
  const program = new Command('tonlake')
    .description(
      'Export the TON blockchain from a TON Index v3 API to Parquet or DuckDB, with proof that nothing is missing.',
    )
    .version(readVersion())
    .showSuggestionAfterError()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', OVERVIEW);
  program.configureOutput({ writeOut: writeHelp, outputError: (text, write) => write(usageLine(text)) });
  for (const [title, adders] of GROUPS) {
    program.commandsGroup(title);
    for (const add of adders) add(program);
  }
  for (const add of HIDDEN) add(program);
  for (const command of program.commands.filter(({ commands }) => commands.length > 0)) requireSubcommand(command);
  for (const command of program.commands.filter(({ options }) => options.length > MANY_OPTIONS)) {
    groupOptions(command);
    if (!isWhole) hideOptions(command);
  }
  for (const command of withAllBelow(program)) command.exitOverride();
  program.hook('preAction', (root, running) => rememberFlags(root, running));
  return program;
}

/** Reports a missing or unknown subcommand in one line, like every usage error. */
function requireSubcommand(command: Command): void {
  const names = command.commands.map((each) => each.name());
  command.allowExcessArguments().action(() => {
    const [got] = command.args;
    const fault =
      got === undefined ? `expected a command of tonlake ${command.name()}, got none` : `unknown command '${got}'`;
    throw new UsageError(fault, { code: 'no-command', hint: choicesFor(got ?? '', names) });
  });
}

/** Commander wraps its own parts; the text below them is wrapped here, if there is a terminal. */
function writeHelp(text: string): void {
  process.stdout.write(text.startsWith('Usage:') ? text : fitTerminal(text, fitParagraphs));
}

/** A command and all its subcommands. */
export function withAllBelow(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

/** An error of commander in one line instead of two: `error: usage: unknown command 'ru'; hint: did you mean run?`. */
function usageLine(text: string): string {
  const [, fault = text, guess = ''] = /^error: (.*?)\.?\s*(?:\(Did you mean (.*?)\?\)\s*)?$/is.exec(text) ?? [];
  const hint = guess === '' ? 'see --help' : `did you mean ${guess}?`;
  return `error: usage: ${oneLine(wrongValue(fault) ?? fault)}; hint: ${hint}\n`;
}

/** `expected a number above 0, got x (--rps)`, in the words of a wrong key of a file; undefined for other faults. */
function wrongValue(fault: string): string | undefined {
  const [, flags = '', got = '', variable, rule] =
    /^option '(.*?)' (?:argument|value) '(.*)'(?: from env '(\w+)')? is invalid\. (.*)$/s.exec(fault) ?? [];
  const expected = rule?.replace(/^Allowed choices are/, 'Expected one of');
  if (expected?.startsWith('Expected ') !== true) return undefined;
  const [flag = ''] = /--[\w-]+/.exec(flags) ?? [];
  return `${expected.replace(/^E/, 'e')}, got ${got} (${variable ?? flag})`;
}
