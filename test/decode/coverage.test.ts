import { describe, expect, it } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import { fieldKinds } from '../../src/api/field.ts';
import type { ColumnDef } from '../../src/declare/column.ts';
import type { KindName } from '../../src/declare/kind.ts';
import type { TableDef } from '../../src/declare/table.ts';
import { readFacts } from '../facts.ts';

interface ApiField {
  readonly name: string;
  readonly json: string;
  readonly semantic?: string;
  readonly nullable: boolean;
  readonly omitted_when_null: boolean;
  readonly record?: string;
}

interface Leaf extends ApiField {
  readonly pointer: string;
  /** Whether it, or an object around it, may be missing or null. */
  readonly optional: boolean;
}

/** Fields of the API's records that no table has a column for, each with its reason. */
const WITHOUT_COLUMN: Readonly<Record<string, string>> = {
  'Transaction /account_state_before/data_boc': 'never sent inside transactions; would be kept in _extra',
  'Transaction /account_state_before/code_boc': 'never sent inside transactions; would be kept in _extra',
};

/** Columns whose kind is not the one that the API's semantic asks for, each with its reason. */
const OTHER_KIND: Readonly<Record<string, KindName>> = {
  // Servers of 2024 sent an uninitialised uint64 for external messages.
  'Transaction /description/credit_ph/credit': 'decimal-20',
};

/** The kind of a column for the API's semantic of a field; undefined for fields without one. */
function kindFor(semantic: string | undefined): KindName | undefined {
  if (semantic === 'enum') return 'text';
  return semantic === undefined ? undefined : Reflect.get(fieldKinds, semantic)?.column;
}

const tableOf = (name: string) =>
  [...blocks.tables, ...transactions.tables].find((table) => table.name === name) as TableDef;

describe('the declarations and the facts', () => {
  const { records } = readFacts<{
    readonly records: Readonly<Record<string, { readonly fields: readonly ApiField[] }>>;
  }>('records');

  function leaves(record: string, ends: readonly string[], pointer = '', optional = false): readonly Leaf[] {
    return (records[record]?.fields ?? []).flatMap((field) => {
      const leaf = {
        ...field,
        pointer: `${pointer}/${field.name}`,
        optional: optional || field.nullable || field.omitted_when_null,
      };
      const inside = field.record !== undefined && field.json === 'object' && !ends.includes(field.record);
      return inside ? leaves(field.record ?? '', ends, leaf.pointer, leaf.optional) : [leaf];
    });
  }

  const columnAt = (table: TableDef, pointer: string): ColumnDef | undefined =>
    table.columns.find(({ origin }) => origin.kind === 'path' && origin.path === pointer);

  const cases = [
    ...leaves('Block', []).map((leaf) => ({ record: 'Block', tables: ['blocks'], leaf })),
    ...leaves('Transaction', ['Message']).map((leaf) => ({
      record: 'Transaction',
      tables: ['transactions', 'account_states'],
      leaf,
    })),
    ...leaves('Message', []).map((leaf) => ({ record: 'Message', tables: ['messages'], leaf })),
  ].filter(({ leaf }) => leaf.record !== 'Message');

  it.each(cases)('$record $leaf.pointer has a column of its kind', ({ record, tables, leaf }) => {
    const name = `${record} ${leaf.pointer}`;
    const columns = tables.flatMap((table) => columnAt(tableOf(table), leaf.pointer) ?? []);
    if (WITHOUT_COLUMN[name] !== undefined) return expect(columns).toEqual([]);
    expect(columns).not.toEqual([]);
    for (const column of columns) {
      if (leaf.optional && !leaf.pointer.startsWith('/account_state_after')) expect(column.nullable).toBe(true);
      const expected = OTHER_KIND[name] ?? kindFor(leaf.semantic);
      if (expected !== undefined) expect(column.kind).toBe(expected);
      else
        expect([leaf.json, column.kind]).toEqual([
          leaf.json,
          ['array', 'object'].includes(leaf.json) ? 'json' : 'int64-number',
        ]);
    }
  });

  it('messages stand at the places that the messages table is fed from', () => {
    const { rows } = tableOf('messages');
    const places = rows.kind === 'nested' ? rows.places.map(({ path, count }) => [path, count]) : [];
    const fields = leaves('Transaction', ['Message']).filter(({ record }) => record === 'Message');
    expect(places).toEqual(fields.map(({ pointer, json }) => [pointer, json === 'array' ? 'many' : 'one']));
  });

  it.each(['blocks', 'transactions', 'messages', 'account_states'])(
    '%s has no column for a field that the API does not know',
    (table) => {
      const known = new Set(cases.map(({ leaf }) => leaf.pointer));
      const unknown = tableOf(table).columns.flatMap(({ origin }) =>
        origin.kind === 'path' && !known.has(origin.path) ? [origin.path] : [],
      );
      expect(unknown).toEqual([]);
    },
  );
});
