import type { Registry } from '../declare/registry.ts';
import type { ShownThing } from './shown-thing.ts';

/** A row, as `tonlake show TABLE KEY` names it. */
interface RowName {
  readonly table: string;
  readonly key: readonly string[];
}

/** The row that says where a thing is from; undefined if no table has one. */
export function keyOf(registry: Registry, { kind, value, places }: ShownThing): RowName | undefined {
  if (kind === 'block')
    return { table: registry.playing('headers').table.name, key: ['workchain=-1', `seqno=${value}`] };
  const [place] = places;
  return place === undefined ? undefined : { table: place.table, key: [`${place.column}=${value}`] };
}
