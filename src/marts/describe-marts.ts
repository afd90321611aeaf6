import { alignColumns } from '../core/format.ts';
import { kinds } from '../declare/kind.ts';
import type { MartDef } from './load-marts.ts';

/** Describes a mart as plain data, for JSON and docs. */
export function martSummary({ name, file, question, grain, units, inputs, optional, isDaily, merge, table }: MartDef) {
  return {
    table: name,
    mart: true,
    question,
    grain,
    units,
    key: table.key,
    inputs,
    optional,
    daily: isDaily,
    merged: merge !== undefined,
    file: `sql/marts/${file.name}.sql`,
    columns: table.columns.map(({ name: column, kind, unit, doc }) => {
      return { name: column, type: kinds[kind].sql, unit, doc };
    }),
  };
}

/** One line per mart. */
export function describeMarts(marts: readonly MartDef[], title = 'marts, which the build command builds'): string {
  const lines = alignColumns(marts.map(({ name, question }) => [name, question]));
  return `${title}:\n${lines.join('\n')}\n`;
}

/** A mart with its columns, for a terminal. */
export function describeMart(mart: MartDef): string {
  const { table, question, grain, key, inputs, optional, daily, merged, columns } = martSummary(mart);
  const how = daily ? 'built day by day' : merged ? 'merged with new blocks' : 'rebuilt in full';
  const without = optional.length === 0 ? '' : `, optional: ${optional.join(', ')}`;
  const rows = columns.map(({ name, type, unit, doc }) => {
    return [name, type, `${doc}${unit === undefined ? '' : ` [${unit}]`}`];
  });
  return [
    `${table}: ${grain}`,
    question,
    `key (${key.join(', ')}), ${how} from ${inputs.join(', ')}${without}`,
    '',
    ...alignColumns(rows),
    '',
  ].join('\n');
}
