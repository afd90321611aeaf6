import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moveOutputs, Publication } from '../../src/jobs/publish.ts';
import type { StagedOutput } from '../../src/jobs/run-record.ts';
import { freshFolder } from '../scratch.ts';

const NAMES = ['a.html', 'b.csv', 'c.json'] as const;

/** Three files on their way; `a.html` and `b.csv` replace older ones. */
async function stageThree(folder: string): Promise<readonly StagedOutput[]> {
  for (const name of NAMES.slice(0, 2)) writeFileSync(join(folder, name), `old ${name}`);
  const publication = new Publication('nightly', '/w', '20260504T031500Z');
  for (const name of NAMES) await publication.stage(join(folder, name), (path) => writeFile(path, `new ${name}`));
  return publication.outputs;
}

const contentOf = (folder: string): readonly (string | undefined)[] =>
  NAMES.map((name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined));

const NEW = NAMES.map((name) => `new ${name}`);
const OLD = ['old a.html', 'old b.csv', undefined];

test('staged files are invisible until they are published, and leave nothing behind', async () => {
  const folder = freshFolder();
  const outputs = await stageThree(folder);
  expect(contentOf(folder)).toEqual(OLD);
  expect(await moveOutputs(outputs, false)).toEqual([]);
  expect(contentOf(folder)).toEqual(NEW);
  expect(readdirSync(folder).sort()).toEqual([...NAMES]);
});

test.each([0, 1, 2, 3])(
  'after a kill at %i of three files, the next attempt completes the publication',
  async (count) => {
    const folder = freshFolder();
    const outputs = await stageThree(folder);
    for (const { staged, path } of outputs.slice(0, count)) renameSync(staged, path);
    expect(await moveOutputs(outputs, true)).toEqual([]);
    expect(contentOf(folder)).toEqual(NEW);
    expect(readdirSync(folder).sort()).toEqual([...NAMES]);
  },
);

test('if one file cannot be published, all stay as they were', async () => {
  const folder = freshFolder();
  const outputs = await stageThree(folder);
  // Somebody makes a folder where the last file is to stand.
  mkdirSync(join(folder, 'c.json', 'x'), { recursive: true });
  await expect(moveOutputs(outputs, false)).rejects.toThrow(/^job: cannot write \S+c.json: /);
  rmSync(join(folder, 'c.json'), { recursive: true });
  expect(contentOf(folder)).toEqual(OLD);
  expect(readdirSync(folder).sort()).toEqual(['a.html', 'b.csv']);
});

test.each([
  ['moved it away', (path: string) => rmSync(path), undefined],
  ['edited it', (path: string) => writeFileSync(path, 'edited'), 'edited'],
])('after a kill, a published file stays as it is though its reader %s', async (_, touch, left) => {
  const folder = freshFolder();
  const outputs = await stageThree(folder);
  for (const { staged, path } of outputs.slice(0, 2)) renameSync(staged, path);
  const touched = join(folder, 'b.csv');
  touch(touched);
  expect(await moveOutputs(outputs, true)).toEqual([touched]);
  expect(contentOf(folder)).toEqual(['new a.html', left, 'new c.json']);
});

test('a rename that fails between others says what is published', async () => {
  const folder = freshFolder();
  const [first, second] = await stageThree(folder);
  if (first === undefined || second === undefined) throw new Error('not staged');
  // A folder that was removed after its file was staged elsewhere.
  const lost = { ...second, path: join(folder, 'gone', 'b.csv') };
  await expect(moveOutputs([first, lost], false)).rejects.toMatchObject({
    message: expect.stringMatching(/^job: cannot write \S+gone\/b.csv: /),
    hint: `already published: ${first.path}; the next run publishes all again`,
  });
  expect(contentOf(folder).slice(0, 2)).toEqual(['new a.html', 'old b.csv']);
});

test('if a staged file is missing, nothing is published', async () => {
  const folder = freshFolder();
  const outputs = await stageThree(folder);
  rmSync(outputs[2]?.staged ?? '');
  await expect(moveOutputs(outputs, false)).rejects.toThrow(/its staged file is gone/);
  expect(contentOf(folder)).toEqual(OLD);
});

test('leftovers of a killed run of the same job are removed; other files stay', async () => {
  const folder = freshFolder();
  await stageThree(folder);
  const [staged = ''] = readdirSync(folder).filter((name) => name.startsWith('.a.html.'));
  writeFileSync(join(folder, `.${staged}.0123abcd`), 'a draft of the staged file');
  const others = [`${staged}er`, '.a.html.other-job.new'];
  for (const name of others) writeFileSync(join(folder, name), 'of somebody else');
  const later = new Publication('nightly', '/w', '20260505T031500Z');
  await later.stage(join(folder, 'a.html'), (path) => writeFile(path, 'newer'));
  await later.discard();
  expect(readdirSync(folder).sort()).toEqual([...others, 'a.html', 'b.csv']);
});

test('a partly written file is removed', async () => {
  const folder = freshFolder();
  const publication = new Publication('nightly', '/w', 'x');
  const half = async (path: string): Promise<void> => {
    await writeFile(path, 'half');
    throw new Error('disk full');
  };
  await expect(publication.stage(join(folder, 'a.html'), half)).rejects.toThrow('disk full');
  expect(readdirSync(folder)).toHaveLength(1);
  await publication.discard();
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be created is an error', async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'file'), '');
  const publication = new Publication('nightly', '/w', 'x');
  await expect(publication.stage(join(folder, 'file', 'a.html'), async () => undefined)).rejects.toThrow(
    /^job: cannot write \S+a.html: /,
  );
});
