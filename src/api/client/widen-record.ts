import { type Field, fieldKinds, parseField } from '../field.ts';
import { recordsIn, recordsOfVariant } from '../field-path.ts';
import { fieldsOf } from '../records.ts';

type Parsed = Record<string, unknown>;

/**
 * Converts every integer of a 64-bit kind in a record to bigint, so that its type does not depend on its value. Changes the record in
 * place.
 */
export function widenRecord(name: string, record: unknown): void {
  if (!isParsed(record)) return;
  for (const [key, field] of wideFields(name)) {
    const value = record[key];
    if (field.container === 'none') record[key] = widened(field, value, record);
    else if (typeof value === 'object' && value !== null) {
      // A list or a map of records.
      for (const item of Object.values(value)) widened(field, item, record);
    }
  }
}

function widened(field: Field, value: unknown, record: Parsed): unknown {
  switch (field.content.kind) {
    case 'value':
      return Number.isSafeInteger(value) ? BigInt(value as number) : value;
    case 'record':
      widenRecord(field.content.name, value);
      return value;
    case 'variant': {
      const { map, field: decides } = field.content;
      for (const name of recordsOfVariant(map, String(record[decides]))) widenRecord(name, value);
      return value;
    }
    case 'enum':
      return value;
  }
}

const wideByRecord = new Map<string, readonly (readonly [key: string, field: Field])[]>();

/** The fields of a record that are wide or contain wide fields. */
function wideFields(name: string): readonly (readonly [key: string, field: Field])[] {
  const known = wideByRecord.get(name);
  if (known !== undefined) return known;
  const fields = Object.entries(fieldsOf(name) ?? {})
    .map(([key, text]) => [key, parseField(text)] as const)
    .filter(([, field]) => isWide(field, new Set()));
  wideByRecord.set(name, fields);
  return fields;
}

function isWide(field: Field, seen: Set<string>): boolean {
  if (field.content.kind === 'value') return fieldKinds[field.content.name].json === 'wide';
  return recordsIn(field).some((name) => {
    if (seen.has(name)) return false;
    seen.add(name);
    return Object.values(fieldsOf(name) ?? {}).some((text) => isWide(parseField(text), seen));
  });
}

function isParsed(value: unknown): value is Parsed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
