import type { Registry } from '../declare/registry.ts';
import type { ShownThing } from './shown-thing.ts';

/** A row, as `tonlake show TABLE KEY` names it. */
interface RowName {
  readonly table: string;
  readonly key: readonly string[];
}

/** The row that says where a thing is from: the one that is shown, if the thing is its key; undefined if no table has one. */
export function keyOf(registry: Registry, { kind, value, sections, places }: ShownThing): RowName | undefined {
  if (kind === 'block')
    return { table: registry.playing('headers').table.name, key: ['workchain=-1', `seqno=${value}`] };
  // The hash of a transaction is the id of its trace, too.
  const shown = places.find(({ isKey, table }) => isKey && sections[0]?.tables.includes(table));
  const place = shown ?? places[0];
  return place === undefined ? undefined : { table: place.table, key: [`${place.column}=${value}`] };
}
