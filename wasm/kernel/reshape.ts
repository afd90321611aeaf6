import { append, appendByte, newColumn, reserve, TEXTS } from './columns';
import { broken, open, PADDING, Page, roomFor } from './page';
import { NULL, skipBlanks, skipString, skipValue } from './skip';

/** How a response without a list of records becomes `{"rows": [...]}`. */
export enum Shape {
  none = 0,
  list = 1,
  one = 2,
  map = 3,
  bodies = 4,
}

/** What came of it. */
export enum Reshaped {
  done = 0,
  notJson = 1,
  notObject = 2,
  notList = 3,
}

const made = newColumn(TEXTS);

/** Begins with the page whose bytes were written to `roomFor`. */
export function loadPage(length: usize, shape: Shape): Reshaped {
  open(roomFor(length), length);
  return shape == Shape.none ? Reshaped.done : reshape(shape);
}

function reshape(shape: Shape): Reshaped {
  const value = skipValue(skipBlanks(Page.start));
  if (value == 0) return Reshaped.notJson;
  const end = skipBlanks(value);
  if (end != Page.end) {
    // No value, or several with commas, would be valid JSON after wrapping.
    broken(end);
    return Reshaped.notJson;
  }
  made.end = 0;
  let outcome = Reshaped.done;
  write(shape == Shape.list ? '{"rows":' : '{"rows":[');
  if (shape == Shape.map) outcome = writeEntries();
  else if (shape == Shape.bodies) outcome = writeBodies();
  else append(made, Page.start, Page.end - Page.start);
  write(shape == Shape.list ? '}' : ']}');
  if (outcome == Reshaped.done) {
    reserve(made, PADDING);
    open(made.values, made.end);
  }
  return outcome;
}

function write(text: string): void {
  for (let i = 0; i < text.length; i++) appendByte(made, <u8>text.charCodeAt(i));
}

function writeValue(from: usize, to: usize): void {
  append(made, from, to - from);
}

function writeEntries(): Reshaped {
  let at = skipBlanks(Page.start);
  if (load<u8>(at) != 123) return Reshaped.notObject;
  const first = made.end;
  at = skipBlanks(at + 1);
  while (load<u8>(at) != 125) {
    const keyEnd = skipString(at);
    const value = valueBehind(keyEnd);
    const valueEnd = skipValue(value);
    write(made.end == first ? '{"key":' : ',{"key":');
    writeValue(at, keyEnd);
    write(',"value":');
    writeValue(value, valueEnd);
    write('}');
    at = nextItem(valueEnd);
  }
  return Reshaped.done;
}

/** The position of the value behind a key. */
function valueBehind(keyEnd: usize): usize {
  return skipBlanks(skipBlanks(keyEnd) + 1);
}

/** The position of the next item, or of the closing bracket. The text is known to be JSON. */
function nextItem(end: usize): usize {
  const at = skipBlanks(end);
  return load<u8>(at) == 44 ? skipBlanks(at + 1) : at;
}

function writeBodies(): Reshaped {
  let at = skipBlanks(Page.start);
  if (load<u8>(at) != 123) return Reshaped.notObject;
  at = skipBlanks(at + 1);
  while (load<u8>(at) != 125) {
    const keyEnd = skipString(at);
    const value = valueBehind(keyEnd);
    if (isBodies(at, keyEnd)) return writeList(value);
    at = nextItem(skipValue(value));
  }
  // Only opcodes were requested.
  return Reshaped.done;
}

function isBodies(from: usize, to: usize): bool {
  const text = '"bodies"';
  if (to - from != text.length) return false;
  for (let i = 0; i < text.length; i++) if (load<u8>(from + i) != <u8>text.charCodeAt(i)) return false;
  return true;
}

function writeList(from: usize): Reshaped {
  if (load<u8>(from) != 91) return load<u32>(from) == NULL ? Reshaped.done : Reshaped.notList;
  const first = made.end;
  let at = skipBlanks(from + 1);
  while (load<u8>(at) != 93) {
    const end = skipValue(at);
    write(made.end == first ? '{"value":' : ',{"value":');
    writeValue(at, end);
    write('}');
    at = nextItem(end);
  }
  return Reshaped.done;
}
