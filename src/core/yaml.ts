import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import * as z from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './errors.ts';

/** Keys and indices that lead to a value of a YAML text. */
export type YamlPath = readonly (string | number)[];

/** YAML whose values know where they stand. */
export interface PlacedYaml {
  readonly value: unknown;
  /** `report.md:7:3` of a value, or of the nearest thing around it that is there. */
  placeOf(path: YamlPath): string;
  /** The same of a key of the mapping at `path`. */
  placeOfKey(path: YamlPath, key: string): string;
  /** What stands at `path`, on one short line. */
  textAt(path: YamlPath): string;
  /** Where the lines of the text at `path` stand. */
  linesAt(path: YamlPath): TextLines;
}

/** Where the lines of a text stand in a file. */
export interface TextLines {
  readonly file: string;
  /** Of the first, from 1. */
  readonly line: number;
  /** Whether the lines that follow are not those of the file: YAML joins what is not written after `|`. */
  readonly isFolded: boolean;
}

/** Where a YAML text comes from, and what it is called in messages. */
export interface YamlOrigin {
  readonly file: string;
  /** Line of the file on which the text begins, from 1. */
  readonly line: number;
  /** `report`, `chart`. */
  readonly what: string;
  /** Of the error. */
  readonly code: string;
}

/** Reads YAML, and finds it as `schema` wants it. @throws {UsageError} that tells file, line and column */
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

/** @throws {UsageError} when the text is no YAML */
export function parseYaml(text: string, { file, line: first, code }: YamlOrigin): PlacedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${first + Math.max(line, 1) - 1}:${Math.max(col, 1)}`;
  };
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    throw new UsageError(`usage: expected YAML, got invalid YAML: ${fault.message} (${at(fault.pos[0])})`, {
      code,
      hint: 'quote values with a colon, and indent with spaces',
      cause: fault,
    });
  }
  return {
    value: document.toJS({ maxAliasCount: 100 }),
    placeOf: (path) => at(offsetOf(document, path)),
    placeOfKey: (path, key) => at(offsetOfKey(document, path, key) ?? offsetOf(document, path)),
    textAt: (path) => shorten(nodeAt(document, path)?.toString() ?? 'nothing'),
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

function faultOf(yaml: PlacedYaml, { what, code }: YamlOrigin, schema: z.ZodType, error: z.ZodError): UsageError {
  // A key that is not known explains one that is missing.
  const issue = error.issues.find(({ code: kind }) => kind === 'unrecognized_keys') ?? error.issues[0];
  const path = (issue?.path ?? []).map((step) => (typeof step === 'number' ? step : String(step)));
  const fault = (message: string, hint: string): UsageError => new UsageError(`usage: ${message}`, { code, hint });
  const known = keysAt(schema, path);
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const guess = didYouMean(key, known);
    return fault(
      `expected a key of a ${what}, got ${key} (${yaml.placeOfKey(path, key)})`,
      `${guess}there are: ${known.join(', ')}`,
    );
  }
  const got = yaml.textAt(path);
  const name = path.at(-1);
  if (issue?.code === 'invalid_type' && issue.message.includes('undefined') && name !== undefined) {
    return fault(`expected the key ${name} of a ${what}, got nothing (${yaml.placeOf(path)})`, `add ${name}: to it`);
  }
  const expected = issue === undefined ? `a ${what}` : expectationOf(issue);
  const guess = issue?.code === 'invalid_value' ? didYouMean(got, issue.values.map(String)) : '';
  return fault(
    `expected ${expected} as ${name ?? what}, got ${got} (${yaml.placeOf(path)})`,
    `${guess}see docs/reports.md`,
  );
}

/** What a schema wants, in words. */
export function expectationOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return (
        { array: 'a list', object: 'a mapping', record: 'a mapping', int: 'a whole number' }[
          issue.expected as string
        ] ?? `a ${issue.expected}`
      );
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'something' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'an address such as https://example.org/hook' : `a ${issue.format}`;
    case 'custom':
      return issue.message;
    default:
      return 'another form';
  }
}

/** The keys that a schema knows at a path. */
function keysAt(schema: z.ZodType, path: YamlPath): readonly string[] {
  let at: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  for (const step of path) {
    const properties = member(at, 'properties');
    at =
      (typeof step === 'number' ? member(at, 'items') : member(properties, step)) ?? member(at, 'additionalProperties');
  }
  const properties = member(at, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function member(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined;
  return Object.entries(of).find(([name]) => name === key)?.[1];
}
