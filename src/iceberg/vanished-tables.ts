import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { selectedTable } from '../declare/selected-table.ts';
import { ifAny } from '../files/disk.ts';
import type { TableInForce } from '../warehouse/index.ts';
import { duckdbType } from './format/column-types.ts';
import type { ObjectFolder } from './object-folder.ts';
import { readCurrent, type TableMetadata } from './table-metadata.ts';

/** Tables that were published and have no rows any more, such as forgotten ones. They are published as empty, with their columns. */
export async function vanishedTables(
  warehouse: string,
  held: readonly TableInForce[],
  folderOf: (table: string) => ObjectFolder,
): Promise<readonly TableInForce[]> {
  const names = new Set(held.map(({ table }) => table.name));
  const found: TableInForce[] = [];
  const folders = (await ifAny(readdir(join(warehouse, 'iceberg'), { withFileTypes: true }))) ?? [];
  for (const { name } of folders.filter((item) => item.isDirectory())) {
    if (names.has(name) || name.startsWith('_')) continue;
    const metadata = (await readCurrent(folderOf(name)))?.metadata;
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
