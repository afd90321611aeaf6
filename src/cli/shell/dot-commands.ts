import { didYouMean } from '../../core/did-you-mean.ts';
import { UsageError, usage } from '../../core/errors.ts';
import { alignColumns } from '../../core/format.ts';

/** How results are shown. `line`: one column per line. */
export const MODES = ['box', 'line', 'csv', 'json', 'jsonl'] as const;
export type Mode = (typeof MODES)[number];

/** What the commands of the shell change and print. */
export interface Settings {
  mode: Mode;
  /** True if the time of each statement is printed. */
  hasTimer: boolean;
  print(text: string): Promise<void>;
  /** Describes a table, mart or view; lists all without a name. */
  describe(name: string | undefined): Promise<string>;
  /** Writes results to a file from now on; undefined: to the terminal. */
  outputTo(path: string | undefined): Promise<void>;
  /** Writes the next result to a file, in the format of its extension. */
  writeNextTo(path: string): Promise<void>;
  end(): void;
}

interface DotCommand {
  /** Argument, for the help. */
  readonly takes?: string;
  readonly doc: string;
  /** Words for completion. `TABLES` stands for the names of all tables. */
  readonly words?: readonly string[];
  readonly run: (settings: Settings, argument: string | undefined) => Promise<void>;
}

/** In the words of a command: the names of tables, marts and views. */
export const TABLES = '\0tables';

const ON_OFF = ['on', 'off'] as const;

/** Commands of the shell, by name. */
export const dotCommands: ReadonlyMap<string, DotCommand> = new Map<string, DotCommand>([
  ['.describe', { takes: 'TABLE', doc: 'show the columns of a table, mart or view', words: [TABLES], run: describe }],
  ['.exit', { doc: 'end the shell, like .quit and Ctrl-D', run: async (settings) => settings.end() }],
  ['.help', { doc: 'list these commands', run: (settings) => settings.print(help()) }],
  [
    '.mode',
    {
      takes: MODES.join('|'),
      doc: 'how results are shown',
      words: MODES,
      run: async (settings, argument) => {
        if (argument === undefined) await settings.print(`${settings.mode}\n`);
        else settings.mode = oneOf('.mode', MODES, argument);
      },
    },
  ],
  [
    '.once',
    {
      takes: 'FILE',
      doc: 'write the next result to a .csv, .json, .jsonl, .parquet or .txt file',
      run: (settings, argument) => settings.writeNextTo(required('.once', 'a path', argument)),
    },
  ],
  [
    '.output',
    {
      takes: '[FILE]',
      doc: 'write all results to a file, in the current mode; without FILE: to the terminal',
      run: (settings, argument) => settings.outputTo(argument),
    },
  ],
  ['.quit', { doc: 'end the shell', run: async (settings) => settings.end() }],
  [
    '.tables',
    { doc: 'list tables and marts', run: async (settings) => settings.print(await settings.describe(undefined)) },
  ],
  [
    '.timer',
    {
      takes: 'on|off',
      doc: 'print the time of each statement, and its requests to an object store',
      words: ON_OFF,
      run: async (settings, argument) => {
        settings.hasTimer = oneOf('.timer', ON_OFF, argument ?? (settings.hasTimer ? 'off' : 'on')) === 'on';
      },
    },
  ],
]);

/** Runs a line that begins with a dot. @throws {UsageError} */
export async function runDotCommand(line: string, settings: Settings): Promise<void> {
  const [, name = '', argument] = /^\s*(\.\w*)(?:\s+(.*?))?[\s;]*$/.exec(line) ?? [];
  const command = dotCommands.get(name);
  if (command === undefined) {
    throw new UsageError(`unknown command '${name}'`, {
      hint: `${didYouMean(name, [...dotCommands.keys()])}.help lists all`,
    });
  }
  if (command.takes === undefined && argument !== undefined && argument !== '') {
    throw new UsageError(`${name} takes no argument, got ${argument}`);
  }
  await command.run(settings, argument === '' ? undefined : argument);
}

async function describe(settings: Settings, argument: string | undefined): Promise<void> {
  await settings.print(await settings.describe(required('.describe', 'the name of a table', argument)));
}

function help(): string {
  const usages = [...dotCommands].map(([name, { takes, doc }]) => [
    takes === undefined ? name : `${name} ${takes}`,
    doc,
  ]);
  return `${alignColumns(usages).join('\n')}\n\nA statement ends with a semicolon and can have several lines. Tab completes names, Ctrl-C cancels a query.\n`;
}

function required(name: string, what: string, argument: string | undefined): string {
  if (argument !== undefined) return argument;
  throw usage(`${what} after ${name}`);
}

function oneOf<T extends string>(name: string, allowed: readonly T[], argument: string): T {
  const found = allowed.find((each) => each === argument);
  if (found !== undefined) return found;
  throw usage(`${allowed.join(', ')} after ${name}`, argument);
}
