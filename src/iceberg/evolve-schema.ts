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
  /** True if a column changed its type otherwise than Iceberg allows, so that older snapshots cannot be read with it. */
  readonly isBreaking: boolean;
}

/**
 * The columns of a table. A column keeps its id for good, so files and older snapshots stay readable when columns are added or removed;
 * equal columns give the same schema.
 */
export function evolveSchema(table: TableDef, metadata: TableMetadata | undefined): EvolvedSchema {
  const known = new Map((metadata?.schemas ?? []).flatMap(({ fields }) => fields.map((field) => [field.name, field])));
  let lastColumnId = metadata?.['last-column-id'] ?? 0;
  let isBreaking = false;
  const fields = table.columns.map(({ name, kind, doc, unit }): IcebergField => {
    const type = icebergType(kinds[kind].sql);
    const before = known.get(name);
    const keeps = before !== undefined && isPromotion(before.type, type);
    if (before !== undefined && !keeps) isBreaking = true;
    const told = describe(doc, unit) ?? before?.doc;
    const id = keeps ? before.id : ++lastColumnId;
    return { id, name, required: false, type, ...(told === undefined ? {} : { doc: told }) };
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
 * Finds files that a schema cannot describe: rows of a mart of an older select, which are not built again yet.
 * @returns what is wrong with the first one; undefined if all can be read
 */
export function findUnreadable({ table, files }: TableInForce, partition: string | undefined): string | undefined {
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

/** Files of older marts may have types that no kind of column has. */
function typeOf(sql: string): string {
  try {
    return icebergType(sql);
  } catch {
    return sql;
  }
}

/** How columns are found in files without field ids: by the names that they have in any of these schemas. */
export function nameMapping(schemas: readonly IcebergSchema[]): string {
  const ids = new Map(schemas.flatMap(({ fields }) => fields.map(({ id, name }) => [id, name])));
  return JSON.stringify([...ids].map(([id, name]) => ({ 'field-id': id, names: [name] })));
}
