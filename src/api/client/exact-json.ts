import { LosslessNumber, parse, stringify } from 'lossless-json';
import { DecodeError } from '../../core/errors.ts';
import type { JsonValue } from '../field.ts';

/**
 * Parses a response. Integers up to 2^53 are numbers, larger ones bigint, and numbers with a fraction or exponent doubles. Raw control
 * characters in strings, which occur in decoded comments, are accepted.
 *
 * @throws {DecodeError} if it is not JSON; retryable, because it may be truncated, unless it is nested too deep for the parser
 */
export function parseExactJson(body: Buffer, label: string): JsonValue {
  return parseBody(body, label, readNumber) as JsonValue;
}

/** JSON whose numbers stay as received, for output. */
export type SentValue = null | boolean | string | LosslessNumber | readonly SentValue[] | SentObject;
export interface SentObject {
  readonly [key: string]: SentValue;
}

/** Parses a response so that `writeSent` keeps all digits of numbers. @throws {DecodeError} as `parseExactJson` */
export function parseSent(body: Buffer, label: string): SentValue {
  return parseBody(body, label, (digits) => new LosslessNumber(digits)) as SentValue;
}

/** JSON text on one line, or indented. */
export function writeSent(value: SentValue, indent?: number): string {
  return stringify(value, undefined, indent) ?? 'null';
}

/** A value without quotes: digits, text, or JSON for nested values; null for null. */
export function cellOf(value: SentValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return value instanceof LosslessNumber ? value.value : writeSent(value);
}

/** True for an object with fields. */
export function isSentObject(value: SentValue | undefined): value is SentObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}

function parseBody(body: Buffer, label: string, parseNumber: (digits: string) => unknown): unknown {
  const text = escapeControls(body.toString('utf8'));
  try {
    return parse(text, undefined, parseNumber);
  } catch (cause) {
    const isDeep = cause instanceof RangeError;
    const got = isDeep ? 'values nested too deep' : 'something else';
    throw new DecodeError(`decode ${label}: expected JSON, got ${got}`, {
      code: 'not-json',
      retryable: !isDeep,
      cause,
    });
  }
}

function readNumber(digits: string): number | bigint {
  const double = Number(digits);
  return Number.isSafeInteger(double) || !/^-?\d+$/.test(digits) ? double : BigInt(digits);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the purpose of this expression
const CONTROL = /[\u0000-\u001f]/g;

/** Escapes control characters in strings, which JSON forbids; whitespace between values is unchanged. */
function escapeControls(text: string): string {
  if (text.search(CONTROL) < 0) return text;
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, (string) =>
    string.replace(CONTROL, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
