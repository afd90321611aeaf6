import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { enums, records, variants } from '../../api/facts.ts';
import { fieldKinds, parseField } from '../../src/api/field.ts';
import { recordsIn } from '../../src/api/field-path.ts';
import { fieldsOf, isRecordName } from '../../src/api/records.ts';
import { readFacts } from '../facts.ts';
import { hasShared, readShared } from './shared.ts';

const { factsModule, parseFacts } = await import(new URL('../../tools/facts.mjs', import.meta.url).href);

describe('the records', () => {
  const fields = Object.entries(records).flatMap(([record, texts]) =>
    Object.entries(texts).map(([name, text]) => ({ at: `${record}.${name}`, field: parseField(text), record })),
  );

  test('hold only records, words and fields that exist', () => {
    for (const { at, field, record } of fields) {
      for (const name of recordsIn(field)) expect(isRecordName(name), at).toBe(true);
      if (field.content.kind === 'record') expect(isRecordName(field.content.name), at).toBe(true);
      if (field.content.kind === 'enum') expect([...Object.keys(enums), 'action_type']).toContain(field.content.name);
      if (field.content.kind === 'variant') {
        expect(Object.keys(variants)).toContain(field.content.map);
        expect(Object.keys(fieldsOf(record) ?? {})).toContain(field.content.field);
      }
    }
  });
});

describe('the facts', () => {
  const text = readFileSync(new URL('../../api/records.json', import.meta.url), 'utf8');

  test('are what the records are generated from: kinds, lists, maps, enumerations, and records that depend on a field', () => {
    expect(factsModule()).toBe(readFileSync(new URL('../../api/facts.ts', import.meta.url), 'utf8'));
    expect(records.Block).toMatchObject({ gen_utime: 'unix-seconds-string', prev_blocks: 'BlockId[]|null' });
    expect(records.Trace).toMatchObject({ transactions: 'Transaction{}?', warning: 'text?' });
    expect(records.AccountState).toMatchObject({ account_status: 'enum:account_status|null' });
    expect(records.Action).toMatchObject({ type: 'enum:action_type', details: 'by:type:action_details_by_type' });
    expect(variants.action_details_by_type.jetton_swap).toBe('ActionDetailsJettonSwap|ActionDetailsToncoJettonSwap');
  });

  test('are refused in another form: an unknown kind, a field without a name, an enumeration that is no list', () => {
    const wrong = (from: string, to: string) => () => parseFacts(text.replace(from, to));
    expect(wrong('"semantic": "hex-shard"', '"semantic": "hex-shrd"')).toThrow(/semantic/);
    expect(wrong('"name": "workchain"', '"nme": "workchain"')).toThrow(/name/);
    expect(() => parseFacts(JSON.stringify({ ...JSON.parse(text), enums: { finality: 'pending' } }))).toThrow(/enums/);
  });

  test('have the same kinds of fields', () => {
    const JSON_FORMS: Readonly<Record<string, string>> = { int: 'integer', bool: 'boolean' };
    const { semantics } = readFacts<{ readonly semantics: Readonly<Record<string, { readonly json: string }>> }>(
      'records',
    );
    const kinds = Object.entries(semantics).filter(([kind]) => kind !== 'enum');
    expect(Object.keys(fieldKinds).sort()).toEqual(kinds.map(([kind]) => kind).sort());
    for (const [kind, { json }] of kinds) {
      const wide = kind.includes('int64-number') ? 'wide' : undefined;
      const texts = /-map$/.test(kind) ? 'texts' : undefined;
      expect(Reflect.get(fieldKinds, kind), kind).toMatchObject({ json: wide ?? texts ?? JSON_FORMS[json] ?? json });
    }
  });

  test.runIf(hasShared)('are the description of the API', () => {
    for (const name of ['endpoints', 'records'] as const) {
      expect(readFacts(name)).toEqual(readShared(`api/${name}.json`));
    }
  });
});
