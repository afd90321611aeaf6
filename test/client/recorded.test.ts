import { describe, expect, test } from 'vitest';
import { variants } from '../../api/facts.ts';
import { parseExactJson, parseSent, writeSent } from '../../src/api/client/exact-json.ts';
import { readResponse } from '../../src/api/client/read-response.ts';
import { cellsOf, columnsOf, rowsOf } from '../../src/api/client/response-rows.ts';
import { endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { type Field, fieldKinds, parseField } from '../../src/api/field.ts';
import { fieldsOf } from '../../src/api/records.ts';
import { hasShared, recordedAnswers } from './shared.ts';

const answers = endpointNames.flatMap((name) => {
  const endpoint = endpointOf(name);
  return endpoint.method === 'POST' && endpoint.path === '/decode'
    ? []
    : recordedAnswers(endpoint.path).map(({ file, body }) => [file, endpoint, body] as const);
});

describe.runIf(hasShared)('every recorded answer', () => {
  test('is there for each endpoint but two', () => {
    const paths = endpointNames.map((name) => endpointOf(name).path).filter((path) => path !== '/decode');
    expect(paths.filter((path) => recordedAnswers(path).length === 0)).toEqual(['/nft/sales', '/message']);
  });

  test.each(answers)('%s is read, written back as it was, and cut into cells', (file, endpoint, body) => {
    readResponse(endpoint, { status: 200, body, request: file });
    const sent = parseSent(body, file);
    expect(parseExactJson(Buffer.from(writeSent(sent)), file)).toEqual(parseExactJson(body, file));
    const columns = columnsOf(endpoint);
    for (const row of rowsOf(endpoint, sent)) expect(cellsOf(columns, row)).toHaveLength(columns.length);
  });

  const ofServer = answers.filter(([file]) => file.includes('/server__'));
  test.each(ofServer)('%s holds what the records say', (file, endpoint, body) => {
    const answer = readResponse(endpoint, { status: 200, body, request: file });
    const rows = isObject(answer) && endpoint.answer.kind === 'rows' ? answer[endpoint.answer.rows] : answer;
    const found: string[] = [];
    const isMany = endpoint.answer.kind !== 'record';
    for (const row of isMany ? Object.values(Object(rows)) : [rows]) compare(endpoint.answer.record, row, '', found);
    expect(found).toEqual([]);
  });
});

/** Says where a value is not what its record declares. */
function compare(name: string, value: unknown, at: string, found: string[]): void {
  const fields = fieldsOf(name) ?? {};
  if (!isObject(value)) {
    found.push(`${at}: no ${name}`);
    return;
  }
  for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key)) found.push(`${at}/${key}: unknown`);
  for (const [key, text] of Object.entries(fields)) {
    const field = parseField(text);
    const here = `${at}/${key}`;
    const inner = value[key];
    if (inner === undefined) {
      if (!field.optional) found.push(`${here}: missing`);
    } else if (inner === null) {
      if (!field.nullable) found.push(`${here}: null`);
    } else {
      const items = field.container === 'none' ? [inner] : Object.values(Object(inner));
      for (const item of items) compareItem(field, item, value, here, found);
    }
  }
}

function compareItem(field: Field, item: unknown, beside: Described, at: string, found: string[]): void {
  switch (field.content.kind) {
    case 'record':
      return compare(field.content.name, item, at, found);
    case 'variant': {
      const map: Readonly<Record<string, string>> = Reflect.get(variants, field.content.map);
      const type = String(beside[field.content.field]);
      const names = map[type]?.split('|') ?? [];
      const misfits = names.map((name) => {
        const inside: string[] = [];
        compare(name, item, at, inside);
        return inside;
      });
      if (!misfits.some((inside) => inside.length === 0)) found.push(`${at}: no ${type}`, ...misfits.flat());
      return;
    }
    case 'enum':
      if (typeof item !== 'string') found.push(`${at}: ${typeof item}`);
      return;
    case 'value': {
      const forms = {
        string: 'string',
        integer: 'number',
        wide: 'bigint',
        boolean: 'boolean',
        texts: 'object',
      } as const;
      const { json } = fieldKinds[field.content.name];
      const form = json === 'any' ? typeof item : json === 'object' ? 'object' : forms[json];
      if (typeof item !== form) found.push(`${at}: ${typeof item}`);
    }
  }
}

type Described = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Described {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
