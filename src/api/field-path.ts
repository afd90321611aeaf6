import { variants } from '../../api/facts.ts';
import type { KindName } from '../declare/kind.ts';
import { type Field, fieldKinds, parseField } from './field.ts';
import { fieldsOf } from './records.ts';

/** Column type of a field, according to the API schema. */
export interface FieldType {
  readonly kind: KindName;
  /** True if the field, or an object around it, may be null or missing. */
  readonly nullable: boolean;
  readonly unit: string | undefined;
}

type Variants = Readonly<Record<string, Readonly<Record<string, string>>>>;

const maps: Variants = variants;
/** All records of a variant, by the name of its map. */
const variantRecords = new Map<string, readonly string[]>();

/**
 * The type of the field at a JSON pointer in a record: `typeOfField('Transaction', '/block_ref/seqno')`. A pointer can lead
 * through objects, but not through lists or maps.
 *
 * @returns undefined if the record has no such field
 */
export function typeOfField(record: string, pointer: string): FieldType | undefined {
  let records: readonly string[] = [record];
  let nullable = false;
  let field: Field | undefined;
  for (const name of pointer.split('/').slice(1)) {
    if (field !== undefined && field.container !== 'none') return undefined;
    const owner = records.find((each) => fieldsOf(each)?.[name] !== undefined) ?? '';
    const text = fieldsOf(owner)?.[name];
    if (text === undefined) return undefined;
    field = parseField(text);
    // Another variant may lack the field.
    nullable ||= field.nullable || field.optional || records.length > 1;
    records = recordsIn(field);
  }
  return field === undefined ? undefined : { nullable, ...columnOf(field) };
}

/** The kind and unit of a column for a field. */
export function columnOf({ content, container }: Field): Pick<FieldType, 'kind' | 'unit'> {
  if (container !== 'none') return { kind: 'json', unit: undefined };
  switch (content.kind) {
    case 'value': {
      const { column, unit }: { column: KindName; unit?: string } = fieldKinds[content.name];
      return { kind: column, unit };
    }
    case 'enum':
      return { kind: 'text', unit: undefined };
    case 'record':
    case 'variant':
      return { kind: 'json', unit: undefined };
  }
}

/** All possible records of a field. */
export function recordsIn({ content }: Field): readonly string[] {
  if (content.kind === 'record') return [content.name];
  if (content.kind !== 'variant') return [];
  const { map } = content;
  const known = variantRecords.get(map);
  const names = known ?? Object.keys(maps[map] ?? {}).flatMap((word) => recordsOfVariant(map, word));
  variantRecords.set(map, names);
  return names;
}

/** The records of a variant for a value of its deciding field; none for an unknown value. */
export function recordsOfVariant(map: string, word: string): readonly string[] {
  return maps[map]?.[word]?.split('|') ?? [];
}
