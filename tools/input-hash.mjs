// Whether something in dist was made from the same inputs: a note beside it has their names and hash.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** @param note path of a file that {@link noteInputs} wrote */
export function isMadeFromSame(note) {
  if (!existsSync(note)) return false;
  const { files, hash } = JSON.parse(readFileSync(note, 'utf8'));
  return files.every((path) => existsSync(path)) && hash === hashOf(files);
}

export function noteInputs(note, inputs) {
  const files = [...inputs].sort();
  writeFileSync(note, JSON.stringify({ files, hash: hashOf(files) }));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const path of files) hash.update(`${path}\n`).update(readFileSync(path));
  return hash.digest('hex');
}
