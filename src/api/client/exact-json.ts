import { LosslessNumber, parse, stringify } from 'lossless-json';
import { DecodeError } from '../../core/errors.ts';
import type { JsonValue } from '../field.ts';

/**
 * Reads an answer. Integers within 2^53 become numbers, larger ones bigint, and numbers with a fraction or an exponent
 * doubles. Raw control characters inside strings, which decoded comments bring, are accepted.
 *
 * @throws {DecodeError} when it is no JSON; retryable, because a cut answer is asked again
 */
export function parseAnswer(body: Buffer, label: string): JsonValue {
  // The parser's numbers are those of `readNumber`, everything else is JSON.
  return parseBody(body, label, readNumber) as JsonValue;
}

/** JSON whose numbers are kept as they were sent, for output. */
export type SentValue = null | boolean | string | LosslessNumber | readonly SentValue[] | SentObject;
export interface SentObject {
  readonly [key: string]: SentValue;
}

/** Reads an answer so that `writeSent` gives every number back digit by digit. @throws {DecodeError} as `parseAnswer` */
export function parseSent(body: Buffer, label: string): SentValue {
  return parseBody(body, label, (digits) => new LosslessNumber(digits)) as SentValue;
}

/** JSON text on one line, or indented. */
export function writeSent(value: SentValue, indent?: number): string {
  return stringify(value, undefined, indent) ?? 'null';
}

/** What a single value looks like without quotes: its digits, its text, or JSON for nested ones; null for null. */
export function cellOf(value: SentValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return value instanceof LosslessNumber ? value.value : writeSent(value);
}

/** Whether a value is an object with fields. */
export function isSentObject(value: SentValue | undefined): value is SentObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}

function parseBody(body: Buffer, label: string, parseNumber: (digits: string) => unknown): unknown {
  const text = escapeControls(body.toString('utf8'));
  try {
    return parse(text, undefined, parseNumber);
  } catch (cause) {
    const got = cause instanceof RangeError ? 'values nested too deep' : 'something else';
    throw new DecodeError(`decode ${label}: expected JSON, got ${got}`, { code: 'not-json', retryable: true, cause });
  }
}

function readNumber(digits: string): number | bigint {
  const double = Number(digits);
  return Number.isSafeInteger(double) || !/^-?\d+$/.test(digits) ? double : BigInt(digits);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f]/g;

/** JSON forbids control characters inside strings; blanks between values stay as they are. */
function escapeControls(text: string): string {
  if (text.search(CONTROL) < 0) return text;
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, (string) =>
    string.replace(CONTROL, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
