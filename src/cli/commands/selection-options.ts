import type { Command } from 'commander';
import { runOptions } from '../../jobs/step-options.ts';
import { collectColumns, collectNames, optionOf, pipelinesOption } from '../common-options.ts';

/** Adds the folder of own pipelines, and the options that select tables and columns. */
export function withSelection(command: Command): Command {
  return command
    .addOption(pipelinesOption())
    .addOption(optionOf('--without <tables>', runOptions.without, collectNames))
    .addOption(optionOf('--columns <table=columns>', runOptions.columns, collectColumns))
    .addOption(optionOf('--without-column <table.column>', runOptions.withoutColumns, collectNames));
}
