import { isMasterchain, type PipelineDef } from './pipeline.ts';
import type { TableDef } from './table.ts';

/** The column with the masterchain block of a row, in tables of pipelines that walk blocks. */
export function seqnoColumn(table: TableDef): string {
  const inherited = table.columns.find(({ origin }) => origin.kind === 'parent' && origin.column === 'mc_block_seqno');
  return inherited?.name ?? 'mc_block_seqno';
}

/** The column that binds a row to a masterchain block of its entry; undefined for rows that belong to no block. */
export function blockColumn(pipeline: PipelineDef, table: TableDef): string | undefined {
  if (isMasterchain(pipeline) || table.name === 'quarantine') return seqnoColumn(table);
  if (pipeline.walk.kind !== 'block') return undefined;
  const { column } = pipeline.walk;
  return table.columns.find(
    ({ name, origin }) => name === column || (origin.kind === 'parent' && origin.column === column),
  )?.name;
}
