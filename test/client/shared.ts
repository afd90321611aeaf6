import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../shared/', import.meta.url));

/** Whether the description of the API and the recorded answers lie beside this checkout. */
export const hasShared = existsSync(join(folder, 'api'));

/** A file of the description. Its form is what the tests that read it say. */
export function readShared<T>(path: string): T {
  return JSON.parse(readFileSync(join(folder, path), 'utf8')) as T;
}

/** Recorded answers of an endpoint, as they were sent. */
export function recordedAnswers(path: string): readonly { readonly file: string; readonly body: Buffer }[] {
  const name = path.slice(1).replaceAll('/', '-');
  const at = join(folder, 'fixtures', name);
  if (!existsSync(at)) return [];
  return readdirSync(at)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ file: `${name}/${file}`, body: readFileSync(join(at, file)) }));
}
