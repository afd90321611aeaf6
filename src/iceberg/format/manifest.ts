import type { TableDef } from '../../declare/table.ts';
import { encodeAvro } from './avro-container.ts';
import { encodeBound } from './column-types.ts';
import {
  dayNumber,
  type FileStatistics,
  fileStatistics,
  type MeasuredFile,
  type SchemaField,
} from './file-statistics.ts';
import { manifestEntrySchema, manifestFileSchema, PARTITION_FIELD } from './manifest-schemas.ts';

/**
 * Number of ledger entries per manifest. A commit changes the last manifest, and those whose files it supersedes, so its cost does not depend on
 * the number of files.
 */
export const ENTRIES_PER_MANIFEST = 500;

/** A manifest in a manifest list. */
export interface ManifestFile {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly partition_spec_id: number;
  readonly content: number;
  readonly sequence_number: number;
  readonly min_sequence_number: number;
  readonly added_snapshot_id: number;
  readonly added_files_count: number;
  readonly existing_files_count: number;
  readonly deleted_files_count: number;
  readonly added_rows_count: number;
  readonly existing_rows_count: number;
  readonly deleted_rows_count: number;
  readonly partitions: readonly object[] | null;
}

/** Status of a data file in a snapshot. */
export const ENTRY_STATUS = { existing: 0, added: 1, deleted: 2 } as const;

/** A data file in a manifest. */
export interface ManifestDataFile extends FileStatistics {
  readonly content: number;
  readonly file_path: string;
  readonly file_format: string;
  readonly record_count: number;
  readonly file_size_in_bytes: number;
  readonly sort_order_id: number;
  readonly partition: Readonly<Record<string, number | null>>;
}

/** One data file of a manifest, with its status. The numbers of new ones are null: they inherit those of the manifest. */
export interface ManifestEntry {
  readonly status: number;
  readonly snapshot_id: number | null;
  readonly sequence_number: number | null;
  readonly file_sequence_number: number | null;
  readonly data_file: ManifestDataFile;
}

/** The schema of a manifest's table. */
export interface ManifestSchema {
  readonly 'schema-id': number;
  readonly fields: readonly SchemaField[];
}

/** The snapshot that a manifest is written for. */
export interface ManifestSnapshot {
  readonly id: number;
  readonly sequence: number;
  readonly schema: ManifestSchema;
  readonly specId: number;
}

/** A data file of a table for a manifest. @param uri its address for readers */
export function dataFileOf(
  uri: string,
  file: MeasuredFile & { readonly bytes: number },
  table: TableDef,
  partition: string | undefined,
  { fields }: ManifestSchema,
): ManifestDataFile {
  return {
    content: 0,
    file_path: uri,
    file_format: 'PARQUET',
    partition: partition === undefined ? {} : { [partition]: dayNumber(file.date) },
    record_count: file.rows,
    file_size_in_bytes: file.bytes,
    sort_order_id: 0,
    ...fileStatistics(table, partition, fields, file),
  };
}

/**
 * The bytes of a manifest, and its line in the manifest list.
 *
 * @param path its address for readers
 * @param partition name of the date column by which files are partitioned
 */
export function encodeManifest(
  path: string,
  partition: string | undefined,
  snapshot: ManifestSnapshot,
  entries: readonly ManifestEntry[],
): { readonly bytes: Buffer; readonly manifest: ManifestFile } {
  const { schema, specId } = snapshot;
  const header = {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'format-version': '2',
    content: 'data',
    'partition-spec': JSON.stringify(partitionFields(schema, partition)),
    'partition-spec-id': String(specId),
  };
  const bytes = encodeAvro(manifestEntrySchema(partition), header, entries);
  return { bytes, manifest: describeManifest(path, bytes.length, partition, snapshot, entries) };
}

/** The fields of the partition spec: the identity of the day, whose values come from the folders of files. */
export function partitionFields({ fields }: ManifestSchema, partition: string | undefined) {
  return fields
    .filter(({ name }) => name === partition)
    .map(({ id, name }) => ({ 'source-id': id, 'field-id': PARTITION_FIELD, name, transform: 'identity' as const }));
}

function describeManifest(
  path: string,
  length: number,
  partition: string | undefined,
  { id, sequence, specId }: ManifestSnapshot,
  entries: readonly ManifestEntry[],
): ManifestFile {
  const of = (wanted: number) => entries.filter((entry) => entry.status === wanted);
  const rows = (wanted: number) => of(wanted).reduce((sum, entry) => sum + entry.data_file.record_count, 0);
  const days = entries.flatMap(({ data_file }) => data_file.partition[partition ?? ''] ?? []).sort((a, b) => a - b);
  const bound = (day: number | undefined) => (day === undefined ? null : (encodeBound('date', String(day)) ?? null));
  return {
    manifest_path: path,
    manifest_length: length,
    partition_spec_id: specId,
    content: 0,
    sequence_number: sequence,
    min_sequence_number: Math.min(sequence, ...entries.map(({ sequence_number }) => sequence_number ?? sequence)),
    added_snapshot_id: id,
    added_files_count: of(ENTRY_STATUS.added).length,
    existing_files_count: of(ENTRY_STATUS.existing).length,
    deleted_files_count: of(ENTRY_STATUS.deleted).length,
    added_rows_count: rows(ENTRY_STATUS.added),
    existing_rows_count: rows(ENTRY_STATUS.existing),
    deleted_rows_count: rows(ENTRY_STATUS.deleted),
    partitions:
      partition === undefined
        ? []
        : [
            {
              contains_null: days.length < entries.length,
              contains_nan: null,
              lower_bound: bound(days[0]),
              upper_bound: bound(days.at(-1)),
            },
          ],
  };
}

/** @param parent id of the previous snapshot, if there is one */
export function encodeManifestList(
  { id, sequence }: ManifestSnapshot,
  parent: number | undefined,
  manifests: readonly ManifestFile[],
): Buffer {
  const header = {
    'snapshot-id': String(id),
    'parent-snapshot-id': String(parent ?? 'null'),
    'sequence-number': String(sequence),
    'format-version': '2',
  };
  return encodeAvro(manifestFileSchema, header, manifests);
}
