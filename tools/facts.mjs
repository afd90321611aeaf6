// Makes api/facts.ts of the vendored facts about the API: their literal types are those of the client and of the sandbox.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** Records that no endpoint of the client returns. */
const SKIPPED_RECORDS = ['BalanceChangesResult', 'GatewayError', 'IndexError'];
/** Old names of endpoints, and endpoints without a description. */
const SKIPPED_PATHS = ['/events', '/balanceChanges', '/account', '/wallet', '/__testMethod', '(server root)/healthcheck'];
const WIDTH = 120;

const fieldSchema = z.object({
  name: z.string(),
  json: z.string(),
  semantic: z.string().optional(),
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
const factsSchema = z
  .object({
    semantics: z.record(z.string(), z.unknown()),
    enums: z.record(z.string(), z.array(z.string())),
    records: z.record(z.string(), z.object({ fields: z.array(fieldSchema) })),
    action_details_by_type: variantsSchema,
    parsed_body_by_type: variantsSchema,
    nft_sale_details_by_type: variantsSchema,
    action_type_sets: z.record(z.string(), z.array(z.string())),
  })
  .superRefine(({ semantics, records }, { addIssue }) => {
    for (const [record, { fields }] of Object.entries(records))
      for (const { name, semantic } of fields)
        if (semantic !== undefined && !Object.hasOwn(semantics, semantic))
          addIssue({ code: 'custom', path: [record, name, 'semantic'], message: `unknown kind ${semantic}` });
  });

/** A value that may be null or missing. */
function orNull(schema) {
  return schema.nullable().default(null);
}

/** The facts about the API's endpoints: `api/endpoints.json`. */
const endpointsSchema = z.array(
  z.object({
    category: z.string(),
    method: z.enum(['GET', 'POST']),
    path: z.string(),
    params: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        array: z.boolean(),
        required: z.boolean(),
        min: orNull(z.union([z.string(), z.number()])),
        max: orNull(z.union([z.string(), z.number()])),
        note: orNull(z.string()),
        default: orNull(z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
        enum: orNull(z.array(z.string())),
      }),
    ),
    response: z.object({
      shape: z.enum(['object', 'record', 'map', 'array', 'text']),
      envelope_keys: z.array(z.string()),
      rows_key: z.string().nullable().optional(),
      record: z.string().nullable().optional(),
    }),
    errors: z.array(z.string()).optional(),
  }),
);

/** @throws {z.ZodError} if the facts are not in the form that the generator knows */
export function parseFacts(text) {
  return factsSchema.parse(JSON.parse(text));
}

function parseEndpoints(text) {
  return endpointsSchema.parse(JSON.parse(text)).filter(({ path }) => !SKIPPED_PATHS.includes(path));
}

/** The endpoints, records and words of the API with their literal types. */
export function factsModule() {
  const facts = parseFacts(readFileSync('api/records.json', 'utf8'));
  const endpoints = parseEndpoints(readFileSync('api/endpoints.json', 'utf8'));
  const records = Object.entries(facts.records).filter(([name]) => !SKIPPED_RECORDS.includes(name));
  const maps = ['action_details_by_type', 'parsed_body_by_type', 'nft_sale_details_by_type'];
  return [
    '// Generated from api/endpoints.json and api/records.json by the build.',
    '/** Every endpoint: its parameters in the order of the server, the columns that its bounds compare, its response and errors. */',
    'export const endpointFacts = {',
    ...endpoints.flatMap((endpoint) => [`  '${endpoint.method} ${endpoint.path}': {`, ...endpointLines(endpoint), '  },']),
    '} as const;',
    '',
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
    ...wordLists(facts.enums),
    '} as const;',
    '',
    '/** Action types by the names that `supported_action_types` gives them; names can contain each other. */',
    'export const actionTypeSets = {',
    ...wordLists(facts.action_type_sets),
    '} as const;',
    '',
  ].join('\n');
}

function wordLists(lists) {
  return Object.entries(lists).flatMap(([name, words]) => [
    `  ${keyOf(name)}: [`,
    ...packed(words.map((word) => `${quoted(word)},`)),
    '  ],',
  ]);
}

function endpointLines({ category, params, response, errors = [] }) {
  // Most listings answer a wrong limit or order with 500.
  const refused = errors.some((text) => /^422 (for every failure|.*limit above max)/.test(text)) ? 422 : 500;
  const missing = missingOf(errors);
  return [
    `    group: ${quoted(category)}, refused: ${refused},${missing === undefined ? '' : ` missing: ${quoted(missing)},`}`,
    `    answer: ${objectOf(answerOf(response))},`,
    ...boundsLines(params),
    '    params: {',
    ...packed(params.map((param) => `${keyOf(param.name)}: ${objectOf(parameterOf(param))},`)).map((line) => `  ${line}`),
    '    },',
  ];
}

/** What a 404 means: the block may come, or there are no rows. */
function missingOf(errors) {
  if (errors.some((text) => /^404 (masterchain block|blocks not found)/.test(text))) return 'wait';
  return errors.some((text) => text.startsWith('404')) ? 'no rows' : undefined;
}

function answerOf({ shape, rows_key: rows, record, envelope_keys: keys }) {
  if (shape === 'object') return { kind: 'rows', rows, record, maps: keys.filter((key) => key !== rows) };
  return { kind: shape === 'array' ? 'list' : shape, record };
}

/** The columns that the bounds of time and of logical time compare. */
function boundsLines(params) {
  const [utime, lt] = ['start_utime', 'start_lt'].map((start) => {
    const { note } = params.find(({ name }) => name === start) ?? {};
    return /^(\w+) >= value/.exec(note ?? '')?.[1];
  });
  return utime && lt ? [`    bounds: ${objectOf({ utime, lt })},`] : [];
}

function parameterOf({ type, array, required, min, max, enum: words, default: value }) {
  const isList = array || type === 'array of string';
  const kind = words === null ? (PARAMETER_TYPES[type] ?? type) : 'choice';
  const isBounded = min !== null && (kind === 'int32' || kind === 'unix-seconds');
  return {
    kind,
    ...(words === null ? {} : { words }),
    ...(isList ? { many: true } : {}),
    ...(isList && max !== null ? { most: max } : {}),
    ...(required ? { required } : {}),
    ...(isBounded ? { min, max } : {}),
    ...(value === null || Array.isArray(value) ? {} : { default: String(value) }),
  };
}

const PARAMETER_TYPES = {
  string: 'text',
  'address or null': 'address-or-null',
  'string (base64 BOC)': 'boc',
  'array of string': 'text',
  'array of {type: num|cell|slice, value}': 'stack',
};

/** An object of texts, numbers, switches and lists of texts. */
function objectOf(fields) {
  const value = (one) => (Array.isArray(one) ? `[${one.map(quoted).join(', ')}]` : typeof one === 'string' ? quoted(one) : one);
  return `{ ${Object.entries(fields).map(([name, one]) => `${keyOf(name)}: ${value(one)}`).join(', ')} }`;
}

/** Fills lines with entries. */
function packed(entries) {
  const lines = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + entry.length <= WIDTH) lines[lines.length - 1] = `${last} ${entry}`;
    else lines.push(`    ${entry}`);
  }
  return lines;
}

function keyOf(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}

function quoted(text) {
  return `'${text}'`;
}

function variantText(variant) {
  if (typeof variant === 'string') return variant;
  return [variant.record, ...Object.values(variant.record_when ?? {})].join('|');
}

/** The type of a field, in the notation of `Fields`. */
function textOf(record, field) {
  const isMap = (field.note ?? '').startsWith('OBJECT keyed by');
  const isList = field.json === 'array' || (field.record !== undefined && field.note === 'array');
  return `${contentOf(record, field)}${isMap ? '{}' : isList ? '[]' : ''}${field.nullable ? '|null' : ''}${field.omitted_when_null ? '?' : ''}`;
}

function contentOf(record, field) {
  if (field.record_by !== undefined) return `by:${field.record_by.field}:${field.record_by.map}`;
  if (field.record !== undefined) return field.record;
  if (field.semantic !== 'enum') return String(field.semantic);
  return `enum:${record === 'Action' && field.name === 'type' ? 'action_type' : field.enum_name}`;
}

/** Writes the module if it has changed, so that its time says when. */
export function writeFacts(path = 'api/facts.ts') {
  const text = factsModule();
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}
