import { BACKSLASH, broken, bytesBefore, controlsIn, endsIn, page, QUOTE, wordOf } from './page-buffer.ts';

/** Validates JSON without storing it. Each function takes the position of a value and returns the position after it. */

const MAX_DEPTH = 512;
export const NULL = wordOf('null');
export const TRUE = wordOf('true');
/** `false` without its first letter. */
export const ALSE = wordOf('alse');

export function skipBlanks(from: number): number {
  const { bytes } = page;
  let at = from;
  for (let c = bytes[at]; c === 32 || c === 10 || c === 13 || c === 9; c = bytes[at]) at++;
  if (at !== from) page.dirty = true;
  return at;
}

/** Skips a value. @throws {BROKEN} */
export function skipValue(at: number): number {
  return skipNested(at, 0);
}

function skipNested(at: number, depth: number): number {
  switch (page.bytes[at]) {
    case QUOTE:
      return skipString(at);
    case 123:
      return skipObject(at, depth);
    case 91:
      return skipArray(at, depth);
    case 116:
      return page.view.getInt32(at, true) === TRUE ? at + 4 : broken(at);
    case 110:
      return page.view.getInt32(at, true) === NULL ? at + 4 : broken(at);
    case 102:
      return page.view.getInt32(at + 1, true) === ALSE ? at + 5 : broken(at);
    default:
      return skipNumber(at);
  }
}

function skipObject(from: number, depth: number): number {
  const { bytes } = page;
  if (depth > MAX_DEPTH) broken(from);
  let at = from + 1;
  if ((bytes[at] as number) <= 32) at = skipBlanks(at);
  if (bytes[at] === 125) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) broken(at);
    at = skipString(at);
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
    if (bytes[at] !== 58) broken(at);
    at++;
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
    at = bytes[at] === QUOTE ? skipString(at) : skipNested(at, depth + 1);
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
    const c = bytes[at];
    if (c === 125) return at + 1;
    if (c !== 44) broken(at);
    at++;
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
  }
}

function skipArray(from: number, depth: number): number {
  const { bytes } = page;
  if (depth > MAX_DEPTH) broken(from);
  let at = skipBlanks(from + 1);
  if (bytes[at] === 93) return at + 1;
  for (;;) {
    at = skipBlanks(skipNested(at, depth + 1));
    const c = bytes[at];
    if (c === 93) return at + 1;
    if (c !== 44) broken(at);
    at = skipBlanks(at + 1);
  }
}

function skipString(from: number): number {
  const { bytes, view } = page;
  let at = from + 1;
  for (;;) {
    const word = view.getInt32(at, true);
    const marks = endsIn(word) | controlsIn(word);
    if (marks === 0) {
      at += 4;
      continue;
    }
    at += bytesBefore(marks);
    const c = bytes[at] as number;
    if (c === QUOTE) {
      if (at >= page.end) broken(at);
      return at + 1;
    }
    if (c === BACKSLASH) at = afterEscape(at);
    else {
      page.dirty = true;
      at++;
    }
  }
}

/** The position after the escape that starts at `at`. @throws {BROKEN} */
export function afterEscape(at: number): number {
  const { bytes } = page;
  switch (bytes[at + 1]) {
    case 34:
    case 47:
    case 92:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return at + 2;
    case 117:
      for (let i = at + 2; i < at + 6; i++) if ((HEX[bytes[i] as number] as number) < 0) broken(at);
      return at + 6;
    default:
      return broken(at);
  }
}

/** The value of each hex digit; -1 for other characters. */
export const HEX = new Int8Array(256).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  HEX[digit.charCodeAt(0)] = value;
  HEX[digit.toUpperCase().charCodeAt(0)] = value;
}

function skipNumber(from: number): number {
  const { bytes } = page;
  let at = bytes[from] === 45 ? from + 1 : from;
  at = bytes[at] === 48 ? at + 1 : afterDigits(at);
  if (bytes[at] === 46) at = afterDigits(at + 1);
  if (bytes[at] === 101 || bytes[at] === 69) {
    at++;
    if (bytes[at] === 43 || bytes[at] === 45) at++;
    at = afterDigits(at);
  }
  return at;
}

function afterDigits(from: number): number {
  const { bytes } = page;
  let at = from;
  for (let c = bytes[at] as number; c >= 48 && c <= 57; c = bytes[at] as number) at++;
  return at === from ? broken(at) : at;
}
