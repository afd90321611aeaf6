import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import * as z from 'zod';
import { choicesFor, didYouMean, requireKnown } from './did-you-mean.ts';
import { UsageError, usage } from './errors.ts';
import { expectationOf } from './option-value.ts';

/** Keys and indices that lead to a value of a YAML text. */
export type YamlPath = readonly (string | number)[];

/** Parsed YAML with the position of every value. */
export interface PlacedYaml {
  readonly value: unknown;
  /** `report.md:7:3` of a value, or of the nearest existing value around it. */
  placeOf(path: YamlPath): string;
  /** The same of a key of the mapping at `path`. */
  placeOfKey(path: YamlPath, key: string): string;
  /** The text at `path`, shortened to one line. */
  textAt(path: YamlPath): string;
  /** The lines of the text at `path`. */
  linesAt(path: YamlPath): TextLines;
  /** A wrong value: `usage: expected X, got Y (jobs/a.yaml:7:3); hint: Z`. @param got default: the text at `path` */
  wrongValue(path: YamlPath, expected: string, hint: string, got?: string): UsageError;
  /** Requires that the text at `path` is one of some names. @throws {UsageError} with the closest one as hint */
  requireName(path: YamlPath, expected: string, choices: readonly string[]): void;
  /** Requires exactly one of some keys of the mapping at `path`. @throws {UsageError} */
  requireOne(path: YamlPath, keys: readonly string[]): void;
  /** Runs `check`, and adds the place of the value to its error. @param place default: that of `path` */
  placed<T>(path: YamlPath, check: () => T, place?: string): T;
  /** Throws an error of a check with the place of the value. */
  fail(path: YamlPath, error: unknown, place?: string): never;
}

/** The lines of a text in a file. */
export interface TextLines {
  readonly file: string;
  /** Of the first, from 1. */
  readonly line: number;
  /** True if the following lines differ from those of the file: YAML joins lines unless they follow `|`. */
  readonly isFolded: boolean;
}

/** The source of a YAML text, and its name in messages. */
export interface YamlOrigin {
  readonly file: string;
  /** First line of the text in the file, from 1. */
  readonly line: number;
  /** `report`, `chart`, `job`. */
  readonly what: string;
  /** The page that describes the format, for hints. */
  readonly docs: string;
}

/** The JSON Schema of a format, for editors. */
export function jsonSchemaOf(schema: z.ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { target: 'draft-07', io: 'input' }), null, 2)}\n`;
}

/** Parses YAML and validates it. @throws {UsageError} with file, line and column */
export function readYaml<T>(
  text: string,
  origin: YamlOrigin,
  schema: z.ZodType<T>,
): { readonly value: T; readonly yaml: PlacedYaml } {
  const yaml = parseYaml(text, origin);
  const parsed = schema.safeParse(yaml.value ?? {});
  if (parsed.success) return { value: parsed.data, yaml };
  throw faultOf(yaml, origin, schema, parsed.error);
}

/** @throws {UsageError} if the text is not YAML */
function parseYaml(text: string, { file, line: first, docs }: YamlOrigin): PlacedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${first + Math.max(line, 1) - 1}:${Math.max(col, 1)}`;
  };
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    throw usage(
      'YAML',
      `invalid YAML: ${fault.message} (${at(fault.pos[0])})`,
      'quote values with a colon, and indent with spaces',
      { cause: fault },
    );
  }
  const placeOf = (path: YamlPath): string => at(offsetOf(document, path));
  const textAt = (path: YamlPath): string => shorten(nodeAt(document, path)?.toString() ?? 'nothing');
  const wrongValue: PlacedYaml['wrongValue'] = (path, expected, hint, got = textAt(path)) =>
    usage(expected, `${got} (${placeOf(path)})`, hint);
  const fail: PlacedYaml['fail'] = (path, error, place = placeOf(path)) => {
    if (!(error instanceof UsageError)) throw error;
    const { hint = `see ${docs} for valid values of ${path.join('.')}` } = error;
    // In a command, the place is a flag.
    const problem = error.problem.replace(/ \(--[\w-]+\)$/, '');
    throw error.with({ problem: `${problem} (${place})`, hint });
  };
  const placed: PlacedYaml['placed'] = (path, check, place) => {
    try {
      return check();
    } catch (error) {
      return fail(path, error, place);
    }
  };
  return {
    value: document.toJS({ maxAliasCount: 100 }),
    placeOf,
    placeOfKey: (path, key) => at(offsetOfKey(document, path, key) ?? offsetOf(document, path)),
    textAt,
    wrongValue,
    requireName: (path, expected, choices) =>
      placed(path, () => requireKnown(expected, String(document.getIn(path)), choices)),
    requireOne: (path, keys) => {
      const given = keys.filter((key) => document.hasIn([...path, key]));
      const got = given.length === 0 ? 'none' : given.join(' and ');
      if (given.length !== 1)
        throw wrongValue(path, `one of ${keys.join(', ')}`, `${path.join('.')} is one thing`, got);
    },
    placed,
    fail,
    linesAt: (path) => {
      const node = nodeAt(document, path);
      const isFolded = !isScalar(node) || node.type !== 'BLOCK_LITERAL';
      const { line } = lines.linePos(offsetOf(document, path));
      return { file, line: first + line - (isFolded ? 1 : 0), isFolded };
    },
  };
}

function nodeAt(document: Document, path: YamlPath): Node | undefined {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? node : undefined;
}

function offsetOf(document: Document, path: YamlPath): number {
  for (let length = path.length; length >= 0; length--) {
    const node = nodeAt(document, path.slice(0, length));
    if (node?.range != null) return node.range[0];
  }
  return 0;
}

function offsetOfKey(document: Document, path: YamlPath, key: string): number | undefined {
  const map = nodeAt(document, path);
  if (!isMap(map)) return undefined;
  const pair = map.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

/** An unknown key comes first, because it may explain a missing one. */
function faultOf(yaml: PlacedYaml, origin: YamlOrigin, schema: z.ZodType, error: z.ZodError): UsageError {
  const { what, docs } = origin;
  const issue = error.issues.find(({ code: kind }) => kind === 'unrecognized_keys') ?? error.issues[0];
  const path = (issue?.path ?? []).map((step) => (typeof step === 'number' ? step : String(step)));
  const fault = (message: string, hint: string): UsageError => usage(message, undefined, hint);
  const label = path.length === 0 ? `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}` : path.join('.');
  const known = schemaAt(schema, path);
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const keys = Object.keys(known.properties ?? {});
    return fault(
      `a known key of ${label}, got ${JSON.stringify(key)} (${yaml.placeOfKey(path, key)})`,
      choicesFor(key, keys),
    );
  }
  const got = yaml.textAt(path);
  const name = path.at(-1);
  if (issue?.code === 'invalid_type' && got === 'nothing' && typeof name === 'string') {
    return fault(`the key ${name}, got nothing (${yaml.placeOf(path)})`, `add ${name}: see ${docs}`);
  }
  const expected = issue === undefined ? label : expectationOf(issue);
  const guess = issue?.code === 'invalid_value' ? didYouMean(got, issue.values.map(String)) : '';
  const meaning = known.description === undefined ? `see ${docs}` : lowerFirst(known.description);
  return fault(`${expected}, got ${got} (${yaml.placeOf(path)})`, `${guess}${label}: ${meaning}`);
}

/** The part of a JSON Schema that describes the values at a path. */
interface PartSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, PartSchema>>;
  readonly items?: PartSchema;
  readonly additionalProperties?: PartSchema | boolean;
  /** Other forms of the value; one of them may be a mapping. */
  readonly anyOf?: readonly PartSchema[];
}

function schemaAt(schema: z.ZodType, path: YamlPath): PartSchema {
  // Zod writes JSON Schema.
  let at = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as PartSchema;
  for (const step of path) {
    const { properties = {}, items, additionalProperties } = at;
    const below = typeof step === 'number' ? items : Object.hasOwn(properties, step) ? properties[step] : undefined;
    at = below ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
    at = { ...at.anyOf?.find((form) => form.properties !== undefined), ...at };
  }
  return at;
}

/** The first sentence of a description, to follow a colon. */
function lowerFirst(text: string): string {
  const first = text.split(/\.(?=\s|$)/, 1)[0] ?? text;
  return first.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}
