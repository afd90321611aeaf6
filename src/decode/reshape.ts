import type { PipelineDef } from '../declare/pipeline.ts';
import type { Shape } from '../declare/table.ts';
import { BROKEN, broken, load, page, QUOTE } from './page-buffer.ts';
import { notJson, wrongShape } from './page-errors.ts';
import { skipBlanks, skipValue } from './skip-value.ts';

const START = Buffer.from('{"rows":[');
const END = Buffer.from(']}');

/**
 * Reshapes a response without a list of records to `{"rows": [...]}`. Values are copied as received.
 *
 * @throws {DecodeError} `not-json` (retryable), or `wrong-shape`
 */
export function reshape(pipeline: PipelineDef, shape: Shape, bytes: Uint8Array): Uint8Array {
  return inPage(pipeline, bytes, () => {
    requireOneValue();
    switch (shape) {
      case 'list':
        return Buffer.concat([START.subarray(0, -1), bytes, END.subarray(1)]);
      case 'one':
        return Buffer.concat([START, bytes, END]);
      case 'map':
        return wrapped(entries(pipeline, ({ key, value }) => [KEY, key, VALUE, value, CLOSE]));
      case 'bodies':
        return bodyRows(pipeline);
    }
  });
}

/** No value, or several with commas, would be valid JSON after wrapping. @throws {BROKEN} */
function requireOneValue(): void {
  const end = skipBlanks(skipValue(skipBlanks(0)));
  if (end !== page.end) broken(end);
}

const KEY = Buffer.from('{"key":');
const VALUE = Buffer.from(',"value":');
const ONLY_VALUE = Buffer.from('{"value":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');

interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Position of the value. */
  readonly at: number;
}

function wrapped(rows: readonly (readonly Uint8Array[])[]): Uint8Array {
  return Buffer.concat([START, ...rows.flatMap((row, i) => (i === 0 ? row : [COMMA, ...row])), END]);
}

function bodyRows(pipeline: PipelineDef): Uint8Array {
  const found = entries(pipeline, (entry) => entry).find(({ key }) => Buffer.from(key).toString() === '"bodies"');
  if (found === undefined || page.bytes[found.at] !== 91) {
    // Only opcodes were requested, or the list is null.
    if (found !== undefined && Buffer.from(found.value).toString() !== 'null')
      throw wrongShape(pipeline.name, 'a list', '/bodies');
    return wrapped([]);
  }
  return wrapped(items(found.at).map((value) => [ONLY_VALUE, value, CLOSE]));
}

/** The entries of the object that the page is. */
function entries<T>(pipeline: PipelineDef, make: (entry: Entry) => T): readonly T[] {
  const made: T[] = [];
  let at = skipBlanks(0);
  if (page.bytes[at] !== 123) throw wrongShape(pipeline.name, 'an object');
  at = skipBlanks(at + 1);
  while (page.bytes[at] !== 125) {
    if (page.bytes[at] !== QUOTE) broken(at);
    const keyEnd = skipValue(at);
    const key = copy(at, keyEnd);
    at = skipBlanks(keyEnd);
    if (page.bytes[at] !== 58) broken(at);
    at = skipBlanks(at + 1);
    const end = skipValue(at);
    made.push(make({ key, value: copy(at, end), at }));
    at = afterItem(end, 125);
  }
  return made;
}

function items(from: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  let at = skipBlanks(from + 1);
  while (page.bytes[at] !== 93) {
    const end = skipValue(at);
    found.push(copy(at, end));
    at = afterItem(end, 93);
  }
  return found;
}

/** The position of the next item, or of the closing bracket. */
function afterItem(end: number, close: number): number {
  const at = skipBlanks(end);
  if (page.bytes[at] === close) return at;
  if (page.bytes[at] !== 44) broken(at);
  return skipBlanks(at + 1);
}

function copy(from: number, to: number): Uint8Array {
  return Uint8Array.prototype.slice.call(page.bytes, from, to);
}

function inPage(pipeline: PipelineDef, bytes: Uint8Array, work: () => Uint8Array): Uint8Array {
  load(bytes);
  try {
    return work();
  } catch (error) {
    throw error === BROKEN ? notJson(pipeline.name, bytes) : error;
  }
}
