import fc from 'fast-check';
import { type KindName, kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import type { TableDef } from '../../src/declare/table.ts';

/** JSON text of a value; undefined for a field that is not sent. */
type Text = fc.Arbitrary<string | undefined>;

interface Field {
  readonly children: Map<string, Field>;
  leaf: Text | undefined;
  required: boolean;
}

/** Pages of a pipeline as its declaration allows them: any nullable subset, any key order, any legal spelling. */
export function pageTexts(pipeline: PipelineDef, records = 4): fc.Arbitrary<string> {
  const base = pipeline.tables.find(({ rows }) => rows.kind === 'records') as TableDef;
  const list = base.rows.kind === 'records' ? base.rows.path.slice(1) : '';
  const root = field();
  for (const table of pipeline.tables) {
    if (table.rows.kind !== 'nested') {
      addColumns(root, table);
      continue;
    }
    const nested = field();
    addColumns(nested, table);
    for (const { path, count } of table.rows.places) {
      const one = objectText(nested);
      const many = fc.array(one, { maxLength: 3 }).map((texts) => `[${texts.join(',')}]`);
      walk(root, path).leaf = orAbsent(count === 'one' ? one : many);
    }
  }
  return fc
    .tuple(fc.array(objectText(root), { maxLength: records }), blank, fc.boolean())
    .map(([texts, space, first]) => {
      const rows = `"${list}":${space}[${space}${texts.join(`${space},`)}]`;
      const ignored = pipeline.ignore.map((name) => `"${name}":{"a":{"b":"}\\""}}`);
      return `${space}{${(first ? [rows, ...ignored] : [...ignored, rows]).join(',')}${space}}`;
    });
}

function field(): Field {
  return { children: new Map(), leaf: undefined, required: false };
}

function walk(root: Field, path: string): Field {
  let at = root;
  for (const name of path.slice(1).split('/')) {
    const next = at.children.get(name) ?? field();
    at.children.set(name, next);
    at = next;
  }
  return at;
}

function addColumns(root: Field, table: TableDef): void {
  for (const def of table.columns) {
    if (def.origin.kind !== 'path') continue;
    const at = walk(root, def.origin.path);
    if (table.rows.kind !== 'projection' && !def.nullable) at.required = true;
    // A comment and the JSON that it is read from are one field: the later of the two decides what is sent.
    at.leaf = at.required ? valueText(def.kind) : (at.leaf ?? orAbsent(valueText(def.kind)));
    if (kinds[def.kind].wire === 'comment') at.leaf = orAbsent(valueText(def.kind));
  }
}

const blank = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n  ');

function orAbsent(text: fc.Arbitrary<string>): Text {
  return fc.oneof({ weight: 4, arbitrary: text }, fc.constantFrom('null', undefined));
}

function isRequired({ required, children }: Field): boolean {
  return required || [...children.values()].some(isRequired);
}

function objectText(of: Field): fc.Arbitrary<string> {
  const names = [...of.children.keys()];
  const values = names.map((name): Text => {
    const child = of.children.get(name) as Field;
    if (child.leaf !== undefined) return child.leaf;
    return isRequired(child) ? objectText(child) : orAbsent(objectText(child));
  });
  const order = fc.oneof(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length }));
  return fc.tuple(fc.tuple(...values), order, blank).map(([texts, keys, space]) => {
    const sent = keys.flatMap((name) => {
      const text = texts[names.indexOf(name)];
      return text === undefined ? [] : [`${JSON.stringify(name)}${space}:${space}${text}`];
    });
    return `{${space}${sent.join(`${space},${space}`)}}`;
  });
}

const spelled = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(texts, fc.constantFrom(0, 0, 0, 1, 2)).map(([text, style]) => {
    if (style === 0) return JSON.stringify(text);
    if (style === 1) return JSON.stringify(text).replaceAll('/', '\\/');
    return `"${[...text].map((_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
  });

const digits = (min: bigint, max: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.bigInt({ min, max }),
    fc.constantFrom(min, max, 0n),
    fc.bigInt({ min: 0n, max: max < 1000n ? max : 1000n }),
  );

const bytes = (length?: number): fc.Arbitrary<string> =>
  fc
    .uint8Array(length === undefined ? { maxLength: 400 } : { minLength: length, maxLength: length })
    .map((array) => Buffer.from(array).toString('base64'));

const ascii = fc.string({ maxLength: 300 });
const unicode = fc.string({ unit: 'binary', maxLength: 40 });

/** Raw addresses in either case, and texts of about their length. */
const addresses = fc
  .tuple(
    fc.constantFrom('0:', '-1:', ':', 'é:'),
    fc.stringMatching(/^[0-9a-fA-F]{63,65}$/),
    fc.constantFrom('', 'ü', 'g'),
  )
  .map((parts) => parts.join(''));

function valueText(name: KindName): fc.Arbitrary<string> {
  const { wire, physical, min = -(2n ** 31n), max = 2n ** 31n - 1n } = kinds[name];
  switch (wire) {
    case 'string':
      return spelled(fc.oneof(ascii, unicode));
    case 'address':
      return spelled(fc.oneof(unicode, addresses));
    case 'hash-string':
      return spelled(bytes(32));
    case 'decimal-string':
      return spelled(digits(min, max).map(String));
    case 'wide-decimal':
      return spelled(digits(-(2n ** 256n), 2n ** 256n - 1n).map(String));
    case 'integer':
      return (physical === 'int32' ? digits(-(2n ** 31n), 2n ** 31n - 1n) : digits(min, max)).map(String);
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'hex-shard':
      return spelled(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((shard) => shard.toString(16).toUpperCase()));
    case 'hex-opcode':
      return spelled(fc.nat(2 ** 32 - 1).map((opcode) => `0x${opcode.toString(16).padStart(8, '0')}`));
    case 'base64':
      return spelled(bytes());
    case 'json':
      return fc.oneof(
        fc
          .jsonValue({ maxDepth: 3 })
          .filter((value) => value !== null)
          .map((value) => JSON.stringify(value)),
        fc
          .jsonValue({ maxDepth: 2 })
          .filter((value) => value !== null)
          .map((value) => JSON.stringify(value, null, 2)),
        fc.dictionary(fc.nat(1e6).map(String), digits(0n, 2n ** 248n).map(String)).map((map) => JSON.stringify(map)),
      );
    case 'comment':
      return fc.oneof(
        fc.oneof(ascii, unicode).map((comment) => JSON.stringify({ '@type': 'text_comment', comment })),
        ascii.map((comment) => JSON.stringify({ comment, '@type': 'text_comment' })),
        fc
          .tuple(spelled(fc.constant('text_comment')), spelled(unicode), blank)
          .map(([type, comment, space]) => `{${space}"@type":${type},"comment":${space}${comment},"x":1}`),
        fc.dictionary(ascii, ascii).map((body) => JSON.stringify(body)),
        ascii.map((comment) => JSON.stringify({ '@type': comment, comment })),
      );
  }
}
