import { type Command, Option } from 'commander';

/** Titles for the options of commands that have many, in the order of their help. Other options follow under `Options:`. */
const OPTION_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'What to export:': [
    'all',
    'range',
    'slice',
    'from',
    'history',
    'so-far',
    'backfill',
    'refresh',
    'marts',
    'lag',
    'pending',
    'every',
    'for',
    'pipelines',
    'without',
    'columns',
    'without-column',
  ],
  'Source and warehouse:': ['network', 'witness', 'warehouse', 's3-endpoint', 'store'],
  'Speed:': ['walk', 'priority', 'budget', 'rps', 'concurrency', 'wait', 'commit-every', 'content'],
  'After commits:': [
    'on-commit',
    'alerts',
    'publish',
    'location',
    'catalog',
    'namespace',
    'catalog-warehouse',
    'jobs',
    'drain',
  ],
  'Output:': ['dry-run', 'json', 'log', 'metrics', 'metrics-public', 'max-lag', 'help'],
};

const TITLES = Object.keys(OPTION_GROUPS);

/** Groups the options of a command in its help, in the order of the groups. */
export function groupOptions(command: Command): void {
  const help = new Option('-h, --help', 'display help for command');
  command.addHelpOption(help);
  const titleOf = (option: Option): string =>
    TITLES.find((title) => OPTION_GROUPS[title]?.includes(option.name())) ?? 'Options:';
  for (const option of [...command.options, help]) option.helpGroup(titleOf(option));
  // Commander prints groups in the order of their first options.
  (command.options as Option[]).sort((a, b) => TITLES.indexOf(titleOf(a)) - TITLES.indexOf(titleOf(b)));
}

/** Options that plain `--help` shows for commands with many; `--help --all` shows the rest. */
const IMPORTANT: Readonly<Record<string, readonly string[]>> = {
  run: ['all', 'range', 'network', 'warehouse', 'store', 'rps', 'without', 'dry-run', 'json', 'help'],
  follow: ['from', 'lag', 'backfill', 'marts', 'network', 'warehouse', 'rps', 'on-commit', 'json', 'help'],
};

/** Hides the other options of a command in `IMPORTANT`, and says how to see them. */
export function hideOptions(command: Command): void {
  const important = IMPORTANT[command.name()];
  if (important === undefined) return;
  const others = command.options.filter((option) => !important.includes(option.name()));
  for (const option of others) option.hideHelp();
  command.addHelpText('after', `\ntonlake ${command.name()} --help --all shows ${others.length} more options.`);
}
