import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { TableInForce } from '../warehouse/index.ts';
import { icebergType, isPromotion } from './format/column-types.ts';
import type { IcebergField, IcebergSchema, TableMetadata } from './table-metadata.ts';

/** The schema of a table's next version. */
export interface EvolvedSchema {
  readonly schema: IcebergSchema;
  readonly lastColumnId: number;
  /** True if a type changed in a way that Iceberg does not allow, so that older snapshots cannot be read with the schema. */
  readonly isBreaking: boolean;
}

/**
 * The next schema of a table. A column never changes its id, so that files and older snapshots stay readable when columns are added or
 * removed. Equal columns give the same schema.
 */
export function evolveSchema(table: TableDef, metadata: TableMetadata | undefined): EvolvedSchema {
  const known = new Map((metadata?.schemas ?? []).flatMap(({ fields }) => fields.map((field) => [field.name, field])));
  let lastColumnId = metadata?.['last-column-id'] ?? 0;
  let isBreaking = false;
  const fields = table.columns.map(({ name, kind, doc, unit }): IcebergField => {
    const type = icebergType(kinds[kind].sql);
    const before = known.get(name);
    const retainsId = before !== undefined && isPromotion(before.type, type);
    if (before !== undefined && !retainsId) isBreaking = true;
    const text = describe(doc, unit) ?? before?.doc;
    const id = retainsId ? before.id : ++lastColumnId;
    return { id, name, required: false, type, ...(text === undefined ? {} : { doc: text }) };
  });
  const same = metadata?.schemas.find((one) => isDeepStrictEqual(one.fields, fields));
  const nextId = 1 + (metadata?.schemas ?? []).reduce((most, one) => Math.max(most, one['schema-id']), -1);
  return { schema: same ?? { type: 'struct', 'schema-id': nextId, fields }, lastColumnId, isBreaking };
}

function describe(doc: string, unit: string | undefined): string | undefined {
  if (doc === '') return undefined;
  return unit === undefined ? doc : `${doc} [${unit}]`;
}

/**
 * Finds files that do not fit the schema: rows from an older select of a mart.
 * @returns the problem of the first one; undefined if all are readable
 */
export function findUnreadable({ table, partition, files }: TableInForce): string | undefined {
  const declared = new Map(table.columns.map(({ name, kind }) => [name, kinds[kind].sql]));
  const checked = new Set<unknown>();
  for (const { date, path, columns } of files) {
    if ((date !== undefined) !== (partition !== undefined))
      return `${path} is ${date === undefined ? 'not in the folder of a day' : 'in the folder of a day'}`;
    if (checked.has(columns)) continue;
    checked.add(columns);
    for (const { name, type } of columns) {
      const now = declared.get(name);
      if (now !== undefined && !isPromotion(typeOf(type), icebergType(now)))
        return `${path} has ${name} as ${type}, which is ${now} now`;
    }
  }
  return undefined;
}

/** Files of older marts may have unsupported types. */
function typeOf(sql: string): string {
  try {
    return icebergType(sql);
  } catch {
    return sql;
  }
}

/** Name mapping for files without field ids, with the names of all schemas. */
export function nameMapping(schemas: readonly IcebergSchema[]): string {
  const ids = new Map(schemas.flatMap(({ fields }) => fields.map(({ id, name }) => [id, name])));
  return JSON.stringify([...ids].map(([id, name]) => ({ 'field-id': id, names: [name] })));
}
