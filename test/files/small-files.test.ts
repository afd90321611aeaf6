import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SmallFiles } from '../../src/files/small-files.ts';
import { freshFolder } from '../scratch.ts';

const FILES = 100;

function makeFiles(): readonly string[] {
  const folder = freshFolder();
  return Array.from({ length: FILES }, (_, at) => {
    const path = join(folder, `${at}.json`);
    writeFileSync(path, `{"ä":${at}}`);
    return path;
  });
}

/** A clock that goes on by so much each time it is asked. */
function clockOf(stepMs: number): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += stepMs;
    return now;
  });
}

test.each([
  ['quick', 0.01],
  ['slow', 5],
])(
  'files of a %s disk are read whole, a missing one is none, and what cannot be read is an error',
  async (_, stepMs) => {
    clockOf(stepMs);
    try {
      const paths = makeFiles();
      const folder = join(freshFolder(), 'folder.json');
      mkdirSync(folder);
      const files = new SmallFiles();
      for (let lap = 0; lap < 2; lap++) {
        const texts = await Promise.all(paths.map((path) => files.read(path)));
        expect(texts.map(String)).toEqual(paths.map((_path, at) => `{"ä":${at}}`));
        expect(await files.read(join(folder, 'gone.json'))).toBeUndefined();
        await expect(files.read(folder)).rejects.toThrow('EISDIR');
      }
    } finally {
      vi.restoreAllMocks();
    }
  },
);
