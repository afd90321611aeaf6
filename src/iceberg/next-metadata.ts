import type { TableInForce } from '../warehouse/index.ts';
import { nameMapping } from './evolve-schema.ts';
import { PARTITION_FIELD } from './format/manifest-schemas.ts';
import type { ManifestChanges, NextSnapshot } from './plan-manifests.ts';
import {
  entryOfTag,
  type IcebergSchema,
  type PartitionSpec,
  type Snapshot,
  type SnapshotCoverage,
  type TableMetadata,
  tagOf,
} from './table-metadata.ts';

interface SnapshotOptions {
  readonly table: TableInForce;
  readonly entry: number;
  readonly now: number;
  readonly next: NextSnapshot;
  readonly changes: ManifestChanges;
  readonly coverage: SnapshotCoverage;
  /** The previous snapshot; undefined for the first one. */
  readonly parent: Snapshot | undefined;
  /** Address of the manifest list for readers. */
  readonly list: string;
}

/** A snapshot of the files in force. */
export function nextSnapshot({ table, entry, now, next, changes, parent, list, coverage }: SnapshotOptions): Snapshot {
  const { added, removed } = changes;
  const rows = table.files.reduce((sum, file) => sum + file.rows, 0);
  const bytes = table.files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    'sequence-number': next.sequence,
    'snapshot-id': next.id,
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent['snapshot-id'] }),
    'timestamp-ms': now,
    'manifest-list': list,
    'schema-id': next.schema['schema-id'],
    summary: {
      operation: removed.files > 0 ? 'overwrite' : 'append',
      'tonlake.entry': String(entry),
      ...coverage,
      'added-data-files': String(added.files),
      'added-records': String(added.rows),
      'deleted-data-files': String(removed.files),
      'deleted-records': String(removed.rows),
      'total-data-files': String(table.files.length),
      'total-records': String(rows),
      'total-files-size': String(bytes),
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
    },
  };
}

interface MetadataOptions {
  readonly table: TableInForce;
  readonly entry: number;
  /** Tags of older entries, and snapshots without other tags, are dropped. */
  readonly oldest: number;
  readonly now: number;
  readonly location: string;
  readonly uuid: string;
  /** The previous version; undefined for the first one. */
  readonly history: TableMetadata | undefined;
  readonly schema: IcebergSchema;
  readonly lastColumnId: number;
  readonly lastSequence: number;
  readonly spec: PartitionSpec;
  /** The current snapshot. */
  readonly snapshot: Snapshot;
}

/** The metadata of the next version: the new snapshot, and earlier ones that have not expired. */
export function nextMetadata(options: MetadataOptions): TableMetadata {
  const { table, entry, oldest, now, history, schema, snapshot, spec } = options;
  const id = snapshot['snapshot-id'];
  const tags = Object.entries(history?.refs ?? {}).filter(([name]) => (entryOfTag(name) ?? -1) >= oldest);
  const named = new Set(tags.map(([, ref]) => ref['snapshot-id']));
  const older = (history?.snapshots ?? []).filter((one) => named.has(one['snapshot-id']) && one['snapshot-id'] !== id);
  const snapshots = [...older, snapshot];
  const schemas = [...(history?.schemas ?? []).filter((one) => one['schema-id'] !== schema['schema-id']), schema];
  const used = new Set(snapshots.map((one) => one['schema-id']));
  const usedSchemas = schemas.filter((one) => one === schema || used.has(one['schema-id']));
  return {
    'format-version': 2,
    'table-uuid': options.uuid,
    location: options.location,
    'last-sequence-number': options.lastSequence,
    'last-updated-ms': now,
    'last-column-id': options.lastColumnId,
    'current-schema-id': schema['schema-id'],
    schemas: usedSchemas,
    'default-spec-id': spec['spec-id'],
    'partition-specs': [spec],
    'last-partition-id': PARTITION_FIELD,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: {
      'schema.name-mapping.default': nameMapping(usedSchemas),
      // The data files belong to the warehouse: no engine may expire snapshots, purge the table or clean up its files.
      'gc.enabled': 'false',
      'write.format.default': 'parquet',
      owner: 'tonlake',
      ...commentOf(table, history),
    },
    'current-snapshot-id': id,
    refs: {
      main: { 'snapshot-id': id, type: 'branch' },
      ...Object.fromEntries(tags),
      [tagOf(entry)]: { 'snapshot-id': id, type: 'tag' },
    },
    snapshots,
    'snapshot-log': snapshots.map((one) => ({
      'snapshot-id': one['snapshot-id'],
      'timestamp-ms': one['timestamp-ms'],
    })),
    'metadata-log': [],
  };
}

/** The grain of the table, if it is declared. */
function commentOf({ table: { grain } }: TableInForce, history: TableMetadata | undefined) {
  const comment = grain === '' ? history?.properties['comment'] : grain;
  return comment === undefined ? {} : { comment };
}
