import { LosslessNumber, parse } from 'lossless-json';
import type { Kind } from '../declare/kind.ts';

/** A number that a double may not represent exactly, as received. */
class Literal extends LosslessNumber {
  toJSON(): number {
    return Number(this.value);
  }
}

/** Parses JSON, but keeps integers of 16 digits and more, fractions, exponents and -0 as they are. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) => (/^(0|-?[1-9]\d{0,14})$/.test(digits) ? Number(digits) : new Literal(digits)),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** A value of a row, read from parsed JSON. */
export type Cell = string | bigint | boolean | Uint8Array | null;

/** Thrown for a value that does not match its kind. */
export class Misfit extends Error {}

/** The value at a JSON pointer; undefined if missing. Numbers that were kept as they are have no fields. */
export function valueAt(record: unknown, pointer: string): unknown {
  let value = record;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || value instanceof Literal) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}

/** Reads a JSON value as its kind requires. @throws {Misfit} */
export function readCell(kind: Kind, value: unknown): Cell {
  switch (kind.wire) {
    case 'string':
      return checked(value, typeof value === 'string' ? wellFormed(value) : undefined);
    case 'address':
      return checked(value, typeof value === 'string' ? upperCased(wellFormed(value)) : undefined);
    case 'hash-string':
      return checked(value, isText(value, /^[A-Za-z0-9+/]{43}=$/));
    case 'decimal-string': {
      const digits = isText(value, /^(0|-?[1-9][0-9]*)$/);
      return checked(value, digits === undefined ? undefined : inBounds(kind, BigInt(digits)));
    }
    case 'wide-decimal': {
      const digits = isText(value, /^(0|-?[1-9][0-9]*)$/);
      if (kind.physical === 'utf8' || digits === undefined) return checked(value, digits);
      return inBounds(kind, BigInt(digits)) ?? null;
    }
    case 'integer': {
      const whole = integerOf(value);
      return checked(value, whole === undefined ? undefined : inBounds(kind, whole));
    }
    case 'boolean':
      return checked(value, typeof value === 'boolean' ? value : undefined);
    case 'hex-shard': {
      const digits = isText(value, /^[0-9A-Fa-f]{1,16}$/);
      return checked(value, digits === undefined ? undefined : BigInt.asIntN(64, BigInt(`0x${digits}`)));
    }
    case 'hex-opcode': {
      const digits = isText(value, /^0x[0-9A-Fa-f]{8}$/);
      return checked(value, digits === undefined ? undefined : BigInt.asIntN(32, BigInt(digits)));
    }
    case 'base64': {
      const text = isText(value, /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
      return checked(value, text === undefined ? undefined : new Uint8Array(Buffer.from(text, 'base64')));
    }
    case 'json':
      return JSON.stringify(value);
    case 'comment': {
      const comment = commentOf(value);
      return comment === undefined ? null : wellFormed(comment);
    }
  }
}

/** The comment of a decoded body; undefined for other bodies. */
function commentOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('@type' in body) || !('comment' in body)) return undefined;
  return body['@type'] === 'text_comment' && typeof body.comment === 'string' ? body.comment : undefined;
}

/** A raw address in upper case; other texts as they are. */
function upperCased(text: string): string {
  const bytes = Buffer.from(text);
  const from = bytes.length - 64;
  if (from < 2 || bytes[from - 1] !== 58) return text;
  const digits = bytes.toString('latin1', from).replace(/[a-f]/g, (letter) => letter.toUpperCase());
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(digits, 'latin1')]).toString();
}

function checked<T>(value: unknown, read: T | undefined): T {
  if (read === undefined) throw new Misfit(shown(value));
  return read;
}

function isText(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

/** An integer, from a number or a literal. */
function integerOf(value: unknown): bigint | undefined {
  if (value instanceof Literal) return /^-?[1-9]\d*$/.test(value.value) ? BigInt(value.value) : undefined;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

function inBounds(kind: Kind, value: bigint): bigint | undefined {
  const bits = kind.physical === 'int32' ? 31n : 63n;
  const { min = -(2n ** bits), max = 2n ** bits - 1n } = kind;
  return value >= min && value <= max ? value : undefined;
}

/** A lone surrogate becomes U+FFFD, as in every UTF-8 encoder. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** A value as error messages show it: `17 (number)`. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Literal) return `${value.value} (number)`;
  const text = JSON.stringify(value);
  const cut = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return value === null ? 'null' : `${cut} (${Array.isArray(value) ? 'array' : typeof value})`;
}
