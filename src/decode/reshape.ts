import { DecodeError } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Shape } from '../declare/table.ts';
import { BROKEN, load, page, QUOTE } from './page-buffer.ts';
import { skipBlanks, skipValue } from './skip-value.ts';

const START = Buffer.from('{"rows":[');
const END = Buffer.from(']}');

/**
 * An answer without a list of records, as one with it: `{"rows": [...]}`. Values are copied as they were sent.
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
        return wrapped(entries(pipeline, 0, ({ key, value }) => [KEY, key, VALUE, value, CLOSE]));
      case 'bodies':
        return bodyRows(pipeline);
    }
  });
}

/** Nothing, or several values with commas between, would be JSON once they are wrapped. @throws {BROKEN} */
function requireOneValue(): void {
  if (skipBlanks(skipValue(skipBlanks(0))) !== page.end) throw BROKEN;
}

const KEY = Buffer.from('{"key":');
const VALUE = Buffer.from(',"value":');
const ONLY_VALUE = Buffer.from('{"value":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');

interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Where the value stands. */
  readonly at: number;
}

function wrapped(rows: readonly (readonly Uint8Array[])[]): Uint8Array {
  return Buffer.concat([START, ...rows.flatMap((row, i) => (i === 0 ? row : [COMMA, ...row])), END]);
}

function bodyRows(pipeline: PipelineDef): Uint8Array {
  const found = entries(pipeline, 0, (entry) => entry).find(({ key }) => Buffer.from(key).toString() === '"bodies"');
  if (found === undefined || page.bytes[found.at] !== 91) {
    // Only opcodes were asked for, or the list is null.
    if (found !== undefined && Buffer.from(found.value).toString() !== 'null')
      throw wrongShape(pipeline, 'a list at /bodies');
    return wrapped([]);
  }
  return wrapped(items(found.at).map((value) => [ONLY_VALUE, value, CLOSE]));
}

/** The entries of the object at a position. */
function entries<T>(pipeline: PipelineDef, from: number, make: (entry: Entry) => T): readonly T[] {
  const made: T[] = [];
  let at = skipBlanks(from);
  if (page.bytes[at] !== 123) throw wrongShape(pipeline, 'an object');
  at = skipBlanks(at + 1);
  while (page.bytes[at] !== 125) {
    if (page.bytes[at] !== QUOTE) throw BROKEN;
    const keyEnd = skipValue(at);
    const key = copy(at, keyEnd);
    at = skipBlanks(keyEnd);
    if (page.bytes[at] !== 58) throw BROKEN;
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

/** The position of the next item, or of what closes the list. */
function afterItem(end: number, close: number): number {
  const at = skipBlanks(end);
  if (page.bytes[at] === close) return at;
  if (page.bytes[at] !== 44) throw BROKEN;
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
    if (error !== BROKEN) throw error;
    const start = Buffer.from(bytes.subarray(0, 60)).toString('utf8').replace(/\s+/g, ' ');
    throw new DecodeError(`decode ${pipeline.name}: expected JSON, got ${bytes.length} other bytes: ${start}`, {
      code: 'not-json',
      retryable: true,
    });
  }
}

function wrongShape(pipeline: PipelineDef, expected: string): DecodeError {
  return new DecodeError(`decode ${pipeline.name}: expected ${expected}, got something else`, {
    code: 'wrong-shape',
    hint: 'is this the base URL of a TON Index v3 API?',
  });
}
