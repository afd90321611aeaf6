import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { shippedFolder, shippedNames } from '../src/sql/shipped-queries.ts';
import { tonlake } from './cli.ts';
import { freshFolder } from './scratch.ts';
import { withRandomTies } from './sql/random-ties.ts';

const HEAD = `# Questions

Generated from \`sql/questions/\` by \`npm run docs\`, with the answers of the sandbox. The Query view of \`tonlake ui\` lists the same
questions. On another network, leave \`--network sandbox\` out; tables that were not exported are named in a warning, and empty.

\`\`\`sh
tonlake run actions jetton_transfers jetton_burns jetton_wallets address_book token_metadata --network sandbox --range 4900:5099
tonlake follow --network sandbox --pending EQBp0qczYYevm_wiHwIope4I9QFZgGQzxfAhFBM85VJoWr3E --for 1s
tonlake build
\`\`\`
`;

const names = await shippedNames('questions');
const folder = freshFolder();
const answers = new Map<string, string>();

beforeAll(async () => {
  for (const [, words = ''] of HEAD.matchAll(/^tonlake (.*)$/gm)) {
    const { code, stderr } = await tonlake(words.split(' '), { cwd: folder });
    expect(code, stderr).toBe(0);
  }
});

async function read(name: string) {
  const text = await readFile(join(shippedFolder('questions'), `${name}.sql`), 'utf8');
  const [, title = '', sql = ''] = /^-- (.+)\n([\s\S]+)\n$/.exec(text) ?? [];
  return { title, sql };
}

test('there are twelve, which a shell takes as they are', async () => {
  expect(names.length).toBeGreaterThanOrEqual(12);
  for (const name of names) {
    const { title, sql } = await read(name);
    expect([name, title]).toEqual([name, expect.stringMatching(/^[A-Z].*\?/)]);
    expect(sql, name).not.toMatch(/["$`\\!]/);
  }
});

test.each(names)('%s has an answer', async (name) => {
  const { stdout, code } = await tonlake(['sql', (await read(name)).sql, '--format', 'box'], { cwd: folder });
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n\d+ rows?\n$/);
  expect(stdout).not.toMatch(/^0 rows/m);
  answers.set(name, stdout);
});

test.each(names)('rows of %s have one order', async (name) => {
  const { sql } = await read(name);
  const rows = async (text: string) => (await tonlake(['sql', text, '--format', 'csv'], { cwd: folder })).stdout;
  const shuffled = await rows(withRandomTies(sql));
  expect(shuffled).not.toBe('');
  expect(shuffled).toBe(await rows(sql));
});

test('docs/questions.md has these answers', async () => {
  const parts = [HEAD];
  for (const name of names) {
    const { title, sql } = await read(name);
    parts.push(`## ${title}\n\n\`\`\`sh\ntonlake sql "\n${sql}\n"\n\`\`\`\n\n\`\`\`text\n${answers.get(name)}\`\`\`\n`);
  }
  await expect(parts.join('\n')).toMatchFileSnapshot('../docs/questions.md');
});
