import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';

/**
 * Declarations of marts by name, for the descriptions of their columns: a warehouse has their names and types only.
 *
 * @param folder with the user's own marts
 */
export async function martDocs(registry: Registry, folder?: string): Promise<Readonly<Record<string, TableDef>>> {
  const { loadMarts } = await import('../marts/load-marts.ts');
  const marts = await loadMarts(registry, folder);
  return Object.fromEntries(marts.map(({ name, table }) => [name, table]));
}
