import { isMasterchain } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';

/**
 * The column that tells to which masterchain block of its span a row belongs; undefined for tables of lists and lookups, whose rows
 * are not bound to the blocks of a span.
 */
export function boundColumn(registry: Registry, table: TableDef): string | undefined {
  const isBound = registry.pipelines.some(
    (pipeline) => isMasterchain(pipeline) && pipeline.tables.some(({ name }) => name === table.name),
  );
  return isBound || table.name === 'quarantine' ? seqnoColumn(table) : undefined;
}

/** The column of a row's masterchain block, in a table of a pipeline that walks them. */
export function seqnoColumn(table: TableDef): string {
  const inherited = table.columns.find(({ origin }) => origin.kind === 'parent' && origin.column === 'mc_block_seqno');
  return inherited?.name ?? 'mc_block_seqno';
}
