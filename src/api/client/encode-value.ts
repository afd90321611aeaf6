import { isAddress } from '../../core/address.ts';
import { shardHex } from '../../core/format.ts';
import type { JsonValue } from '../field.ts';
import type { Parameter } from '../parameter.ts';

/** The value of a parameter as sent; undefined if invalid. Never empty: the server would ignore the filter. */
export function encodeValue(parameter: Parameter, value: unknown): string | undefined {
  switch (parameter.kind) {
    case 'address':
      return textThat(value, isAddress);
    case 'address-or-null':
      return value === null || value === 'null' ? 'null' : textThat(value, isAddress);
    case 'hash':
      return textThat(value, (text) => /^((0x)?[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=)$/.test(text));
    case 'shard':
      return encodeShard(value);
    case 'opcode':
      return encodeOpcode(value);
    case 'int32':
      return wholeText(value, parameter.min ?? -2147483648, parameter.max ?? 2147483647);
    case 'unix-seconds':
      return wholeText(value, 0, 4294967295);
    case 'uint64':
      return wholeText(value, 0, 18446744073709551615n);
    case 'digits':
      return wholeText(value, 0, undefined);
    case 'bool':
      return encodeBool(value);
    case 'choice':
      return textThat(value, (text) => parameter.words.includes(text));
    case 'text':
      return textThat(value, (text) => text.trim() !== '');
    case 'action-type':
      return textThat(value, (text) => /^[A-Za-z0-9_.]+$/.test(text));
    case 'boc':
      return textThat(value, isBase64);
    case 'boc-or-hex':
      return textThat(value, (text) => isBase64(text) || /^([0-9a-fA-F]{2})+$/.test(text));
    case 'stack':
      return isStack(value) ? JSON.stringify(value) : undefined;
  }
}

/** The value in the JSON body of a POST. @param text result of `encodeValue` */
export function bodyValue(parameter: Parameter, text: string): JsonValue {
  switch (parameter.kind) {
    case 'bool':
      return text === 'true';
    case 'stack':
      // Checked by `encodeValue`.
      return JSON.parse(text) as JsonValue;
    default:
      return text;
  }
}

function textThat(value: unknown, isRight: (text: string) => boolean): string | undefined {
  return typeof value === 'string' && isRight(value) ? value : undefined;
}

/** An integer given as a number, bigint or text. */
function wholeText(value: unknown, min: number | bigint, max: number | bigint | undefined): string | undefined {
  const whole = wholeOf(value);
  return whole === undefined || whole < min || (max !== undefined && whole > max) ? undefined : String(whole);
}

function wholeOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,400}$/.test(value) ? BigInt(value) : undefined;
}

/** The server tries hex before decimal, so decimals are converted to hex here. */
function encodeShard(value: unknown): string | undefined {
  if (typeof value === 'string' && /^(0x)?[0-9a-fA-F]{1,16}$/.test(value)) return value;
  const isSigned = typeof value === 'bigint' || (typeof value === 'string' && value.startsWith('-'));
  const id = isSigned ? wholeOf(value) : undefined;
  if (id === undefined || id < -(2n ** 63n) || id >= 2n ** 64n) return undefined;
  return shardHex(id);
}

/** Text without `0x` is rejected: `10` would be parsed as 16. */
function encodeOpcode(value: unknown): string | undefined {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,8}$/.test(value)) return value;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.startsWith('-'));
  const code = isNumber ? wholeOf(value) : undefined;
  if (code === undefined || code < -(2n ** 31n) || code >= 2n ** 32n) return undefined;
  return `0x${BigInt.asUintN(32, code).toString(16).padStart(8, '0')}`;
}

function encodeBool(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  if (/^(1|t|true|on)$/i.test(value)) return 'true';
  return /^(0|f|false|off)$/i.test(value) ? 'false' : undefined;
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function isStack(value: unknown, depth = 0): boolean {
  return Array.isArray(value) && depth < 64 && value.every((entry: unknown) => isStackEntry(entry, depth));
}

function isStackEntry(entry: unknown, depth: number): boolean {
  if (typeof entry !== 'object' || entry === null || !('type' in entry) || !('value' in entry)) return false;
  if (typeof entry.value === 'string') return entry.type === 'num' || entry.type === 'cell' || entry.type === 'slice';
  return (entry.type === 'tuple' || entry.type === 'list') && isStack(entry.value, depth + 1);
}
