import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { UsageError } from '../errors.ts';

/** Keys and indices that lead to a value of a file. */
export type Path = readonly (string | number)[];

/** A YAML file whose values know where they stand. */
export interface PlacedYaml {
  readonly value: unknown;
  /** `jobs/nightly.yaml:7:3` of a value, or of the nearest thing around it that is there. */
  placeOf(path: Path): string;
  /** The same of a key of the mapping at `path`. */
  placeOfKey(path: Path, key: string): string;
  /** What stands at `path`, on one short line. */
  textAt(path: Path): string;
}

/** @throws {UsageError} `bad-job` when the text is no YAML. */
export function parseYaml(text: string, file: string): PlacedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    throw new UsageError(`usage: expected YAML, got text that is not: ${fault.message} (${at(fault.pos[0])})`, {
      code: 'bad-job',
      hint: 'quote values that hold a colon, indent with blanks',
      cause: fault,
    });
  }
  return {
    value: document.toJS({ maxAliasCount: 100 }),
    placeOf: (path) => at(offsetOf(document, path)),
    placeOfKey: (path, key) => at(offsetOfKey(document, path, key) ?? offsetOf(document, path)),
    textAt: (path) => shorten(nodeAt(document, path)?.toString() ?? 'nothing'),
  };
}

function nodeAt(document: Document, path: Path): Node | undefined {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? node : undefined;
}

function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = nodeAt(document, path.slice(0, length));
    if (node?.range != null) return node.range[0];
  }
  return 0;
}

function offsetOfKey(document: Document, path: Path, key: string): number | undefined {
  const map = nodeAt(document, path);
  if (!isMap(map)) return undefined;
  const pair = map.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}
