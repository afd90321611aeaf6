import { Op } from '../generated/numbering';
import { readBase64, readHash } from './base64';
import { claim, close, putBit, truncate } from './columns';
import { quoteAt, readInteger, readInteger128, readOpcode, readShard, readWide, wholeOnly } from './numbers';
import { BACKSLASH, QUOTE, refused } from './page';
import { Key } from './plan';
import { ALSE, skipBlanks, skipString, skipValue, TRUE } from './skip';
import { appendString, Text } from './text';

const COLON: u8 = 58;
/** Characters of a raw address after its colon. */
const ADDRESS_DIGITS: usize = 64;

/** Writes the value at a position to row `row` of its column, and returns the position behind it; 0 if it does not match. */
export function readLeaf(key: Key, row: u32, at: usize, op: Op): usize {
  switch (op) {
    case Op.string:
      return readString(key, row, at);
    case Op.address:
      return readAddress(key, row, at);
    case Op.hash:
      return readHash(key, row, at);
    case Op.decimal64:
      return load<u8>(at) == QUOTE ? quoteAt(readInteger(key, row, at + 1)) : refused();
    case Op.integer:
      return wholeOnly(readInteger(key, row, at));
    case Op.boolean:
      return readBoolean(key, row, at);
    case Op.shard:
      return readShard(key, row, at);
    case Op.opcode:
      return readOpcode(key, row, at);
    case Op.base64:
      return readBase64(key, row, at);
    case Op.decimal128:
      return load<u8>(at) == QUOTE ? quoteAt(readInteger128(key, row, at + 1)) : refused();
    case Op.integer128:
      return wholeOnly(readInteger128(key, row, at));
    case Op.lenient:
      return isOfType(key.inner, load<u8>(at)) ? readLeaf(key, row, at, key.inner) : skipValue(at);
    case Op.wide:
      return readWide(key, row, at);
    case Op.comment:
      return readComment(key, row, at, skipValue(at));
    default:
      return skipValue(at);
  }
}

/** True if the first byte of a value is of the JSON type that an operation reads. */
function isOfType(op: Op, byte: u8): bool {
  switch (op) {
    case Op.boolean:
      return byte == 116 || byte == 102;
    case Op.integer:
    case Op.integer128:
      return byte == 45 || (byte >= 48 && byte <= 57);
    case Op.comment:
      return true;
    default:
      return byte == QUOTE;
  }
}

function readString(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) != QUOTE) return refused();
  const column = key.bytes;
  claim(column, row);
  const behind = appendString(column, at + 1, false);
  if (behind != 0) close(column, row);
  return behind;
}

/** Stores raw addresses in upper case, and other texts unchanged. */
function readAddress(key: Key, row: u32, at: usize): usize {
  const behind = readString(key, row, at);
  const column = key.bytes;
  const start = <usize>load<u32>(column.offsets + ((<usize>row) << 2));
  if (behind == 0 || column.end < start + ADDRESS_DIGITS + 2) return behind;
  const end = column.values + column.end;
  const digits = end - ADDRESS_DIGITS;
  if (load<u8>(digits - 1) != COLON) return behind;
  for (let digit = digits; digit < end; digit++) {
    const byte = load<u8>(digit);
    if (byte >= 97 && byte <= 102) store<u8>(digit, byte - 32);
  }
  return behind;
}

function readBoolean(key: Key, row: u32, at: usize): usize {
  const isTrue = load<u32>(at) == TRUE;
  if (!isTrue && (load<u8>(at) != 102 || load<u32>(at, 1) != ALSE)) return refused();
  putBit(key.flags, row, isTrue);
  return isTrue ? at + 4 : at + 5;
}

const BODY = ascii('{"@type":"');
const COMMENT = ascii('{"@type":"text_comment","comment":"');
/** Appended by the server to some comments. */
const TAIL = ascii(',"type":"text_comment"}');
const BODY_LENGTH: usize = 10;
const COMMENT_LENGTH: usize = 35;
const TAIL_LENGTH: usize = 23;
const TYPE = ascii('@type');
const NAME = ascii('comment');
const TEXT_COMMENT = ascii('text_comment');
const TEXT_COMMENT_LENGTH: usize = 12;
/** `text` */
const FIRST_LETTERS: u32 = 0x74786574;

function ascii(text: string): usize {
  const to = heap.alloc(text.length);
  for (let i = 0; i < text.length; i++) store<u8>(to + i, <u8>text.charCodeAt(i));
  return to;
}

/**
 * Reads the comment of `{"@type":"text_comment","comment":...}`; other decoded bodies are null. `to` is the position behind the body.
 * The two keys are first searched in the server's order, without parsing.
 */
export function readComment(key: Key, row: u32, at: usize, to: usize): usize {
  if (to == 0) return 0;
  const column = key.bytes;
  if (changetype<usize>(column) == 0 || load<u8>(at) != 123 || to - at < COMMENT_LENGTH) return to;
  if (memory.compare(at, COMMENT, COMMENT_LENGTH) == 0) {
    claim(column, row);
    const behind = appendString(column, at + COMMENT_LENGTH, false);
    if (behind == 0) return 0;
    close(column, row);
    if (behind == to - 1 || (to - behind == TAIL_LENGTH && memory.compare(behind, TAIL, TAIL_LENGTH) == 0)) return to;
    truncate(column, row);
  } else if (memory.compare(at, BODY, BODY_LENGTH) == 0 && isPlainType(at + BODY_LENGTH)) return to;
  searchComment(key, row, at);
  return to;
}

/** True if a type differs from `text_comment` in its first letters, without escapes. */
function isPlainType(at: usize): bool {
  if (load<u32>(at) == FIRST_LETTERS) return false;
  for (let i = at; i < at + 4; i++) {
    const c = load<u8>(i);
    if (c == QUOTE || c == BACKSLASH) return c == QUOTE;
  }
  return true;
}

/** Reads the comment of a valid object with its keys in any order; of keys that come twice, the last one counts. */
function searchComment(key: Key, row: u32, from: usize): void {
  let isComment = false;
  let value: usize = 0;
  let at = skipBlanks(from + 1);
  while (load<u8>(at) == QUOTE) {
    Text.read(at);
    const isType = Text.is(TYPE, 5);
    const isText = Text.is(NAME, 7);
    at = skipBlanks(skipBlanks(skipString(at)) + 1);
    const isString = load<u8>(at) == QUOTE;
    if (isType) {
      if (isString) Text.read(at);
      isComment = isString && Text.is(TEXT_COMMENT, TEXT_COMMENT_LENGTH);
    } else if (isText) value = isString ? at : 0;
    at = skipBlanks(skipValue(at));
    if (load<u8>(at) == 44) at = skipBlanks(at + 1);
  }
  if (!isComment || value == 0) return;
  claim(key.bytes, row);
  appendString(key.bytes, value + 1, false);
  close(key.bytes, row);
}
