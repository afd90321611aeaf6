import { describe, expect, test } from 'vitest';
import { enums, variants } from '../../src/api/enums.ts';
import { fieldKinds, parseField } from '../../src/api/field.ts';
import { recordsIn } from '../../src/api/field-path.ts';
import { fieldsOf, isRecordName, records } from '../../src/api/records.ts';
import { hasShared, readShared } from './shared.ts';

interface DescribedField {
  readonly name: string;
  readonly json: string;
  readonly semantic?: string;
  readonly nullable: boolean;
  readonly omitted_when_null: boolean;
  readonly record?: string;
  readonly record_by?: { readonly field: string; readonly map: string };
  readonly enum_name?: string;
  readonly note?: string;
}

interface Description {
  readonly semantics: Readonly<Record<string, { readonly json: string }>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly records: Readonly<Record<string, { readonly fields: readonly DescribedField[] }>>;
  readonly action_details_by_type: Variants;
  readonly parsed_body_by_type: Variants;
  readonly nft_sale_details_by_type: Variants;
}
type Variants = Readonly<
  Record<string, string | { readonly record: string; readonly record_when?: Readonly<Record<string, string>> }>
>;

/** Records that no endpoint of the client answers with. */
const LEFT_OUT = ['BalanceChangesResult', 'GatewayError', 'IndexError'];

describe('the records', () => {
  const fields = Object.entries(records).flatMap(([record, texts]) =>
    Object.entries(texts).map(([name, text]) => ({ at: `${record}.${name}`, field: parseField(text), record })),
  );

  test('hold only records, words and fields that exist', () => {
    for (const { at, field, record } of fields) {
      for (const name of recordsIn(field)) expect(isRecordName(name), at).toBe(true);
      if (field.content.kind === 'record') expect(isRecordName(field.content.name), at).toBe(true);
      if (field.content.kind === 'enum') expect([...Object.keys(enums), 'action_type']).toContain(field.content.name);
      if (field.content.kind === 'variant') {
        expect(Object.keys(variants)).toContain(field.content.map);
        expect(Object.keys(fieldsOf(record) ?? {})).toContain(field.content.field);
      }
    }
  });
});

describe.runIf(hasShared)('the description of the API', () => {
  const description = hasShared ? readShared<Description>('api/records.json') : undefined;
  const described = Object.entries(description?.records ?? {}).filter(([name]) => !LEFT_OUT.includes(name));

  test('has the same records', () => {
    expect(Object.keys(records).sort()).toEqual(described.map(([name]) => name).sort());
  });

  test.each(described)('has the same fields in the same order for %s', (name, { fields }) => {
    expect(Object.entries(fieldsOf(name) ?? {})).toEqual(fields.map((field) => [field.name, textOf(name, field)]));
  });

  test('has the same kinds of fields', () => {
    const JSON_FORMS: Readonly<Record<string, string>> = { int: 'integer', bool: 'boolean' };
    const kinds = Object.entries(description?.semantics ?? {}).filter(([kind]) => kind !== 'enum');
    expect(Object.keys(fieldKinds).sort()).toEqual(kinds.map(([kind]) => kind).sort());
    for (const [kind, { json }] of kinds) {
      const wide = kind.includes('int64-number') ? 'wide' : undefined;
      const texts = /-map$/.test(kind) ? 'texts' : undefined;
      expect(Reflect.get(fieldKinds, kind), kind).toMatchObject({ json: wide ?? texts ?? JSON_FORMS[json] ?? json });
    }
  });

  test('has the same words and variants', () => {
    expect(enums).toEqual(description?.enums);
    for (const map of ['action_details_by_type', 'parsed_body_by_type', 'nft_sale_details_by_type'] as const) {
      const theirs = Object.entries(description?.[map] ?? {}).map(([type, variant]) => [
        type,
        typeof variant === 'string' ? variant : [variant.record, ...Object.values(variant.record_when ?? {})].join('|'),
      ]);
      expect(variants[map]).toEqual(Object.fromEntries(theirs));
    }
  });
});

/** The field as `defineRecords` writes it. */
function textOf(record: string, field: DescribedField): string {
  const isMap = (field.note ?? '').startsWith('OBJECT keyed by');
  const isList = field.json === 'array' || (field.record !== undefined && field.note === 'array');
  return `${contentOf(record, field)}${isMap ? '{}' : isList ? '[]' : ''}${field.nullable ? '|null' : ''}${field.omitted_when_null ? '?' : ''}`;
}

function contentOf(record: string, field: DescribedField): string {
  if (field.record_by !== undefined) return `by:${field.record_by.field}:${field.record_by.map}`;
  if (field.record !== undefined) return field.record;
  if (field.semantic !== 'enum') return String(field.semantic);
  return `enum:${record === 'Action' && field.name === 'type' ? 'action_type' : field.enum_name}`;
}
