import { readBag } from '../proof/bag-of-cells.ts';
import { Mismatch, Slice } from './cell-slice.ts';
import type { NamedLayout } from './layouts.ts';
import { readFields, type Value, type Values } from './read-fields.ts';

/** How deep payloads in payloads are decoded. */
const MAX_NESTED = 4;

/** Bodies by the opcode that they begin with; of several layouts, one that takes all of the body comes first. */
export function byOpcode(layouts: Iterable<NamedLayout>): ReadonlyMap<number, readonly NamedLayout[]> {
  const found = new Map<number, NamedLayout[]>();
  for (const layout of layouts) {
    if (layout.opcode !== undefined) found.set(layout.opcode, [...(found.get(layout.opcode) ?? []), layout]);
  }
  return found;
}

/** The body as an object, `@type` and its fields; undefined if no layout matches. Payloads that match one are decoded, too. */
export function decodeBody(
  bytes: Uint8Array,
  layouts: ReadonlyMap<number, readonly NamedLayout[]>,
  nested = 0,
): object | undefined {
  const bag = readBag(bytes);
  if (typeof bag === 'string') return undefined;
  const start = new Slice(bag);
  if (start.bitsLeft === 0 && start.refsLeft === 0) return { '@type': 'empty_cell' };
  if (start.bitsLeft < 32) return undefined;
  let loose: object | undefined;
  for (const { name, fields } of layouts.get(start.number(32)) ?? []) {
    try {
      const slice = new Slice(bag);
      const { op: _op, ...values } = readFields(slice, fields);
      const decoded = { '@type': name, ...shownValues(values, layouts, nested) };
      if (slice.bitsLeft === 0 && slice.refsLeft === 0) return decoded;
      loose ??= decoded;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
    }
  }
  return loose;
}

function shownValues(values: Values, layouts: ReadonlyMap<number, readonly NamedLayout[]>, nested: number): object {
  const shown = (value: Value): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (Buffer.isBuffer(value)) {
      return (nested < MAX_NESTED ? decodeBody(value, layouts, nested + 1) : undefined) ?? value.toString('base64');
    }
    return typeof value === 'object' && value !== null ? shownValues(value, layouts, nested) : value;
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(value)]));
}
