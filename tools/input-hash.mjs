// Skips builds whose inputs have not changed: a file next to the output has the names and the hash of the inputs.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** @param record path of a file of {@link recordInputs} */
export function isUpToDate(record) {
  if (!existsSync(record)) return false;
  const { files, hash } = JSON.parse(readFileSync(record, 'utf8'));
  return files.every((path) => existsSync(path)) && hash === hashOf(files);
}

export function recordInputs(record, inputs) {
  const files = [...inputs].sort();
  writeFileSync(record, JSON.stringify({ files, hash: hashOf(files) }));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const path of files) hash.update(`${path}\n`).update(readFileSync(path));
  return hash.digest('hex');
}
