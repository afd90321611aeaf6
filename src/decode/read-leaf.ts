import { readBase64, readHash } from './base64.ts';
import { type Key, Op } from './decode-plan.ts';
import { appendString, rawText } from './json-text.ts';
import { BACKSLASH, bytesBefore, endsIn, page, QUOTE, wordOf } from './page-buffer.ts';
import { readDecimal, readDecimal128, readInteger, readInteger128, readWide } from './read-number.ts';
import { REFUSED } from './refused-flag.ts';
import { ALSE, HEX, skipValue, TRUE } from './skip-value.ts';

/**
 * Writes the value at a position to row `row` of its column, and returns the position after it.
 *
 * @throws {REFUSED} if it does not match the column
 */
export function readLeaf(key: Key, row: number, at: number, op: number = key.op): number {
  switch (op) {
    case Op.string:
      return readString(key, row, at);
    case Op.hash:
      return readHash(key, row, at);
    case Op.decimal64:
      return readDecimal(key, row, at);
    case Op.integer:
      return readInteger(key, row, at);
    case Op.boolean:
      return readBoolean(key, row, at);
    case Op.shard:
      return readShard(key, row, at);
    case Op.opcode:
      return readOpcode(key, row, at);
    case Op.base64:
      return readBase64(key, row, at);
    case Op.decimal128:
      return readDecimal128(key, row, at);
    case Op.integer128:
      return readInteger128(key, row, at);
    case Op.lenient:
      return isOfType(key.inner, page.bytes[at]) ? readLeaf(key, row, at, key.inner) : skipValue(at);
    case Op.wide:
      return readWide(key, row, at);
    case Op.comment:
      return readComment(key, row, at, skipValue(at));
    default:
      return skipValue(at);
  }
}

/** True if the first byte of a value is of the JSON type that an operation reads. */
function isOfType(op: number, byte: number | undefined): boolean {
  switch (op) {
    case Op.boolean:
      return byte === 116 || byte === 102;
    case Op.integer:
    case Op.integer128:
      return byte === 45 || (byte !== undefined && byte >= 48 && byte <= 57);
    case Op.comment:
      return true;
    default:
      return byte === QUOTE;
  }
}

function readString(key: Key, row: number, at: number): number {
  const column = key.bytes;
  if (page.bytes[at] !== QUOTE || column === null || !column.claim(row)) throw REFUSED;
  const behind = appendString(column, at + 1);
  column.close(row, column.end);
  return behind;
}

function readBoolean(key: Key, row: number, at: number): number {
  const { bytes, view } = page;
  const value = bytes[at] === 116;
  const word = view.getInt32(value ? at : at + 1, true);
  if (value ? word !== TRUE : bytes[at] !== 102 || word !== ALSE) throw REFUSED;
  if (key.flags === null || !key.flags.put(row, value)) throw REFUSED;
  return value ? at + 4 : at + 5;
}

function hex(from: number, to: number): number {
  const { bytes } = page;
  let value = 0;
  let bad = 0;
  for (let at = from; at < to; at++) {
    const digit = HEX[bytes[at] as number] as number;
    bad |= digit;
    value = value * 16 + digit;
  }
  if (bad < 0) throw REFUSED;
  return value;
}

function readShard(key: Key, row: number, at: number): number {
  const { bytes } = page;
  const from = at + 1;
  if (bytes[at] !== QUOTE) throw REFUSED;
  let to = from;
  while (to < from + 17 && bytes[to] !== QUOTE) to++;
  if (to === from || to === from + 17) throw REFUSED;
  const middle = Math.max(from, to - 8);
  if (key.numbers?.put64(row, hex(middle, to), hex(from, middle)) !== true) throw REFUSED;
  return to + 1;
}

function readOpcode(key: Key, row: number, at: number): number {
  const { bytes } = page;
  const from = at + 1;
  if (bytes[at] !== QUOTE || bytes[from] !== 48 || bytes[from + 1] !== 120 || bytes[from + 10] !== QUOTE) {
    throw REFUSED;
  }
  if (key.numbers?.put32(row, hex(from + 2, from + 10)) !== true) throw REFUSED;
  return from + 11;
}

const BODY = '{"@type":"';
const COMMENT = `${BODY}text_comment","comment":"`;
/** Appended by the server to some comments. */
const TAIL = ',"type":"text_comment"}';

/**
 * Reads the comment of `{"@type":"text_comment","comment":...}`; other decoded bodies are null. `to` is the position after the body.
 * The two keys are first searched in the server's order, without parsing.
 */
export function readComment(key: Key, row: number, at: number, to: number): number {
  const column = key.bytes;
  if (column === null || page.bytes[at] !== 123 || to - at < COMMENT.length) return to;
  if (startsWith(at, COMMENT_WORDS)) {
    if (!column.claim(row)) throw REFUSED;
    const behind = appendString(column, at + COMMENT.length);
    column.close(row, column.end);
    if (behind === to - 1 || (to - behind === TAIL.length && startsWith(behind, TAIL_WORDS))) return to;
    column.truncate(row);
  } else if (startsWith(at, BODY_WORDS) && isPlainType(at + BODY.length)) return to;
  const comment = commentOf(JSON.parse(rawText(at, to, true)));
  if (comment !== undefined && !column.putText(row, comment)) throw REFUSED;
  return to;
}

const COMMENT_WORDS = wordsOf(COMMENT);
const BODY_WORDS = wordsOf(BODY);
const TAIL_WORDS = wordsOf(TAIL);

/** The whole words of a text, and an overlapping one for the rest. */
function wordsOf(text: string): { readonly at: readonly number[]; readonly words: readonly number[] } {
  const at: number[] = [];
  for (let i = 0; i + 4 < text.length; i += 4) at.push(i);
  at.push(text.length - 4);
  return { at, words: at.map((i) => wordOf(text.slice(i, i + 4))) };
}

function startsWith(from: number, pattern: ReturnType<typeof wordsOf>): boolean {
  for (let i = 0; i < pattern.words.length; i++) {
    if (page.view.getInt32(from + (pattern.at[i] as number), true) !== pattern.words[i]) return false;
  }
  return true;
}

const TEXT_COMMENT = wordOf('text');

/** True if a type differs from `text_comment` in its first letters, without escapes. */
function isPlainType(at: number): boolean {
  const word = page.view.getInt32(at, true);
  const marks = endsIn(word);
  return word !== TEXT_COMMENT && (marks === 0 || page.bytes[at + bytesBefore(marks)] !== BACKSLASH);
}

/** The comment of a decoded body; undefined for other bodies. */
export function commentOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('@type' in body) || !('comment' in body)) return undefined;
  return body['@type'] === 'text_comment' && typeof body.comment === 'string' ? body.comment : undefined;
}
