import { describe, expect, it } from 'vitest';
import { cell } from './things.ts';

describe('text', () => {
  it.each([
    ['""', ''],
    ['"a"', 'a'],
    ['"abc"', 'abc'],
    ['"abcd"', 'abcd'],
    ['"\\u003cb\\u003e \\u0026"', '<b> &'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\u00e9\\u20AC"', 'é€'],
    ['"Привет, 世界 😀"', 'Привет, 世界 😀'],
    ['"ends in \\\\"', 'ends in \\'],
    ['"\\\\\\\\"', '\\\\'],
  ])('%s reads as %s', (json, text) => {
    expect(cell('text', json)).toBe(text);
  });

  it.each([
    ['"\\ud800"', '\ufffd'],
    ['"\\udc00x"', '\ufffdx'],
    ['"\\ud800\\ud83d\\ude00"', '\ufffd😀'],
    ['"\\ud800\\u0041"', '\ufffdA'],
    ['"\\ud800\\n"', '\ufffd\n'],
  ])('a lone surrogate in %s becomes U+FFFD', (json, text) => {
    expect(cell('text', json)).toBe(text);
  });

  it('raw control characters are accepted as they stand', () => {
    expect(cell('text', '"a\u0001b\nc\td"')).toBe('a\u0001b\nc\td');
  });

  it('bytes that are not UTF-8 become U+FFFD, as in JSON.parse of the decoded page', () => {
    expect(cell('text', Buffer.from([34, 0x61, 0xff, 0x62, 0xc3, 34]))).toBe('a\ufffdb\ufffd');
  });

  it.each([0, 1, 2, 3, 126, 127, 128, 129, 130, 252, 253, 254, 255, 256, 257, 258, 259, 260, 1000, 1_300_000])(
    'text of %i characters is kept whole, with and without an escape at its end',
    (length) => {
      const text = 'abcdefghij'.repeat(length / 10 + 1).slice(0, length);
      expect(cell('text', `"${text}"`)).toBe(text);
      expect(cell('text', `"${text}\\n"`)).toBe(`${text}\n`);
      expect(cell('text', `"${text}é"`)).toBe(`${text}é`);
    },
  );

  it.each(['"\\x"', '"\\u12g4"', '"\\'])('a broken escape in %s makes the page no JSON', (json) => {
    expect(() => cell('text', json)).toThrow('expected JSON');
  });

  it.each(['1', 'true', '{}', '["a"]'])('%s is no text', (json) => {
    expect(cell('text', json)).toMatchObject({ refused: expect.stringContaining('expected a string, got') });
  });
});

describe('hashes', () => {
  const hash = 'QaakzyTBQctohS3rOIqIBIxGuRqR50JcrEulvc5aYUU=';

  it('a hash is kept as its base64 text', () => {
    expect(cell('hash', `"${hash}"`)).toBe(hash);
  });

  it.each([
    ['too short', hash.slice(1)],
    ['too long', `A${hash}`],
    ['url-safe', hash.replace('Q', '-')],
    ['without padding', `${hash.slice(0, 43)}A`],
    ['with padding twice', `${hash.slice(0, 42)}==`],
    ['with a blank', ` ${hash.slice(1)}`],
    ['with a letter outside ASCII', `é${hash.slice(2)}`],
    ['empty', ''],
  ])('a hash that is %s is refused', (_, text) => {
    expect(cell('hash', `"${text}"`)).toEqual({
      refused: `/things/0/hash: expected a base64 hash of 44 characters, got ${JSON.stringify(text)} (string)`,
    });
  });

  it.each([...Array(44).keys()])('a wrong character at position %i is seen', (position) => {
    for (const wrong of ['.', '_', '~']) {
      const text = hash.slice(0, position) + wrong + hash.slice(position + 1);
      expect(cell('hash', `"${text}"`)).toMatchObject({ refused: expect.stringContaining('/things/0/hash') });
    }
  });
});

describe('base64 bodies', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 47, 48, 49, 3071, 3072, 3073, 3074, 6144, 1_000_000])(
    '%i bytes are decoded',
    (length) => {
      const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 31 + 7) & 255));
      const read = cell('boc', `"${bytes.toString('base64')}"`);
      expect(read instanceof Uint8Array && bytes.equals(read)).toBe(true);
    },
  );

  it.each([
    'A',
    'AA',
    'AAA',
    'AAAAA',
    '=',
    '==',
    'A===',
    '====',
    'AA=A',
    'AA==AAAA',
    'A=AA',
    'AA-_',
    'AAA ',
    'AAAA=',
    'AAAA==',
  ])('"%s" is no base64', (text) => {
    expect(cell('boc', `"${text}"`)).toEqual({
      refused: `/things/0/boc: expected a base64 string, got "${text}" (string)`,
    });
  });
});

describe('JSON that is kept', () => {
  it.each([
    '{}',
    '[]',
    '"text"',
    '17',
    '-1.5e10',
    'true',
    'false',
    '12345678901234567890',
    '{"a":[{"b":null}],"c":"d"}',
  ])('%s stays as it was sent', (json) => {
    expect(cell('json', json)).toBe(json);
  });

  it('null is null, not the text null', () => {
    expect(cell('json', 'null')).toBe(null);
  });

  it('blanks between values go, blanks inside strings stay', () => {
    expect(cell('json', '{ "a b" : [ 1 ,\n\t"c  d" ] }')).toBe('{"a b":[1,"c  d"]}');
  });

  it('raw control characters are stored as escapes', () => {
    expect(cell('json', '{"a":"x\u0001y\nz"}')).toBe('{"a":"x\\u0001y\\nz"}');
  });

  it('escapes stay escapes, lone surrogates among them', () => {
    expect(cell('json', '{"a":"\\ud800 \\u003c \\/"}')).toBe('{"a":"\\ud800 \\u003c \\/"}');
  });

  it('text outside ASCII stays as it is, also where blanks are taken out', () => {
    expect(cell('json', '{ "ключ": "😀" }')).toBe('{"ключ":"😀"}');
  });

  it('values of more than a megabyte are kept whole', () => {
    const json = JSON.stringify({ a: Array.from({ length: 100_000 }, (_, i) => `item ${i}`) });
    expect(cell('json', json)).toBe(json);
  });

  it('nesting is followed at any depth, and open brackets are no JSON', () => {
    expect(cell('json', '['.repeat(500) + ']'.repeat(500))).toBe('['.repeat(500) + ']'.repeat(500));
    expect(cell('json', '['.repeat(100_000) + ']'.repeat(100_000))).toBe('['.repeat(100_000) + ']'.repeat(100_000));
    expect(() => cell('json', '{"a":'.repeat(100_000))).toThrow('expected JSON');
  });
});

describe('comments', () => {
  const comment = (json: string) => cell('body', json, 'comment');

  it.each([
    ['{"@type":"text_comment","comment":"hello"}', 'hello'],
    ['{"@type":"text_comment","comment":""}', ''],
    ['{"@type":"text_comment","comment":"\\ud83d\\ude00\\n<\\ud800>"}', '😀\n<\ufffd>'],
    ['{"@type":"text_comment","comment":"a","more":1}', 'a'],
    ['{"@type":"text_comment","comment":"a","comment":"b"}', 'b'],
    ['{"comment":"other order","@type":"text_comment"}', 'other order'],
    [`{"comment":"${'long '.repeat(2000)}","@type":"text_comment"}`, 'long '.repeat(2000)],
    ['{ "@type" : "text_comment" , "comment" : "blanks  kept" }', 'blanks  kept'],
    ['{"@type":"text\\u005fcomment","comment":"escaped type"}', 'escaped type'],
    ['{"@type":"\\u0074ext_comment","comment":"escaped type"}', 'escaped type'],
    ['{"@type":"text_comment","comment":"raw\u0001control"}', 'raw\u0001control'],
  ])('%s is a comment', (json, text) => {
    expect(comment(json)).toBe(text);
  });

  it.each([
    'null',
    '{}',
    '"text_comment"',
    '{"@type":"text_comment"}',
    '{"@type":"text_comment","comment":5}',
    '{"@type":"text_comment","comment":null,"a":1}',
    '{"@type":"text_comments","comment":"a"}',
    '{"@type":"texture_of_things","comment":"a"}',
    '{"@type":"jetton_transfer","comment":"text_comment"}',
    '{"@type":"","comment":"a"}',
    '[{"@type":"text_comment","comment":"a"}]',
  ])('%s is none', (json) => {
    expect(comment(json)).toBe(null);
  });
});
