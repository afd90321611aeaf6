import { didYouMean } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';

/** A pipeline, and its tables that a consumer reads. */
export interface FollowedTables {
  readonly pipeline: PipelineDef;
  readonly tables: readonly TableDef[];
}

/**
 * The pipelines of some tables, in order of their dependencies.
 * @throws {UsageError} `unknown-table`; also for tables of readings, which belong to no block
 */
export function followedTables(registry: Registry, names: readonly string[]): readonly FollowedTables[] {
  const blocks = registry.pipelines.filter(coversBlocks);
  const known = blocks.flatMap(({ tables }) => tables.map(({ name }) => name));
  for (const name of names) {
    if (known.includes(name)) continue;
    if (registry.tables.some((table) => table.name === name)) {
      throw usage('a table that is exported by blocks', name, 'its rows are readings of a moment: query them instead');
    }
    throw usage(
      'a table that is exported by blocks',
      name,
      `${didYouMean(name, known)}${suggest('show')} lists all tables`,
      { code: 'unknown-table' },
    );
  }
  if (names.length === 0) throw usage('at least one table', 'none');
  const wanted = blocks.filter(({ tables }) => tables.some(({ name }) => names.includes(name)));
  const order = registry.toRun(wanted.map(({ name }) => name)).map(({ name }) => name);
  return wanted
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((pipeline) => ({ pipeline, tables: pipeline.tables.filter(({ name }) => names.includes(name)) }));
}
