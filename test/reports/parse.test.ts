import { describe, expect, test } from 'vitest';
import { openReport } from '../../src/reports/find-report.ts';
import { parseReport } from '../../src/reports/parse-report.ts';
import { shippedNames } from '../../src/sql/shipped-queries.ts';
import { FRONT } from './support.ts';

const SQL = '```sql busy\nselect 1 as one\n```\n';
const TABLE = '```table busy\ntitle: Rows\n```\n';
const parse = (text: string) => parseReport(text, 'mine', 'mine/report.md');

test('a report is prose, selects, and what shows their rows, in the order of the file', async () => {
  const chart = '```chart busy\nmark: bar\nx: time\ny: one\ntitle: Ones\n```\n';
  const { front, blocks, parts } = await parse(`${FRONT}\n# Top\n\n${SQL}\nbetween\n\n${chart}${TABLE}`);
  expect(front).toEqual({ title: 'A report', doc: 'For a test.' });
  expect(blocks).toEqual([{ id: 'busy', isVariables: false, sql: 'select 1 as one\n', line: 8 }]);
  expect(parts.map((part) => (part.kind === 'prose' ? part.text : `${part.kind} ${part.of} at ${part.line}`))).toEqual([
    '# Top',
    'between',
    'chart busy at 14',
    'table busy at 20',
  ]);
});

test('a fence of another language is prose', async () => {
  const { parts } = await parse(`${FRONT}${SQL}${TABLE}\n\`\`\`sh\nls\n\`\`\`\n`);
  expect(parts.at(-1)).toEqual({ kind: 'prose', text: '```sh\nls\n```' });
});

test('every report that comes with tonlake can be read, and says what its parameters are', async () => {
  const names = await shippedNames('reports');
  expect(names).toEqual(['account', 'export-health', 'jetton', 'network-daily']);
  for (const name of names) expect((await openReport(name)).name).toBe(name);
});

describe('what is wrong is told with its line, and the nearest right word', () => {
  test.each([
    { text: '# no front matter', says: 'expected front matter between two lines of ---, got none (mine/report.md:1)' },
    {
      text: `---\ntitel: A\ndoc: b\n---\n${SQL}${TABLE}`,
      says: 'expected a known key of a report, got "titel" (mine/report.md:2:1)',
      hint: 'did you mean title?',
    },
    { text: '---\ntitle: A\n---\n', says: 'expected the key doc, got nothing (mine/report.md:2:1)' },
    { text: '---\ntitle: [\n---\n', says: 'expected YAML, got invalid YAML: ' },
    {
      text: `---\ntitle: A\ndoc: b\nparams:\n  day: { type: dat, doc: c }\n---\n${SQL}${TABLE}`,
      says: 'expected one of text, integer, date, address, choice, got dat (mine/report.md:5:16)',
      hint: 'did you mean date?',
    },
    {
      text: `---\ntitle: A\ndoc: b\nparams:\n  day: { type: date, doc: c, requird: true }\n---\n${SQL}${TABLE}`,
      says: 'got "requird" (mine/report.md:5:30)',
      hint: 'did you mean required?',
    },
    {
      text: `---\ntitle: A\ndoc: b\nparams:\n  timezone: { type: text, doc: c }\n---\n`,
      says: 'expected a name that is not reserved',
    },
    {
      text: `---\ntitle: A\ndoc: b\nparams:\n  by: { type: choice, doc: c }\n---\n`,
      says: 'expected choices for the type choice',
    },
    { text: `${FRONT}${SQL}`, says: 'expected a chart, a table or figures, got none' },
    {
      text: `${FRONT}\`\`\`sql\nselect 1\n\`\`\`\n`,
      says: 'expected an id of lower-case letters, digits and _ after sql, got none (mine/report.md:5)',
    },
    { text: `${FRONT}${SQL}${SQL}${TABLE}`, says: 'expected a unique id, got busy twice (mine/report.md:8)' },
    {
      text: `${FRONT}${SQL}\`\`\`table busi\ntitle: A\n\`\`\`\n`,
      says: 'got busi (mine/report.md:8)',
      hint: 'did you mean busy?',
    },
    {
      text: `${FRONT}${SQL}\`\`\`chart busy\nmark: bars\nx: a\ny: b\ntitle: c\n\`\`\`\n`,
      says: 'got bars (mine/report.md:9:7)',
      hint: 'did you mean bar?',
    },
    {
      text: `${FRONT}${SQL}\`\`\`chart busy\nmark: bar\nx: a\ny: b\ntitle: c\ncolour: d\n\`\`\`\n`,
      says: 'expected a known key of a chart, got "colour" (mine/report.md:13:1)',
      hint: 'did you mean color?',
    },
    {
      text: `${FRONT}${SQL}\`\`\`chart busy\nmark: bar\nx: a\ny: b\ntitle: c\nscale: log\n\`\`\`\n`,
      says: 'bars and areas have no log scale',
    },
    {
      text: `${FRONT}${SQL}\`\`\`table busy\ntitle: a\nlimit: 0\n\`\`\`\n`,
      says: 'expected at least 1, got 0 (mine/report.md:10:8)',
    },
  ])('$says', async ({ text, says, hint = '' }) => {
    const error: unknown = await parse(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UsageError', code: 'bad-report' });
    expect(error).toMatchObject({ message: expect.stringContaining(says), hint: expect.stringContaining(hint) });
  });
});

test('a report that does not exist is told with the nearest one that does', async () => {
  await expect(openReport('network-dayly')).rejects.toMatchObject({
    code: 'unknown-report',
    hint: expect.stringContaining('did you mean network-daily?'),
  });
  await expect(openReport('./nowhere')).rejects.toMatchObject({
    message: 'usage: expected a report, got nowhere/report.md, which cannot be read',
  });
});
