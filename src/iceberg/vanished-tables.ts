import { selectedTable } from '../declare/selected-table.ts';
import type { TableInForce } from '../warehouse/index.ts';
import { duckdbType } from './format/column-types.ts';
import type { PublishTarget } from './publish-target.ts';
import type { TableMetadata } from './table-metadata.ts';

/** Tables that were published and have no rows any more, such as forgotten ones. They are published as empty, with their columns. */
export async function vanishedTables(
  target: PublishTarget,
  held: readonly TableInForce[],
): Promise<readonly TableInForce[]> {
  const names = new Set(held.map(({ table }) => table.name));
  const found: TableInForce[] = [];
  for (const name of await target.tables()) {
    if (names.has(name)) continue;
    const metadata = (await target.versionsOf(name).current())?.metadata;
    if (metadata !== undefined) found.push(emptyTable(name, metadata));
  }
  return found;
}

function emptyTable(name: string, metadata: TableMetadata): TableInForce {
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id']);
  const columns = (schema?.fields ?? []).map((field) => ({ name: field.name, type: duckdbType(field.type) }));
  const { fields } = metadata['partition-specs'][0] ?? { fields: [] };
  const isDated = fields.length > 0;
  const table = selectedTable({ name, grain: '', key: [], isDated, columns });
  return { table, isMart: false, partition: fields[0]?.name, files: [] };
}
