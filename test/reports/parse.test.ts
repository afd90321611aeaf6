import { describe, expect, test } from 'vitest';
import { formatError } from '../../src/core/errors.ts';
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
  test.each(
    Object.entries({
      '# no front matter': 'expected front matter between two lines of ---, got none (mine/report.md:1)',
      [`---\ntitel: A\ndoc: b\n---\n${SQL}${TABLE}`]:
        'expected a known key of a report, got "titel" (mine/report.md:2:1); hint: did you mean title?',
      '---\ntitle: A\n---\n': 'expected the key doc, got nothing (mine/report.md:2:1)',
      '---\ntitle: [\n---\n': 'expected YAML, got invalid YAML: ',
      [`---\ntitle: A\ndoc: b\nparams:\n  day: { type: dat, doc: c }\n---\n${SQL}${TABLE}`]:
        'expected one of text, integer, date, address, choice, got dat (mine/report.md:5:16); hint: did you mean date?',
      [`---\ntitle: A\ndoc: b\nparams:\n  day: { type: date, doc: c, requird: true }\n---\n${SQL}${TABLE}`]:
        'got "requird" (mine/report.md:5:30); hint: did you mean required?',
      [`---\ntitle: A\ndoc: b\nparams:\n  timezone: { type: text, doc: c }\n---\n`]:
        'expected a name that is not reserved',
      [`---\ntitle: A\ndoc: b\nparams:\n  by: { type: choice, doc: c }\n---\n`]: 'expected choices for the type choice',
      [`${FRONT}${SQL}`]: 'expected a chart, a table or figures, got none',
      [`${FRONT}\`\`\`sql\nselect 1\n\`\`\`\n`]:
        'expected an id of lower-case letters, digits and _ after sql, got none (mine/report.md:5)',
      [`${FRONT}${SQL}${SQL}${TABLE}`]: 'expected a unique id, got busy twice (mine/report.md:8)',
      [`${FRONT}${SQL}\`\`\`table busi\ntitle: A\n\`\`\`\n`]: 'got busi (mine/report.md:8); hint: did you mean busy?',
      [`${FRONT}${SQL}\`\`\`chart busy\nmark: bars\nx: a\ny: b\ntitle: c\n\`\`\`\n`]:
        'got bars (mine/report.md:9:7); hint: did you mean bar?',
      [`${FRONT}${SQL}\`\`\`chart busy\nmark: bar\nx: a\ny: b\ntitle: c\ncolour: d\n\`\`\`\n`]:
        'expected a known key of a chart, got "colour" (mine/report.md:13:1); hint: did you mean color?',
      [`${FRONT}${SQL}\`\`\`chart busy\nmark: bar\nx: a\ny: b\ntitle: c\nscale: log\n\`\`\`\n`]:
        'bars and areas have no log scale',
      [`${FRONT}${SQL}\`\`\`table busy\ntitle: a\nlimit: 0\n\`\`\`\n`]:
        'expected at least 1, got 0 (mine/report.md:10:8)',
    }),
  )('%j', async (text, says) => {
    const error: unknown = await parse(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UsageError' });
    expect(formatError(error)).toContain(says);
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
