import { seqnoColumn } from '../declare/block-column.ts';
import { isMasterchain } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';

/**
 * The column with the masterchain block of a row that headers prove; undefined for lists and lookups, whose rows can belong to blocks outside
 * their span.
 */
export function boundColumn(registry: Registry, table: TableDef): string | undefined {
  const isBound = registry.pipelines.some(
    (pipeline) => isMasterchain(pipeline) && pipeline.tables.some(({ name }) => name === table.name),
  );
  return isBound || table.name === 'quarantine' ? seqnoColumn(table) : undefined;
}
