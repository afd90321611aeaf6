import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy } from '../../core/group-by.ts';
import type { TableDef } from '../../declare/table.ts';
import { icebergType } from '../../iceberg/format/column-types.ts';
import type { SchemaField } from '../../iceberg/format/file-statistics.ts';
import {
  dataFileOf,
  ENTRIES_PER_MANIFEST,
  ENTRY_STATUS,
  encodeManifest,
  encodeManifestList,
  type ManifestFile,
  type ManifestSnapshot,
  partitionFields,
} from '../../iceberg/format/manifest.ts';
import { PARTITION_FIELD } from '../../iceberg/format/manifest-schemas.ts';
import { DATE_COLUMN, dateIn } from '../file-layout.ts';
import type { EntryFile, EntryGroup } from '../parquet-store/entry-files.ts';

/** The metadata of one group of files. */
interface Written {
  readonly metadata: string;
  readonly list: string;
  /** By name, which is a hash of their files. */
  readonly manifests: ReadonlyMap<string, ManifestFile>;
}

/**
 * Local Iceberg metadata, made from the ledger alone, of data files in an object store. It gives DuckDB the size, day and bounds of each
 * file, so DuckDB sends no request for these, and none for files that a query excludes.
 *
 * Each group of files with the same columns is a separate Iceberg table, so nothing depends on how engines read older columns.
 */
export class ScanMetadata {
  readonly #folder: string;
  readonly #written = new Map<string, Written>();
  #count = 0;

  /** @param folder exists, and is removed by the caller */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Writes the metadata of a group of files, in place of that of the same table and columns. @returns its path
   *
   * @throws {RangeError} if a column has a type that Iceberg lacks
   */
  write(table: TableDef, group: EntryGroup): string {
    const key = `${table.name} ${group.schema}`;
    const before = this.#written.get(key);
    const written = this.#writeTable(table, group, before);
    this.#written.set(key, written);
    if (before !== undefined) {
      const old = [...before.manifests.keys()].filter((name) => !written.manifests.has(name));
      for (const name of [before.metadata, before.list, ...old]) rmSync(join(this.#folder, name), { force: true });
    }
    return join(this.#folder, written.metadata);
  }

  #writeTable(table: TableDef, { columns, files }: EntryGroup, before: Written | undefined): Written {
    const fields = columns.map(({ name, type }, at) => ({
      id: at + 1,
      name,
      required: false,
      type: icebergType(type),
    }));
    const isDated = table.time !== undefined && columns.some(({ name }) => name === DATE_COLUMN);
    const partition = isDated ? DATE_COLUMN : undefined;
    const snapshot: ManifestSnapshot = { id: 1, sequence: 1, schema: { 'schema-id': 0, fields }, specId: 0 };
    const manifests = new Map<string, ManifestFile>();
    const parts = groupBy(files, ({ entry }) => Math.floor(entry / ENTRIES_PER_MANIFEST));
    for (const part of parts.values()) {
      const name = nameOf(table, part);
      manifests.set(name, before?.manifests.get(name) ?? this.#writeManifest(name, table, partition, snapshot, part));
    }
    this.#count += 1;
    const list = `list-${this.#count}.avro`;
    this.#put(list, encodeManifestList(snapshot, undefined, [...manifests.values()]));
    const metadata = `table-${this.#count}.metadata.json`;
    this.#put(metadata, JSON.stringify(tableMetadata(this.#folder, fields, partition, join(this.#folder, list))));
    return { metadata, list, manifests };
  }

  #writeManifest(
    name: string,
    table: TableDef,
    partition: string | undefined,
    snapshot: ManifestSnapshot,
    files: readonly EntryFile[],
  ): ManifestFile {
    const entries = files.map(({ file, place }) => ({
      status: ENTRY_STATUS.added,
      snapshot_id: 1,
      sequence_number: null,
      file_sequence_number: null,
      data_file: dataFileOf(place, { ...file, date: dateIn(file.path) }, table, partition, snapshot.schema),
    }));
    const { bytes, manifest } = encodeManifest(join(this.#folder, name), partition, snapshot, entries);
    this.#put(name, bytes);
    return manifest;
  }

  #put(name: string, content: Uint8Array | string): void {
    writeFileSync(join(this.#folder, name), content, { mode: 0o600 });
  }
}

/** Equal for the same files at the same places. */
function nameOf({ name }: TableDef, files: readonly EntryFile[]): string {
  const hash = createHash('sha256').update(`${name}\n`);
  for (const { entry, place } of files) hash.update(`${entry} ${place}\n`);
  return `m-${hash.digest('hex').slice(0, 24)}.avro`;
}

/** Table metadata with one snapshot, and only the fields that readers require. */
function tableMetadata(location: string, fields: readonly SchemaField[], partition: string | undefined, list: string) {
  const schema = { type: 'struct', 'schema-id': 0, fields };
  return {
    ...{ 'format-version': 2, 'table-uuid': '00000000-0000-4000-8000-000000000000', location },
    ...{ 'last-sequence-number': 1, 'last-updated-ms': 0, 'last-column-id': fields.length },
    ...{ 'current-schema-id': 0, schemas: [schema] },
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: partitionFields({ 'schema-id': 0, fields }, partition) }],
    'last-partition-id': PARTITION_FIELD,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    // The files have no field ids.
    properties: {
      'schema.name-mapping.default': JSON.stringify(fields.map(({ id, name }) => ({ 'field-id': id, names: [name] }))),
    },
    'current-snapshot-id': 1,
    refs: { main: { 'snapshot-id': 1, type: 'branch' } },
    snapshots: [
      {
        ...{ 'sequence-number': 1, 'snapshot-id': 1, 'timestamp-ms': 0, 'manifest-list': list },
        summary: { operation: 'append' },
      },
    ],
    'snapshot-log': [],
    'metadata-log': [],
  };
}
