import { describe, expect, it } from 'vitest';
import { DecodeError } from '../../src/core/errors.ts';
import { explainRefusal } from '../../src/decode/explain-refusal.ts';
import { read } from './reading.ts';
import { things } from './things.ts';

const rows = (page: string) => read(things, page).tables['things'];
const ids = (page: string) => rows(page)?.map((row) => row['id']);
const refusals = (page: string) =>
  read(things, page).refused.map((record) => {
    const { pointer, reason } = explainRefusal(things, record);
    return `${pointer}: ${reason}`;
  });

describe('the page', () => {
  it('an empty list gives no rows', () => {
    expect(read(things, '{"things":[]}')).toMatchObject({ records: 0, refused: [], tables: { things: [] } });
    expect(read(things, ' { "things" : [ ] } ')).toMatchObject({ records: 0, tables: { things: [] } });
  });

  it('blanks and line breaks are allowed wherever JSON allows them', () => {
    expect(ids('\n{ "things" :\t[ { "id" : 1 , "text" : "a" } ,\r\n{ } , { "id":2 } ] }\n')).toEqual([1n, null, 2n]);
  });

  it('keys come in any order, and in another order in the next record', () => {
    const page = '{"things":[{"id":1,"text":"a","bool":true},{"bool":false,"text":"b","id":2},{"text":"c","id":3}]}';
    expect(rows(page)).toMatchObject([
      { id: 1n, text: 'a', bool: true },
      { id: 2n, text: 'b', bool: false },
      { id: 3n, text: 'c', bool: null },
    ]);
  });

  it('keys may be written with escapes', () => {
    expect(ids('{"\\u0074hings":[{"i\\u0064":7}]}')).toEqual([7n]);
  });

  it('hashes and numbers may be written with escapes, as by servers that escape every slash', () => {
    const hash = '5n7QBY4fb4Es8ol514SBFrYcJRkvbn3ZSoavpB0s/hI=';
    const page = `{"things":[{"hash":"${hash.replace('/', '\\/')}","int64":"\\u0031\\u0037","text":"\\\\u0041\\"é\\u00e9"}]}`;
    expect(rows(page)).toMatchObject([{ hash, int64: 17n, text: '\\u0041"éé' }]);
  });

  it('null and a missing field are both null, in nested objects too', () => {
    const page = '{"things":[{"id":1},{"id":2,"text":null,"object":null},{"object":{}},{"object":{"inner":null}}]}';
    expect(rows(page)).toMatchObject([
      { id: 1n, text: null, inner: null },
      { id: 2n, text: null, inner: null },
      { id: null, inner: null },
      { id: null, inner: null },
    ]);
  });

  it('a value that begins like null but is not makes the page no JSON', () => {
    expect(() => rows('{"things":[{"id":nul}]}')).toThrow(DecodeError);
    expect(() => rows('{"things":[{"id":nulL}]}')).toThrow(DecodeError);
  });

  it.each([
    '',
    ' ',
    'null x',
    '<html><body>502 Bad Gateway</body></html>',
    '{"things":[]} x',
    '{"things":[],}',
    '{"things":[1,]}',
    '{"things":[{}],"a"}',
    '{things:[]}',
    '{"things":[{"id":1 "text":"a"}]}',
    '{"things":[{"id":01}]}',
    '{"things":[{"id":+1}]}',
    '{"things":[{"id":1.}]}',
    '{"things":[{"text":"a}]}',
    "{'things':[]}",
    '[1,2',
    '{"things":[tru]}',
    '{"things":[]}{"things":[]}',
    '{"things":[{"id":NaN}]}',
  ])('%j is no JSON, and worth asking for again', (page) => {
    expect(() => rows(page)).toThrow(
      expect.objectContaining({ name: 'DecodeError', code: 'not-json', retryable: true }),
    );
  });

  it.each(['null', '[]', '"things"', '17', '{}', '{"things":{}}', '{"error":"no"}', '{"things":[],"things":[]}'])(
    '%j is JSON of another shape, and not asked for again',
    (page) => {
      expect(() => rows(page)).toThrow(
        expect.objectContaining({ name: 'DecodeError', code: 'wrong-shape', retryable: false }),
      );
    },
  );

  it('null in the place of the list is worth asking for again', () => {
    expect(() => rows('{"things":null}')).toThrow(
      expect.objectContaining({ name: 'DecodeError', code: 'null-list', retryable: true }),
    );
  });

  it('a page that is no JSON after some good records leaves no row of it', () => {
    expect(() => rows('{"things":[{"id":1},{"id":2},{"id"}]}')).toThrow('decode things: expected JSON, got 37 bytes');
  });

  it('the list may stand behind other fields of the envelope', () => {
    expect(ids('{"address_book":{"a":[{"b":"]"}]},"things":[{"id":1}],"more":1}')).toEqual([1n]);
  });
});

describe('a key that comes twice', () => {
  it.each([
    '{"id":1,"id":2}',
    '{"id":1,"id":null}',
    '{"id":null,"id":1}',
    '{"id":1,"i\\u0064":1}',
    '{"object":{},"object":{"inner":"a"}}',
    '{"json":1,"json":2}',
    '{"surprise":1,"surprise":2}',
  ])('%s is refused', (record) => {
    const page = `{"things":[{"id":1},${record},{"id":3}]}`;
    expect(ids(page)).toEqual([1n, 3n]);
    expect(refusals(page)).toEqual([expect.stringMatching(/^\/things\/1.*, got the key twice$/)]);
  });

  it('the same key in the next record, or in another object, is another key', () => {
    expect(ids('{"things":[{"id":1,"object":{"id":1}},{"id":2,"object":{"id":1}}]}')).toEqual([1n, 2n]);
  });
});

describe('fields without a column', () => {
  it('are kept in _extra with their JSON pointers, and counted', () => {
    const page =
      '{"things":[{"id":1,"new":{ "a" : [1] },"object":{"inner":"x","a/b~c":"\\u003c"}},{"id":2},{"new":null}],"total":9,"to/tal":1}';
    const { tables, unknown } = read(things, page);
    expect(tables['things']?.map((row) => row['_extra'])).toEqual([
      '{"/new":{"a":[1]},"/object/a~1b~0c":"\\u003c"}',
      null,
      '{"/new":null}',
    ]);
    expect([...unknown]).toEqual([
      ['things /new', 2],
      ['things /object/a~1b~0c', 1],
      ['envelope /total', 1],
      ['envelope /to~1tal', 1],
    ]);
  });

  it('of a refused record count nothing', () => {
    const { unknown, refused } = read(things, '{"things":[{"new":1,"id":"\\/"}]}');
    expect(refused).toHaveLength(1);
    expect([...unknown]).toEqual([]);
  });
});
