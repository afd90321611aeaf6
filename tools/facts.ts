import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fieldKinds } from '../src/api/field.ts';

/** Records that no endpoint of the client answers with. */
const LEFT_OUT = ['BalanceChangesResult', 'GatewayError', 'IndexError'];
const WIDTH = 120;

const fieldSchema = z.object({
  name: z.string(),
  json: z.string(),
  semantic: z.enum([...Object.keys(fieldKinds), 'enum']).optional(),
  nullable: z.boolean(),
  omitted_when_null: z.boolean(),
  record: z.string().optional(),
  record_by: z.object({ field: z.string(), map: z.string() }).optional(),
  enum_name: z.string().optional(),
  note: z.string().optional(),
});

const variantsSchema = z.record(
  z.string(),
  z.union([z.string(), z.object({ record: z.string(), record_when: z.record(z.string(), z.string()).optional() })]),
);

/** The facts about the API's records: `api/records.json`. */
const factsSchema = z.object({
  enums: z.record(z.string(), z.array(z.string())),
  records: z.record(z.string(), z.object({ fields: z.array(fieldSchema) })),
  action_details_by_type: variantsSchema,
  parsed_body_by_type: variantsSchema,
  nft_sale_details_by_type: variantsSchema,
});

type DescribedField = z.infer<typeof fieldSchema>;

/** @throws {z.ZodError} if the facts are not in the form that the generator knows */
export function parseFacts(text: string): z.infer<typeof factsSchema> {
  return factsSchema.parse(JSON.parse(text));
}

/** src/api/facts.ts: the records and words of the API with their literal types. */
export function factsModule(facts = parseFacts(readFileSync('api/records.json', 'utf8'))): string {
  const records = Object.entries(facts.records).filter(([name]) => !LEFT_OUT.includes(name));
  const maps = ['action_details_by_type', 'parsed_body_by_type', 'nft_sale_details_by_type'] as const;
  return [
    '// Generated from api/records.json by `npm run docs`.',
    '/** Every record of the API. */',
    'export const records = {',
    ...records.flatMap(([record, { fields }]) => [
      `  ${record}: {`,
      ...packed(fields.map((field) => `${keyOf(field.name)}: ${quoted(textOf(record, field))},`)),
      '  },',
    ]),
    '} as const;',
    '',
    '/** Record type of a field by the value of another field; several if a third field decides. */',
    'export const variants = {',
    ...maps.flatMap((map) => [
      `  ${map}: {`,
      ...packed(Object.entries(facts[map]).map(([type, variant]) => `${keyOf(type)}: ${quoted(variantText(variant))},`)),
      '  },',
    ]),
    '} as const;',
    '',
    '/** Known values of fields; newer servers may send others. */',
    'export const enums = {',
    ...Object.entries(facts.enums).flatMap(([name, words]) => [
      `  ${name}: [`,
      ...packed(words.map((word) => `${quoted(word)},`)),
      '  ],',
    ]),
    '} as const;',
    '',
  ].join('\n');
}

/** As many entries on a line as fit. */
function packed(entries: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + entry.length <= WIDTH) lines[lines.length - 1] = `${last} ${entry}`;
    else lines.push(`    ${entry}`);
  }
  return lines;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}

function quoted(text: string): string {
  return `'${text}'`;
}

function variantText(variant: z.infer<typeof variantsSchema>[string]): string {
  if (typeof variant === 'string') return variant;
  return [variant.record, ...Object.values(variant.record_when ?? {})].join('|');
}

/** The field as `Fields` has it. */
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
