/** Avro schemas of manifests and manifest lists: https://iceberg.apache.org/spec/#manifests, with the field ids of version 2. */

const required = (id: number, name: string, type: unknown) => ({ name, type, 'field-id': id });
const optional = (id: number, name: string, type: unknown) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
});

/** A map with integer keys, which Avro represents as a list of pairs. */
const intMap = (keyId: number, valueId: number, value: string) => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${keyId}_v${valueId}`,
    fields: [required(keyId, 'key', 'int'), required(valueId, 'value', value)],
  },
});

/** Id of the only field of a partition spec. */
export const PARTITION_FIELD = 1000;

const partitionSchema = (partition: string | undefined) => ({
  type: 'record',
  name: 'r102',
  fields: partition === undefined ? [] : [optional(PARTITION_FIELD, partition, { type: 'int', logicalType: 'date' })],
});

/** One data file of a manifest. @param partition name of the date column by which files are partitioned */
export const manifestEntrySchema = (partition: string | undefined) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    required(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    required(2, 'data_file', {
      type: 'record',
      name: 'r2',
      fields: [
        required(134, 'content', 'int'),
        required(100, 'file_path', 'string'),
        required(101, 'file_format', 'string'),
        required(102, 'partition', partitionSchema(partition)),
        required(103, 'record_count', 'long'),
        required(104, 'file_size_in_bytes', 'long'),
        optional(109, 'value_counts', intMap(119, 120, 'long')),
        optional(110, 'null_value_counts', intMap(121, 122, 'long')),
        optional(125, 'lower_bounds', intMap(126, 127, 'bytes')),
        optional(128, 'upper_bounds', intMap(129, 130, 'bytes')),
        optional(140, 'sort_order_id', 'int'),
      ],
    }),
  ],
});

const summarySchema = {
  type: 'record',
  name: 'r508',
  fields: [
    required(509, 'contains_null', 'boolean'),
    optional(518, 'contains_nan', 'boolean'),
    optional(510, 'lower_bound', 'bytes'),
    optional(511, 'upper_bound', 'bytes'),
  ],
};

/** One manifest of a manifest list. */
export const manifestFileSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    required(500, 'manifest_path', 'string'),
    required(501, 'manifest_length', 'long'),
    required(502, 'partition_spec_id', 'int'),
    required(517, 'content', 'int'),
    required(515, 'sequence_number', 'long'),
    required(516, 'min_sequence_number', 'long'),
    required(503, 'added_snapshot_id', 'long'),
    required(504, 'added_files_count', 'int'),
    required(505, 'existing_files_count', 'int'),
    required(506, 'deleted_files_count', 'int'),
    required(512, 'added_rows_count', 'long'),
    required(513, 'existing_rows_count', 'long'),
    required(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', { type: 'array', items: summarySchema, 'element-id': 508 }),
  ],
};
