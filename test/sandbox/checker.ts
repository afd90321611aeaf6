import { readFacts } from '../facts.ts';
import type { Answer } from './support.ts';

interface Field {
  readonly name: string;
  readonly json: string;
  readonly semantic?: string;
  readonly nullable: boolean;
  readonly omitted_when_null: boolean;
  readonly record?: string;
  readonly enum?: readonly string[];
}

export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function matches(word: string, text: string): boolean {
  return word.endsWith('_<code>') ? text.startsWith(word.slice(0, -6)) : word === text;
}

/** Checks a value against the facts; returns what is wrong, each with its place. */
export class Checker {
  readonly facts = readFacts<Answer>('records');
  readonly problems: string[] = [];

  check(name: string, value: unknown, path: string): void {
    if (!isNode(value)) return this.#wrong(path, 'not an object');
    const fields: readonly Field[] = this.facts.records[name].fields;
    const known = new Set(fields.map((field) => field.name));
    for (const key of Object.keys(value)) if (!known.has(key)) this.#wrong(`${path}.${key}`, 'not declared');
    const order = fields.map((field) => field.name).filter((field) => field in value);
    if (name !== 'Transaction' && name !== 'Message' && Object.keys(value).join() !== order.join())
      this.#wrong(path, `keys in the order ${Object.keys(value).join()}`);
    for (const field of fields) this.#field(field, value, `${path}.${field.name}`);
  }

  /** Checks an action with its details. */
  action(value: Node, path: string): void {
    this.check('Action', value, path);
    const type = String(value['type']);
    const known = this.facts.action_details_by_type[type];
    const details = value['details'];
    if (known === undefined || !isNode(details)) return this.#wrong(`${path}.details`, `of ${type}`);
    const tonco = type === 'jetton_swap' && details['dex'] === 'tonco';
    const call = type === 'extra_currency_transfer' && !('comment' in details);
    const record = tonco || call ? Object.values(known.record_when)[0] : known.record;
    this.check(String(record), details, `${path}.details(${type})`);
  }

  #field(field: Field, owner: Node, path: string): void {
    if (!Object.hasOwn(owner, field.name)) {
      if (!field.omitted_when_null) this.#wrong(path, 'missing');
      return;
    }
    const value = owner[field.name];
    if (value === null) {
      if (!field.nullable) this.#wrong(path, 'null');
    } else if (field.record !== undefined) {
      if (Array.isArray(value)) for (const one of value) this.check(field.record, one, `${path}[]`);
      else if (field.name === 'transactions')
        for (const [hash, one] of Object.entries(value ?? {})) this.check(field.record, one, `${path}.${hash}`);
      else this.check(field.record, value, path);
    } else this.#scalar(field, value, path);
  }

  #scalar(field: Field, value: unknown, path: string): void {
    const types: Record<string, string> = {
      int: 'number',
      bool: 'boolean',
      string: 'string',
      object: 'object',
      array: 'object',
    };
    if (typeof value !== types[field.json]) return this.#wrong(path, `a ${typeof value}`);
    if (field.enum !== undefined && !field.enum.some((word) => matches(word, String(value))))
      this.#wrong(path, String(value));
    const semantic = this.facts.semantics[field.semantic ?? ''];
    if (field.semantic === 'extra-currency-map') {
      for (const [id, amount] of Object.entries(value ?? {}))
        this.#range({ min: '0', max: String((1n << 248n) - 1n) }, amount, `${path}.${id}`);
    } else if (typeof value !== 'object' && semantic !== undefined) this.#range(semantic, value, path);
  }

  #range(
    semantic: { pattern?: string; min?: string | number; max?: string | number },
    value: unknown,
    path: string,
  ): void {
    // What JSON.parse has rounded cannot be judged.
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return;
    const text = String(value);
    if (semantic.pattern !== undefined && !new RegExp(semantic.pattern).test(text)) this.#wrong(path, text);
    if (
      semantic.min !== undefined &&
      (!/^-?\d+$/.test(text) || BigInt(text) < BigInt(semantic.min) || BigInt(text) > BigInt(semantic.max ?? 0))
    ) {
      this.#wrong(path, text);
    }
  }

  #wrong(path: string, what: string): void {
    this.problems.push(`${path}: ${what}`);
  }
}
