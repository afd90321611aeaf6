import { type UsageError, usage } from '../core/errors.ts';

/** What a field holds. */
export type FieldType =
  | { readonly kind: 'uint' | 'int' | 'bits'; readonly bits: number }
  /** A number of at most `bytes - 1` bytes, with its length before it. */
  | { readonly kind: 'varuint'; readonly bytes: number }
  | { readonly kind: 'address' | 'bool' | 'text' | 'snake' | 'rest' }
  /** A cell that the body refers to, maybe none, or either such a cell or the rest of this one. */
  | { readonly kind: 'ref' | 'maybe_ref' | 'either'; readonly fields: Fields | undefined }
  | { readonly kind: 'maybe'; readonly of: FieldType };

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** The only value that it may have. */
  readonly equals: bigint | undefined;
}

export type Fields = readonly Field[];

const MAX_BITS = 1023;
const WORD = /\s*(0x[0-9A-Fa-f]+|\w+|\S)/y;

/**
 * Parses a layout, such as `op uint32 = 0x0f8a7ea5, amount coins, to address, payload maybe_ref`.
 * @param origin where the text stands, for messages
 * @throws {UsageError} with line and column
 */
export function parseLayout(text: string, origin = 'layout'): Fields {
  return new LayoutParser(text, origin).parse();
}

class LayoutParser {
  readonly #text: string;
  readonly #origin: string;
  #at = 0;

  constructor(text: string, origin: string) {
    this.#text = text;
    this.#origin = origin;
  }

  parse(): Fields {
    const fields = this.#fields();
    if (this.#peek() !== '') throw this.#fault('a comma or the end');
    return fields;
  }

  #fields(): Fields {
    const fields: Field[] = [];
    do {
      const name = this.#word(/^[A-Za-z_]\w*$/, 'the name of a field');
      if (fields.some((field) => field.name === name)) throw this.#fault(`a name that is not used yet, after ${name}`);
      const type = this.#type();
      fields.push({
        name,
        type,
        equals: this.#skip('=') ? BigInt(this.#word(/^\w+$/, 'a number', isNumber)) : undefined,
      });
      if (['rest', 'text', 'snake', 'either'].includes(type.kind) && this.#peek() === ',')
        throw this.#fault(`the end after ${type.kind}`);
    } while (this.#skip(','));
    return fields;
  }

  #type(): FieldType {
    const before = this.#at;
    const word = this.#word(/^[a-z]\w*$/, 'a type');
    const [, kind, digits] = /^(uint|int|bits|varuint)(\d+)?$/.exec(word) ?? [];
    if (kind !== undefined) {
      const bits = Number(digits ?? this.#word(/^\d+$/, 'a number of bits'));
      const most = kind === 'bits' ? MAX_BITS : 257;
      if (kind === 'varuint' && (bits === 16 || bits === 32)) return { kind, bytes: bits };
      if (kind !== 'varuint' && bits >= 1 && bits <= most) return { kind: kind as 'uint' | 'int' | 'bits', bits };
      this.#at = before;
      throw this.#fault(kind === 'varuint' ? 'varuint16 or varuint32' : `1 to ${most} bits`);
    }
    switch (word) {
      case 'coins':
        return { kind: 'varuint', bytes: 16 };
      case 'address':
      case 'bool':
      case 'text':
      case 'snake':
      case 'rest':
        return { kind: word };
      case 'ref':
      case 'maybe_ref':
      case 'either':
        return { kind: word, fields: this.#inner(() => this.#fields()) };
      case 'maybe': {
        const of = this.#inner(() => this.#type());
        if (of !== undefined) return { kind: 'maybe', of };
        throw this.#fault('a type in brackets');
      }
      default:
        this.#at = before;
        throw this.#fault(
          'uintN, intN, bitsN, coins, varuint16, varuint32, address, bool, ref, maybe_ref, either, maybe, text, snake or rest',
        );
    }
  }

  #inner<T>(parse: () => T): T | undefined {
    if (!this.#skip('(')) return undefined;
    const inner = parse();
    if (!this.#skip(')')) throw this.#fault(')');
    return inner;
  }

  #peek(): string {
    WORD.lastIndex = this.#at;
    return WORD.exec(this.#text)?.[1] ?? '';
  }

  #next(): void {
    WORD.lastIndex = this.#at;
    if (WORD.exec(this.#text) !== null) this.#at = WORD.lastIndex;
  }

  #skip(word: string): boolean {
    if (this.#peek() !== word) return false;
    this.#next();
    return true;
  }

  #word(pattern: RegExp, expected: string, isRight: (word: string) => boolean = () => true): string {
    const word = this.#peek();
    if (!pattern.test(word) || !isRight(word)) throw this.#fault(expected);
    this.#next();
    return word;
  }

  #fault(expected: string): UsageError {
    const got = this.#peek();
    const start = this.#at + (/^\s*/.exec(this.#text.slice(this.#at))?.[0].length ?? 0);
    const lines = this.#text.slice(0, start).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    return usage(
      expected,
      `${got === '' ? 'the end' : got} (${this.#origin}: ${place})`,
      "for example 'op uint32, query_id uint64, amount coins, to address, payload maybe_ref'; docs/sql.md lists the types",
    );
  }
}

function isNumber(word: string): boolean {
  return /^(0x[0-9A-Fa-f]+|\d+)$/.test(word);
}
