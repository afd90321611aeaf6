import type { DeliveryTarget } from '../jobs/delivery-target.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { FollowedTables } from './followed-tables.ts';

/** An alert whose select, message and targets are valid. */
export interface Alert {
  /** Name of the file, without its ending. */
  readonly name: string;
  /** A select over `new_<table>`. */
  readonly select: string;
  /** The text, with columns of the select in braces. */
  readonly message: string;
  /** How values are written into the message. Default: `html` for URLs, `none` for commands. */
  readonly escape: 'none' | 'html' | undefined;
  /** Columns of the select that identify a row. */
  readonly key: readonly string[];
  /** The tables whose new rows are read, as they are exported. */
  readonly followed: FollowedTables;
  readonly targets: readonly DeliveryTarget[];
}

/** Defines the relations `new_<table>` for a select. Adds no line before it, so that line numbers in errors stay valid. */
export function withNewRows(select: string, relations: Readonly<Record<string, string>>): string {
  const each = Object.entries(relations).map(([table, sql]) => `${quoteName(`new_${table}`)} AS (${sql})`);
  return `WITH ${each.join(', ')} SELECT * FROM (${select}\n)`;
}
