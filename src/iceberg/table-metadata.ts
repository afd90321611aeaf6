import { z } from 'zod';

/** Table metadata as we write it: https://iceberg.apache.org/spec/#table-metadata. */

const field = z.object({
  id: z.int().positive(),
  name: z.string(),
  required: z.literal(false),
  type: z.string(),
  doc: z.string().optional(),
});

/** A schema that we write. */
export const schemaSchema = z.object({ type: z.literal('struct'), 'schema-id': z.int(), fields: z.array(field) });

export const snapshotSchema = z.object({
  'sequence-number': z.int(),
  'snapshot-id': z.int(),
  'parent-snapshot-id': z.int().optional(),
  'timestamp-ms': z.number(),
  'manifest-list': z.string(),
  'schema-id': z.int(),
  summary: z.looseObject({ operation: z.string(), 'tonlake.entry': z.string() }),
});

/** Coverage of a table, in the summary of a snapshot. Days are UTC, lists of days are `2026-05-01/2026-05-07 2026-05-09/2026-05-09`. */
export interface SnapshotCoverage {
  /** The worst state of its blocks: `proven`, `unproven` or `missing`. */
  readonly 'tonlake.coverage'?: string;
  readonly 'tonlake.proven-days'?: string;
  /** Complete days without proof. */
  readonly 'tonlake.unproven-days'?: string;
  /** Complete days whose exports left out a column, as JSON by column; `*` for all columns. */
  readonly 'tonlake.left-out'?: string;
}

const partitionField = z.object({
  'source-id': z.int(),
  'field-id': z.int(),
  name: z.string(),
  transform: z.literal('identity'),
});

export const specSchema = z.object({ 'spec-id': z.int(), fields: z.array(partitionField) });

/** The id for a table without a snapshot. */
export const NO_SNAPSHOT = -1;

const metadata = z.object({
  'format-version': z.literal(2),
  'table-uuid': z.string(),
  location: z.string(),
  'last-sequence-number': z.int(),
  'last-updated-ms': z.number(),
  'last-column-id': z.int(),
  'current-schema-id': z.int(),
  schemas: z.array(schemaSchema).min(1),
  'default-spec-id': z.int(),
  /** The default first. */
  'partition-specs': z.array(specSchema).min(1),
  'last-partition-id': z.int(),
  'default-sort-order-id': z.literal(0),
  'sort-orders': z.array(z.object({ 'order-id': z.literal(0), fields: z.array(z.never()) })),
  properties: z.record(z.string(), z.string()),
  'current-snapshot-id': z.int(),
  refs: z.record(z.string(), z.object({ 'snapshot-id': z.int(), type: z.enum(['branch', 'tag']) })),
  snapshots: z.array(snapshotSchema),
  'snapshot-log': z.array(z.object({ 'snapshot-id': z.int(), 'timestamp-ms': z.number() })),
  'metadata-log': z.array(z.unknown()),
});

export type IcebergField = Readonly<z.infer<typeof field>>;
export type IcebergSchema = Readonly<z.infer<typeof schemaSchema>>;
export type Snapshot = Readonly<z.infer<typeof snapshotSchema>>;
export type PartitionSpec = Readonly<z.infer<typeof specSchema>>;
export type PartitionField = Readonly<z.infer<typeof partitionField>>;
export type TableMetadata = Readonly<z.infer<typeof metadata>>;

/** Name of the metadata of a version. */
export const metadataName = (version: number): string => `metadata/v${version}.metadata.json`;

/** The newest version of a table. `metadata` is undefined if it cannot be read, or was not written by us. */
export interface CurrentTable {
  /** Grows with each version. */
  readonly version: number;
  readonly metadata: TableMetadata | undefined;
}

/** The version of a metadata object; undefined for other objects. */
export function versionOf(key: string): number | undefined {
  const [, version] = /^metadata\/v(\d+)\.metadata\.json$/.exec(key) ?? [];
  return version === undefined ? undefined : Number(version);
}

/** Undefined for metadata in another form than ours. */
export function parseMetadata(text: string): TableMetadata | undefined {
  try {
    return metadata.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The snapshot that readers see. */
export function currentSnapshot({ snapshots, 'current-snapshot-id': id }: TableMetadata): Snapshot | undefined {
  return snapshots.find((one) => one['snapshot-id'] === id);
}

const TAG = 'entry-';

/** Tag of the snapshot for a ledger entry, the same in every table. */
export const tagOf = (entry: number): string => `${TAG}${entry}`;

/** The entry of a tag of ours; undefined for other references. */
export function entryOfTag(name: string): number | undefined {
  return new RegExp(`^${TAG}\\d+$`).test(name) ? Number(name.slice(TAG.length)) : undefined;
}

/** The newest entry that a table shows. */
export function newestEntry({ refs }: TableMetadata): number {
  return Object.keys(refs).reduce((most, name) => Math.max(most, entryOfTag(name) ?? 0), 0);
}
