import { Command } from 'commander';
import { choicesFor } from '../core/did-you-mean.ts';
import { oneLine, UsageError } from '../core/errors.ts';
import { readVersion } from '../core/own-package.ts';
import { addCatalog } from './commands/catalog-command.ts';
import { addCheck } from './commands/check-command.ts';
import { addCompact } from './commands/compact-command.ts';
import { addCompletion } from './commands/completion-command.ts';
import { addCopy } from './commands/copy-command.ts';
import { addDescribe } from './commands/describe-command.ts';
import { addExplain } from './commands/explain-command.ts';
import { addExport } from './commands/export-command.ts';
import { addFetch } from './commands/fetch-command.ts';
import { addFiles } from './commands/files-command.ts';
import { addFollow } from './commands/follow-command.ts';
import { addForget } from './commands/forget-command.ts';
import { addHelp, OVERVIEW } from './commands/help-command.ts';
import { addInit } from './commands/init-command.ts';
import { addJob } from './commands/job-command.ts';
import { addMart } from './commands/mart-command.ts';
import { addPublish } from './commands/publish-command.ts';
import { addReport } from './commands/report-command.ts';
import { addPlan, addRun } from './commands/run-command.ts';
import { addSandbox } from './commands/sandbox-command.ts';
import { addSchedule } from './commands/schedule-command.ts';
import { addShell } from './commands/shell-command.ts';
import { addSql } from './commands/sql-command.ts';
import { addStatus } from './commands/status-command.ts';
import { addUi } from './commands/ui-command.ts';
import { addVerify } from './commands/verify-command.ts';
import { addWatch } from './commands/watch-command.ts';
import { fitParagraphs, fitTerminal } from './fit-terminal.ts';
import { groupOptions } from './help-text.ts';
import { rememberFlags } from './invocation.ts';

/** Commands by what they are for, in the order of the help. */
const GROUPS: readonly (readonly [title: string, commands: readonly ((program: Command) => void)[]])[] = [
  ['Export from the chain:', [addRun, addPlan, addFollow, addWatch, addFetch]],
  [
    'Look at a warehouse:',
    [addStatus, addDescribe, addSql, addShell, addUi, addReport, addExport, addFiles, addExplain],
  ],
  ['Derive tables, verify:', [addMart, addCheck, addVerify]],
  ['Maintain a warehouse:', [addCompact, addCopy, addPublish, addForget, addCatalog]],
  ['Automate:', [addJob, addSchedule, addInit]],
  ['Other:', [addSandbox, addCompletion, addHelp]],
];

/** Commands with more options than this have them in groups. */
const MANY_OPTIONS = 14;

/** The command line; docs/cli.md is generated from it. */
export function createProgram(): Command {
  const program = new Command('tonlake')
    .description(
      'Export the TON blockchain from a TON Index v3 API to Parquet or DuckDB, with proof that nothing is missing.',
    )
    .version(readVersion())
    .showSuggestionAfterError()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText('after', OVERVIEW);
  program.configureOutput({ writeOut: writeHelp, outputError: (text, write) => write(usageLine(text)) });
  for (const [title, adders] of GROUPS) {
    program.commandsGroup(title);
    for (const add of adders) add(program);
  }
  for (const command of program.commands.filter(({ commands }) => commands.length > 0)) requireSubcommand(command);
  for (const command of program.commands.filter(({ options }) => options.length > MANY_OPTIONS)) groupOptions(command);
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
    throw new UsageError(`usage: ${fault}`, { code: 'no-command', hint: choicesFor(got ?? '', names) });
  });
}

/** Commander wraps its own parts; the text below them is wrapped here, if there is a terminal. */
function writeHelp(text: string): void {
  process.stdout.write(text.startsWith('Usage:') ? text : fitTerminal(text, fitParagraphs));
}

/** `sql [query]`; without `[options]`, which all commands have. */
function termOf(command: Command): string {
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...names].join(' ');
}

/** A command and all its subcommands. */
export function withAllBelow(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

/** An error of commander in one line instead of two: `error: usage: unknown command 'ru'; hint: did you mean run?`. */
function usageLine(text: string): string {
  const [, fault = text, guess = ''] = /^error: (.*?)\.?\s*(?:\(Did you mean (.*?)\?\)\s*)?$/is.exec(text) ?? [];
  const hint = guess === '' ? 'see --help' : `did you mean ${guess}?`;
  return `error: usage: ${oneLine(fault)}; hint: ${hint}\n`;
}
