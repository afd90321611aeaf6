import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { splitStatements } from '../../src/sql/statements.ts';

const database = await Database.open(':memory:');

afterAll(() => database.close());

describe('statements are split where DuckDB splits them', () => {
  test.each([
    String.raw`select e'\'; select 2; --'`,
    String.raw`select E'\\'; select 2; --'`,
    String.raw`select date'2026-01-01\'; select '2'`,
    // A text that continues in the next line keeps its escapes.
    "select e'a'\n'b\\''; select 2; select 1 as \"'\"",
    "select e'a' -- x\n  --y\r\n'b\\''; select 2; select 1 as \"'\"",
    // Spaces, not letters of a name.
    "select\u00a0e'\\'; select 2; --'",
    'select\u2060$$;$$',
    'select $tag$; select 2 $tag$',
    'select $T$ $t$; select 2; $T$',
    'select $ä$;$ä$, $€$;$€$, $\u00a0$;$\u00a0$, $a\u0301$;$a\u0301$, $😀$;$😀$',
    'select $$ $a$ ; $$, $a$ $$ ; $a$',
    // A `$` in a name begins no text.
    'select 1 as a$b$; select 2; select 3 as c$b$',
    'select 1 as ä$$; select 2; select 3 as c$$',
    'select $a; select $a, $b',
    'select 1 as "a"";", \'b\'\';\'',
    'select /* /* /* ; */ ; */ ; */ 1 /*/ ; */; select 2',
    'select 1 -- ;\r; select 2 -- ;\u2028;',
  ])('%j', async (sql) => {
    expect(splitStatements(sql)).toHaveLength(await database.count(sql));
  });

  test('whatever texts and comments follow each other', async () => {
    const piece = fc.constantFrom(
      ...["'", "''", '"', '\\', "e'", "E'a\\''", ';', 'select 1', 'select ', '\n', '--', '/*', '*/', ' ', ',', ' as '],
      ...['$', '$$', '$a$', '$A$', '$ä$', 'a', ' as ä', '1', '\u00a0', "e'b'\n", '\r'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const sql = `select ${pieces.join('')}`;
        const count = await database.count(sql).catch(() => undefined);
        if (count !== undefined) expect(splitStatements(sql)).toHaveLength(count);
      }),
      { numRuns: 3000 },
    );
  });

  test('what only looks empty is no statement', () => {
    expect(splitStatements('\u200b;select 1;\u00a0\u200b\u2060-- end\n\u200b')).toEqual(['select 1']);
  });

  test('what is still open is one statement', () => {
    for (const open of ["select ';", String.raw`select e';\'`, 'select ";', 'select $a$;$', 'select /* /* */ ;'])
      expect(splitStatements(`select 1; ${open}`)).toEqual(['select 1', ` ${open}`]);
  });
});
