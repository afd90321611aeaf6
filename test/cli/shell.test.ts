import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../src/cli/shell/completion.ts';
import { isTooLarge, runShell, type ShellOptions } from '../../src/cli/shell/shell.ts';
import { StatementBuffer } from '../../src/cli/shell/statement-buffer.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const folder = freshFolder();
const warehouse = join(folder, 'w');
const duckdb = join(folder, 'w.duckdb');

beforeAll(async () => {
  for (const path of [warehouse, duckdb]) {
    await tonlake(['run', 'blocks', '--network', 'sandbox', '--range', '1000:1009', '--warehouse', path]);
  }
});

const known = {
  columns: new Map([
    ['blocks', ['seqno', 'shard']],
    ['transactions', ['hash', 'seqno_of']],
  ]),
  functions: ['sum(', 'shard_of('],
  keywords: ['select', 'shared'],
  commands: new Map([
    ['.describe', ['blocks', 'transactions']],
    ['.mode', ['box', 'csv']],
  ]),
};

describe('statements', () => {
  test('end with a semicolon outside of quotes and comments', () => {
    const buffer = new StatementBuffer();
    const lines = ["select 'a;", "b' -- no; end", '/* nor; here', '*/ as "x;y"; select $$;$$; select', '3;'];
    expect(lines.map((line) => buffer.add(line))).toEqual([
      [],
      [],
      [],
      [`select 'a;\nb' -- no; end\n/* nor; here\n*/ as "x;y"`, 'select $$;$$'],
      ['select\n3'],
    ]);
    expect(buffer.isEmpty).toBe(true);
    const escaped = [String.raw`select e'\';`, "';", 'select $ä$;', '$ä$;'];
    expect(escaped.map((line) => buffer.add(line))).toEqual([[], ["select e'\\';\n'"], [], ['select $ä$;\n$ä$']]);
    expect(buffer.add('select /* a /* b */ ; */ 4; -- none;\rselect 5;')).toEqual([
      'select /* a /* b */ ; */ 4',
      '-- none;\rselect 5',
    ]);
  });

  test('are the same however their text is divided into lines', () => {
    const piece = fc.constantFrom(
      'select 1',
      ';',
      "';'",
      '"a;"',
      '/*;*/',
      '/*/*;*/;*/',
      '$$;$$',
      "e'\\';'",
      '$ä$;$ä$',
      ' ',
      ',2',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join(' ');
        const whole = new StatementBuffer();
        const all = [...whole.add(text), whole.take()];
        const parts = new StatementBuffer();
        const some = text.split('\n').flatMap((line) => parts.add(line));
        expect([...some, parts.take()]).toEqual(all);
      }),
    );
  });
});

describe('completion', () => {
  test.each([
    ['sel', ['select'], 'sel'],
    ['select * from tr', ['transactions'], 'tr'],
    ['SELECT sh', ['shard_of(', 'shared'], 'sh'],
    ['select count(*) from blocks where sh', ['shard', 'shard_of(', 'shared'], 'sh'],
    ['select blocks.s', ['seqno', 'shard'], 's'],
    ['select t.h from transactions t where t.h', ['hash'], 'h'],
    ['.de', ['.describe'], '.de'],
    ['.describe bl', ['blocks'], 'bl'],
    ['.mode ', ['box', 'csv'], ''],
    ['select ', [], ''],
  ])('of %j', (line, candidates, word) => {
    expect(complete(line, '', known)).toEqual([candidates, word]);
  });

  test('knows the tables of earlier lines', () => {
    expect(complete('where ha', 'select * from transactions\n', known)).toEqual([['hash'], 'ha']);
  });
});

/** What a person types, and sees. */
class Terminal extends Writable {
  readonly input = new PassThrough();
  readonly columns = 80;
  readonly rows = 24;
  shown = '';
  #look: () => void = () => {};

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.shown += chunk.toString('utf8');
    this.#look();
    done();
  }

  /** Types, and waits until something is shown after it. */
  async type(text: string, expected: RegExp): Promise<void> {
    this.shown = '';
    this.input.write(text);
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no ${expected} in ${JSON.stringify(this.shown)}`)), 60_000);
      this.#look = () => {
        if (!expected.test(this.shown)) return;
        clearTimeout(late);
        resolve();
      };
      this.#look();
    });
  }
}

function open(path: string, terminal: Terminal, more: Partial<ShellOptions> = {}): Promise<boolean> {
  return runShell({
    ...{ warehouse: path, queries: {}, mode: 'box', isInteractive: true, history: [], onHistory: () => {}, pager: '' },
    ...{ input: terminal.input, output: terminal, errors: terminal },
    names: async () => known,
    describe: async (name) => `about ${name ?? 'all'}\n`,
    ...more,
  });
}

describe('a person at the prompt', () => {
  test('completes, asks, describes, cancels, and leaves', async () => {
    const terminal = new Terminal();
    const entered: (readonly string[])[] = [];
    const ended = open(warehouse, terminal, { onHistory: (lines) => entered.push([...lines]) });
    await terminal.type('select count(*) as n from blo\t', /blocks/);
    await terminal.type('\r', /\.\.\.> /);
    await terminal.type('where seqno >= 0;\r', /│\s+\d+ │[\s\S]*1 row/);
    await terminal.type('.describe blocks\r', /about blocks/);
    await terminal.type('.mode lines\r', /error: usage: expected box, line, csv, json, jsonl after \.mode, got lines/);
    await terminal.type('.mode line\r', /tonlake> /);
    await terminal.type(
      "select 'a' as first, null as second;\r",
      / first = a\r?\nsecond = NULL\r?\n\r?\n1 row[\s\S]*tonlake> /,
    );
    terminal.input.write('select count(*) from range(100000000000) where range % 7 = sqrt(range);\r');
    await terminal.type('\x03', /cancelled[\s\S]*tonlake> /);
    await terminal.type("select 'still here' as x;\r", /still here/);
    await terminal.type('select 1\r', /\.\.\.> /);
    await terminal.type('\x03', /tonlake> /);
    await terminal.type('\x03', /\.quit or Ctrl-D/);
    await terminal.type('select;\r', /error: store: query: .*Parser Error[\s\S]*tonlake> /);
    await terminal.type('.timer on\rset variable x = 5;\r', /\d\.\d{3} s/);
    await terminal.type("select getvariable('x') + 1 as x;\r", /x = 6/);
    terminal.input.write('\x04');
    expect(await ended).toBe(true);
    expect(entered.at(-1)?.slice(0, 2)).toEqual(["select getvariable('x') + 1 as x;", 'set variable x = 5;']);
  });

  test('large results open in the pager, small ones do not', async () => {
    expect(isTooLarge('a\nb', { columns: 3, rows: 3 })).toBe(false);
    expect(isTooLarge('a\nb\nc\nd', { columns: 3, rows: 3 })).toBe(true);
    expect(isTooLarge('abcd', { columns: 3, rows: 3 })).toBe(true);
    const terminal = new Terminal();
    const paged = join(folder, 'paged.txt');
    const saving = `'${process.execPath}' -e 'process.stdin.pipe(fs.createWriteStream(process.argv[1]))'`;
    const ended = open(warehouse, terminal, { pager: `${saving} '${paged}'` });
    await terminal.type('select 1 as small;\r', /small[\s\S]*1 row[\s\S]*tonlake> /);
    await terminal.type('select range as n from range(30);\r', /tonlake> /);
    await terminal.type('.quit\r', /quit/);
    await ended;
    expect(await readFile(paged, 'utf8')).toMatch(/│ 29 │[\s\S]*30 rows/);
  });

  test('without the pager program, results are printed', async () => {
    const terminal = new Terminal();
    const ended = open(warehouse, terminal, { pager: 'no-such-pager 2> /dev/null' });
    await terminal.type('select range as n from range(30);\r', /│ 29 │[\s\S]*30 rows/);
    await terminal.type('.quit\r', /quit/);
    expect(await ended).toBe(true);
  });

  test('a DuckDB warehouse can be written while the prompt waits', async () => {
    const terminal = new Terminal();
    const ended = open(duckdb, terminal);
    await terminal.type('select count(distinct mc_block_seqno) as n from blocks;\r', /│ 10 │/);
    const more = ['run', 'blocks', '--network', 'sandbox', '--range', '1000:1011', '--warehouse', duckdb];
    expect(await tonlake(more)).toMatchObject({ code: 0 });
    await terminal.type('select count(distinct mc_block_seqno) as n from blocks;\r', /│ 12 │/);
    await terminal.type('.quit\r', /quit/);
    await ended;
  });
});

describe('a script', () => {
  test('prints results alone, writes files, and warns of gaps', async () => {
    const out = join(folder, 'out');
    await mkdir(out);
    const input = [
      `.once ${join(out, 'blocks.parquet')}`,
      'from blocks;',
      '.mode csv',
      'create temp table ends as select min(mc_block_seqno) as a, max(mc_block_seqno) as b from blocks;',
      'select * from ends;',
      `.output ${join(out, 'all.csv')}`,
      'select 1 as x; select 2 as y;',
      '.mode jsonl',
      `.output ${join(out, 'all.jsonl')}`,
      'select 1 as x union all select 2 order by x; select 3 as y;',
      '.output',
      '.mode csv',
      `select count(*) as n from '${join(out, 'blocks.parquet')}' semi join blocks using (root_hash)`,
    ].join('\n');
    const { code, stdout, stderr } = await startTonlake(['sql', '--warehouse', warehouse], { input }).finished;
    const [, count] = /^a,b\n1000,1009\nn\n(\d+)\n$/.exec(stdout) ?? [];
    expect({ code, stderr, stdout: Number(count) > 10 }).toEqual({ code: 0, stderr: '', stdout: true });
    expect(await readFile(join(out, 'all.csv'), 'utf8')).toBe('x\n1\ny\n2\n');
    expect(await readFile(join(out, 'all.jsonl'), 'utf8')).toBe('{"x":1}\n{"x":2}\n{"y":3}\n');
    const missing = await startTonlake(['sql', '--warehouse', warehouse], { input: 'from transactions;' }).finished;
    expect(missing).toMatchObject({ code: 0, stderr: expect.stringContaining('warning: transactions') });
  });

  test('writes all rows as csv where there is no terminal, or in the format of --format', async () => {
    const input = 'select * as n from range(1500);\nselect 1 as x, $who as y;';
    const words = ['sql', '--warehouse', warehouse, '--param', 'who=me'];
    const { code, stdout, stderr } = await startTonlake(words, { input }).finished;
    const lines = stdout.split('\n');
    expect({ code, stderr, count: lines.length }).toEqual({ code: 0, stderr: '', count: 1504 });
    expect([lines[0], lines[1500], ...lines.slice(1501)]).toEqual(['n', '1499', 'x,y', '1,me', '']);
    const json = await startTonlake([...words, '--format', 'jsonl'], { input: 'select $who as y;' }).finished;
    expect(json).toMatchObject({ code: 0, stderr: '', stdout: '{"y":"me"}\n' });
    const box = await startTonlake([...words, '--format', 'box'], { input: 'select $who as y' }).finished;
    expect(box.stdout).toMatch(/│ me +│\n/);
  });

  test.each([
    ['--strict', 'select 1 as a;\nfrom transactions;', /^error: audit: transactions was never exported/, 1],
    ['--param who=me', 'select 1 as a;', /^error: usage: expected a parameter of the query, got who/, 1],
    [
      '--format parquet',
      'select 1 as a;',
      /^error: usage: expected box, csv, json or jsonl for a script, got parquet/,
      2,
    ],
    ['--output x.csv', 'select 1 as a;', /^error: usage: expected a query with --output; hint: .*\.output/, 2],
  ])('%s is refused where it does not fit: %j', async (flags, input, error, code) => {
    const words = ['sql', '--warehouse', warehouse, ...flags.split(' ')];
    expect(await startTonlake(words, { input }).finished).toMatchObject({ code, stderr: expect.stringMatching(error) });
  });

  test('has the dialect and the layouts of the command', async () => {
    const layouts = join(folder, 'own.yaml');
    await writeFile(layouts, 'mine:\n  opcode: 1\n  fields: a uint8\n');
    const input =
      ".mode csv\nselect date_format(from_unixtime(0), '%Y') as y;\nselect parse_boc('x'::blob, 'mine') as b;";
    const words = ['sql', '--dialect', 'trino', '--layouts', layouts, '--warehouse', warehouse];
    expect(await startTonlake(words, { input }).finished).toMatchObject({ stderr: '', stdout: 'y\n1970\nb\n\n' });
  });

  test.each([
    ['select 1 as a;\nselect * from transactionz;\nselect 2;', /transactionz.* \(stdin:2\)/],
    ['.timer off\nselect 1 as a; \n\n set variable x = 2\n; select * from transactionz', /transactionz.* \(stdin:5\)/],
    ['select 1 as a;\n.mod csv\nselect 2;', /unknown command '\.mod'; hint: did you mean \.mode\?/],
    ['select 1 as a;\n.once x.xlsx\nselect 2;', /\.xlsx/],
    ['select 1 as a;\n.once WAREHOUSE/tonlake.json\nselect 2;', /outside of the warehouse/],
    ['select 1 as a;\n.output WAREHOUSE/tables/x.csv\nselect 2;', /outside of the warehouse/],
    ['select 1 as a;\ndelete from blocks;\nselect 2;', /queries cannot change a warehouse/],
  ])('ends at its first error: %j', async (given, error) => {
    const input = given.replace('WAREHOUSE', warehouse);
    const { code, stdout, stderr } = await startTonlake(['sql', '--warehouse', warehouse], { input }).finished;
    expect({ code, errors: stderr.match(/^error: /gm)?.length }).toEqual({ code: 1, errors: 1 });
    expect(stderr).toMatch(error);
    expect(stdout).toBe('a\n1\n');
  });

  test('shows the line of a mistake with a caret, and passes over comments', async () => {
    const input = '-- first;\n;\nselect 1 as a;\nselect\n  seqmo\nfrom blocks;\nselect 2;';
    const { code, stdout, stderr } = await startTonlake(['sql', '--warehouse', warehouse], { input }).finished;
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'a\n1\n' });
    expect(stderr).toMatch(/^error: .*"seqmo" not found.* \(stdin:5\).*\nLINE 5: {3}seqmo\n {10}\^\n$/);
    const ended = await startTonlake(['sql', '--warehouse', warehouse], { input: 'select 1 as a; -- done' }).finished;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  test.each(['box', 'csv'])('ends in one line if the disk of its output is full (%s)', async (mode) => {
    const input = `.mode ${mode}\n.output /dev/full\nselect 1 as a;\n.output\nselect 2 as b;`;
    const outcome = await startTonlake(['sql', '--warehouse', warehouse], { input }).finished;
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^error: store: file \/dev\/full: the disk is full \(ENOSPC[^\n]*\n$/);
  });

  test('needs a warehouse', async () => {
    const { code, stderr } = await startTonlake(['sql', '--warehouse', join(folder, 'none')], { input: 'select 1;' })
      .finished;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error: store: no warehouse/) });
  });
});
