import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { IcebergSchema, PartitionSpec, Snapshot, TableMetadata } from '../table-metadata.ts';

/** The body of a commit: https://iceberg.apache.org/rest-catalog-spec/, `CommitTableRequest`. */
export interface TableCommit {
  readonly requirements: readonly CommitRequirement[];
  readonly updates: readonly MetadataUpdate[];
}

type CommitRequirement =
  | { readonly type: 'assert-create' }
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  | { readonly type: 'assert-ref-snapshot-id'; readonly ref: string; readonly 'snapshot-id': number | null }
  | { readonly type: 'assert-last-assigned-field-id'; readonly 'last-assigned-field-id': number }
  | { readonly type: 'assert-current-schema-id'; readonly 'current-schema-id': number }
  | { readonly type: 'assert-default-spec-id'; readonly 'default-spec-id': number };

type MetadataUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly 'format-version': number }
  | { readonly action: 'add-schema'; readonly schema: IcebergSchema; readonly 'last-column-id': number }
  | { readonly action: 'set-current-schema'; readonly 'schema-id': number }
  | { readonly action: 'add-spec'; readonly spec: PartitionSpec }
  | { readonly action: 'set-default-spec'; readonly 'spec-id': number }
  | {
      readonly action: 'add-sort-order';
      readonly 'sort-order': { readonly 'order-id': 0; readonly fields: readonly [] };
    }
  | { readonly action: 'set-default-sort-order'; readonly 'sort-order-id': number }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
  | { readonly action: 'add-snapshot'; readonly snapshot: Snapshot }
  | {
      readonly action: 'set-snapshot-ref';
      readonly 'ref-name': string;
      readonly type: 'branch' | 'tag';
      readonly 'snapshot-id': number;
    }
  | { readonly action: 'remove-snapshot-ref'; readonly 'ref-name': string }
  | { readonly action: 'remove-snapshots'; readonly 'snapshot-ids': readonly number[] };

/** A response with a table, possibly written by another program: https://iceberg.apache.org/rest-catalog-spec/, `LoadTableResult`. */
export const loadedSchema = z.object({
  metadata: z.looseObject({
    'table-uuid': z.string(),
    location: z.string(),
    'last-column-id': z.int(),
    'last-sequence-number': z.int().default(0),
    'current-schema-id': z.int(),
    schemas: z.array(z.looseObject({ 'schema-id': z.int() })),
    'default-spec-id': z.int(),
    'partition-specs': z.array(z.looseObject({ 'spec-id': z.int() })),
    'last-partition-id': z.int().default(999),
    properties: z.record(z.string(), z.string()).default({}),
    'current-snapshot-id': z.int().nullish(),
    snapshots: z.array(z.looseObject({ 'snapshot-id': z.int() })).default([]),
    refs: z.record(z.string(), z.looseObject({ 'snapshot-id': z.int(), type: z.string() })).default({}),
  }),
});

export type LoadedTable = z.infer<typeof loadedSchema>['metadata'];

/** The last one that was added. */
const LAST = -1;

/** Properties of tables in catalogs: by default, most catalogs retain the metadata of every commit. */
export const CATALOG_PROPERTIES = {
  'write.metadata.delete-after-commit.enabled': 'true',
  'write.metadata.previous-versions-max': '20',
} as const;

/** Plans the commit from one version of a table to the next. @param before undefined to create the table */
export function planCommit(before: LoadedTable | undefined, next: TableMetadata): TableCommit {
  if (before === undefined) return { requirements: [{ type: 'assert-create' }], updates: creation(next) };
  const current = before.refs['main']?.['snapshot-id'] ?? null;
  const schema = next.schemas.find((one) => one['schema-id'] === next['current-schema-id']);
  const isKnown = before.schemas.some((one) => one['schema-id'] === next['current-schema-id']);
  const changesSchema = before['current-schema-id'] !== next['current-schema-id'];
  const changesSpec = before['default-spec-id'] !== next['default-spec-id'];
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid: before['table-uuid'] },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': current },
      ...(changesSchema
        ? [
            { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': before['last-column-id'] } as const,
            { type: 'assert-current-schema-id', 'current-schema-id': before['current-schema-id'] } as const,
          ]
        : []),
      ...(changesSpec
        ? [{ type: 'assert-default-spec-id', 'default-spec-id': before['default-spec-id'] } as const]
        : []),
    ],
    updates: [
      ...(changesSchema && !isKnown && schema !== undefined ? [addSchema(schema, next)] : []),
      ...(changesSchema
        ? [{ action: 'set-current-schema', 'schema-id': isKnown ? next['current-schema-id'] : LAST } as const]
        : []),
      ...(changesSpec ? specUpdates(before, next) : []),
      ...propertyUpdates(before, next),
      ...snapshotUpdates(before, next),
    ],
  };
}

function creation(next: TableMetadata): readonly MetadataUpdate[] {
  return [
    { action: 'assign-uuid', uuid: next['table-uuid'] },
    { action: 'upgrade-format-version', 'format-version': next['format-version'] },
    ...next.schemas.map((schema) => addSchema(schema, next)),
    { action: 'set-current-schema', 'schema-id': LAST },
    ...specUpdates(undefined, next),
    { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
    { action: 'set-default-sort-order', 'sort-order-id': LAST },
    { action: 'set-location', location: next.location },
    { action: 'set-properties', updates: { ...next.properties, ...CATALOG_PROPERTIES } },
    ...snapshotUpdates(undefined, next),
  ];
}

function addSchema(schema: IcebergSchema, { 'last-column-id': last }: TableMetadata): MetadataUpdate {
  return { action: 'add-schema', schema, 'last-column-id': last };
}

function specUpdates(before: LoadedTable | undefined, next: TableMetadata): readonly MetadataUpdate[] {
  const {
    'partition-specs': [spec],
    'default-spec-id': id,
  } = next;
  const isKnown = before?.['partition-specs'].some((one) => one['spec-id'] === id) === true;
  if (isKnown) return [{ action: 'set-default-spec', 'spec-id': id }];
  return spec === undefined
    ? []
    : [
        { action: 'add-spec', spec },
        { action: 'set-default-spec', 'spec-id': LAST },
      ];
}

function propertyUpdates(before: LoadedTable, next: TableMetadata): readonly MetadataUpdate[] {
  const changed = Object.entries(next.properties).filter(([name, value]) => before.properties[name] !== value);
  return changed.length === 0 ? [] : [{ action: 'set-properties', updates: Object.fromEntries(changed) }];
}

/** Adds snapshots and references first, then removes expired ones: a snapshot with a reference cannot be removed. */
function snapshotUpdates(before: LoadedTable | undefined, next: TableMetadata): readonly MetadataUpdate[] {
  const known = new Set((before?.snapshots ?? []).map((one) => one['snapshot-id']));
  const retained = new Set(next.snapshots.map((one) => one['snapshot-id']));
  const expired = [...known].filter((id) => !retained.has(id));
  const refs = Object.entries(next.refs).filter(
    ([name, ref]) => !isDeepStrictEqual(plain(before?.refs[name]), plain(ref)),
  );
  const gone = Object.keys(before?.refs ?? {}).filter((name) => next.refs[name] === undefined);
  return [
    ...next.snapshots
      .filter((one) => !known.has(one['snapshot-id']))
      .map((snapshot) => ({ action: 'add-snapshot', snapshot }) as const),
    ...refs.map(([name, ref]) => ({ action: 'set-snapshot-ref', 'ref-name': name, ...ref }) as const),
    ...gone.map((name) => ({ action: 'remove-snapshot-ref', 'ref-name': name }) as const),
    ...(expired.length === 0 ? [] : [{ action: 'remove-snapshots', 'snapshot-ids': expired } as const]),
  ];
}

function plain(ref: LoadedTable['refs'][string] | undefined) {
  return ref && { id: ref['snapshot-id'], type: ref.type };
}
