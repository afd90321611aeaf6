import type { Command } from 'commander';
import { collectColumns, collectNames, pipelinesOption } from '../common-options.ts';

/** Flags that select tables and columns. */
export interface SelectionFlags {
  readonly without?: readonly string[];
  readonly columns?: Readonly<Record<string, readonly string[]>>;
  readonly withoutColumn?: readonly string[];
}

/** Adds the folder of own pipelines, and the options that select tables and columns. */
export function withSelection(command: Command): Command {
  return command
    .addOption(pipelinesOption())
    .option('--without <tables>', 'tables to leave out, such as account_states; repeatable', collectNames)
    .option(
      '--columns <table=columns>',
      'columns of a table to export; its key, sort and proof columns are always included; repeatable',
      collectColumns,
    )
    .option(
      '--without-column <table.column>',
      'columns to leave out, such as messages.body_boc; repeatable',
      collectNames,
    );
}
