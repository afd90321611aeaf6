import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatAnswer } from '../../src/api/client/format-answer.ts';
import { writeParquet } from '../../src/api/client/response-parquet.ts';
import { declaredEndpoint, type EndpointName, endpointOf } from '../../src/api/endpoints.ts';
import { DecodeError, formatError, StoreError } from '../../src/core/errors.ts';
import { kinds } from '../../src/declare/kind.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Database } from '../../src/sql/database.ts';
import { rejection } from '../http/server.ts';
import { freshFolder } from '../scratch.ts';
import { recordedAnswer } from './recorded.ts';

const TOP = endpointOf('topAccountsByBalance');
const BODY = Buffer.from(
  '[{"account":"0:AB","balance":"9007199254740993","x":1.50,"y":{"b":18446744073709551616}},{"account":"a,\\"b\\"\\n","balance":"1"}]',
);

describe('an answer as text', () => {
  test('is JSON as it was sent, or indented for people', () => {
    expect(formatAnswer(TOP, BODY, 'json', false)).toBe(`${BODY}\n`);
    expect(formatAnswer(TOP, Buffer.from('[{"a":1.50}]'), 'json', true)).toBe('[\n  {\n    "a": 1.50\n  }\n]\n');
  });

  test('is one object a line, with every digit', () => {
    expect(formatAnswer(TOP, BODY, 'jsonl', false)).toBe(
      '{"account":"0:AB","balance":"9007199254740993","x":1.50,"y":{"b":18446744073709551616}}\n' +
        '{"account":"a,\\"b\\"\\n","balance":"1"}\n',
    );
  });

  test('is CSV with the declared columns, and what is not declared in _extra', () => {
    expect(formatAnswer(TOP, BODY, 'csv', false)).toBe(
      'account,balance,_extra\n0:AB,9007199254740993,"{""x"":1.50,""y"":{""b"":18446744073709551616}}"\n"a,""b""\n",1,\n',
    );
  });

  test('has the rows of maps with their keys, and a record as one row', () => {
    const book = Buffer.from('{"0:AB":{"user_friendly":null,"domain":"","interfaces":["a"]}}');
    expect(formatAnswer(endpointOf('addressBook'), book, 'csv', false)).toBe(
      '_key,user_friendly,domain,interfaces,_extra\n0:AB,,"","[""a""]",\n',
    );
    const result = Buffer.from('{"gas_used":549,"exit_code":0,"stack":[]}');
    expect(formatAnswer(endpointOf('runGetMethod'), result, 'jsonl', false)).toBe(
      '{"gas_used":549,"exit_code":0,"stack":[]}\n',
    );
  });

  test('has no rows where the server sends null, or says that it found nothing', () => {
    const traces = endpointOf('pendingTraces');
    expect(formatAnswer(traces, Buffer.from('{"traces":null}'), 'jsonl', false)).toBe('');
    expect(formatAnswer(traces, Buffer.from('{"error":"not found"}'), 'jsonl', false)).toBe('');
    expect(() => formatAnswer(traces, Buffer.from('{"trace":[]}'), 'jsonl', false)).toThrow(DecodeError);
  });
});

describe('an answer as Parquet', () => {
  test('has exact types, and is put in place whole', async () => {
    const folder = freshFolder();
    const path = join(folder, "it's.parquet");
    expect(await writeParquet(TOP, BODY, path)).toBe(2);
    expect(await readdir(folder)).toEqual(["it's.parquet"]);
    const { columns, rows } = await query(`from '${path.replaceAll("'", "''")}'`);
    expect(columns).toEqual([
      { name: 'account', type: 'VARCHAR' },
      { name: 'balance', type: 'BIGINT' },
      { name: '_extra', type: 'VARCHAR' },
    ]);
    expect(rows).toEqual([
      ['0:AB', 9007199254740993n, '{"x":1.50,"y":{"b":18446744073709551616}}'],
      ['a,"b"\n', 1n, null],
    ]);
  });

  test('has the values of tables for shards, opcodes and bags of cells', async () => {
    const path = join(freshFolder(), 'answer.parquet');
    const messages = Buffer.from('{"messages":[{"opcode":"0xffffffff"},{"opcode":"0x0f8a7ea5"},{}]}');
    await writeParquet(endpointOf('messages'), messages, path);
    expect((await query(`SELECT opcode FROM '${path}'`)).rows).toEqual([[-1], [0x0f8a7ea5], [null]]);

    const blocks = Buffer.from('{"blocks":[{"shard":"8000000000000000"},{"shard":"2000000000000000"},{"shard":null}]}');
    await writeParquet(endpointOf('blocks'), blocks, path);
    expect((await query(`SELECT shard FROM '${path}'`)).rows).toEqual([[-(2n ** 63n)], [2n ** 61n], [null]]);

    const states = Buffer.from('{"accounts":[{"data_boc":"te6cckEBAQEAAgAAAEysuc0="},{}]}');
    await writeParquet(endpointOf('accountStates'), states, path);
    const data = await query(`SELECT lower(hex(data_boc)) FROM '${path}'`);
    expect(data.rows).toEqual([['b5ee9c724101010100020000004cacb9cd'], [null]]);
  });

  test('has its columns also without rows', async () => {
    const path = join(freshFolder(), 'blocks.parquet');
    expect(await writeParquet(endpointOf('blocks'), Buffer.from('{"blocks":[]}'), path)).toBe(0);
    const { columns, rows } = await query(`from '${path}'`);
    expect(columns.slice(0, 5).map(({ type }) => type)).toEqual(['INTEGER', 'BIGINT', 'INTEGER', 'VARCHAR', 'VARCHAR']);
    expect(rows).toEqual([]);
  });

  test('is not written when a value does not fit, and what stood there stays', async () => {
    const folder = freshFolder();
    const path = join(folder, 'top.parquet');
    await writeParquet(TOP, BODY, path);
    const before = await readFile(path);
    const refuses = async (name: EndpointName, answer: string, value: string): Promise<void> => {
      const error = await rejection(writeParquet(endpointOf(name), Buffer.from(answer), path));
      expect(error).toBeInstanceOf(StoreError);
      expect(formatError(error)).toContain(value);
    };
    await refuses('topAccountsByBalance', '[{"balance":"9223372036854775808"}]', '9223372036854775808');
    await refuses('blocks', '{"blocks":[{"shard":"10000000000000000"}]}', '10000000000000000');
    await refuses('messages', '{"messages":[{"opcode":"transfer"}]}', 'transfer');
    await refuses('accountStates', '{"accounts":[{"data_boc":"te6c!"}]}', 'te6c!');
    expect(await readFile(path)).toEqual(before);
    expect(await readdir(folder)).toEqual(['top.parquet']);
  });
});

describe('an answer as Parquet, beside the table of the same records', async () => {
  const { pipelines } = await loadRegistry();

  test.each(pipelines)('has the types of $name', async ({ endpoint, tables }) => {
    const path = join(freshFolder(), 'answer.parquet');
    const called = declaredEndpoint(endpoint);
    await writeParquet(called, Buffer.from(recordedAnswer(called)), path);
    const { rows } = await query(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path}')`);
    const types = new Map<unknown, unknown>();
    for (const { origin, kind } of tables[0]?.columns ?? []) {
      const [, name] = (origin.kind === 'path' && /^(?:\/value)?\/([^/]+)$/.exec(origin.path)) || [];
      // A second column of a field has another form of it.
      if (name !== undefined && !types.has(name)) types.set(name, kinds[kind].sql);
    }
    expect(rows.length).toBeGreaterThan(1);
    expect(rows).toEqual(rows.map(([name, type]) => [name, types.get(name) ?? type]));
  });
});

async function query(sql: string): ReturnType<Database['query']> {
  const database = await Database.open();
  try {
    return await database.query(sql);
  } finally {
    database.close();
  }
}
