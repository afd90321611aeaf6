import { readBag } from '../proof/bag-of-cells.ts';
import { Mismatch, Slice } from './cell-slice.ts';
import type { NamedLayout } from './layouts.ts';
import { readFields, type Value, type Values } from './read-fields.ts';
import { bagOfRest } from './write-bag.ts';

/** How deep payloads in payloads are decoded. */
const MAX_NESTED = 4;

/** Layouts by the opcode that their bodies begin with. */
export function byOpcode(layouts: Iterable<NamedLayout>): ReadonlyMap<number, readonly NamedLayout[]> {
  const found = new Map<number, NamedLayout[]>();
  for (const layout of layouts) {
    if (layout.opcode !== undefined) found.set(layout.opcode, [...(found.get(layout.opcode) ?? []), layout]);
  }
  return found;
}

/**
 * The body as an object, `@type` and its fields; undefined if no layout matches. Of several, one that takes the whole body is preferred.
 * Payloads that match a layout are decoded as well.
 */
export function decodeBody(
  bytes: Uint8Array,
  layouts: ReadonlyMap<number, readonly NamedLayout[]>,
): object | undefined {
  const bag = readBag(bytes);
  return typeof bag === 'string' ? undefined : decodeRest(new Slice(bag), layouts, 0);
}

function decodeRest(
  rest: Slice,
  layouts: ReadonlyMap<number, readonly NamedLayout[]>,
  nested: number,
): object | undefined {
  if (rest.bitsLeft === 0 && rest.refsLeft === 0) return { '@type': 'empty_cell' };
  // The data of a special cell begins with its type, not with an opcode.
  if (rest.bitsLeft < 32 || rest.isSpecial) return undefined;
  let partial: object | undefined;
  for (const { name, fields } of layouts.get(rest.copy().number(32)) ?? []) {
    try {
      const slice = rest.copy();
      const { op: _op, ...values } = readFields(slice, fields);
      const decoded = { '@type': name, ...shownValues(values, layouts, nested) };
      if (slice.bitsLeft === 0 && slice.refsLeft === 0) return decoded;
      partial ??= decoded;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
    }
  }
  return partial;
}

function shownValues(values: Values, layouts: ReadonlyMap<number, readonly NamedLayout[]>, nested: number): object {
  const shown = (value: Value): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (value instanceof Slice) {
      const decoded = nested < MAX_NESTED ? decodeRest(value, layouts, nested + 1) : undefined;
      return decoded ?? bagOfRest(value).toString('base64');
    }
    return typeof value === 'object' && value !== null ? shownValues(value, layouts, nested) : value;
  };
  const entries: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) entries[name] = shown(value);
  return entries;
}
