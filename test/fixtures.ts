import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const shared = new URL('../../shared/', import.meta.url);

/** Whether the recorded answers lie beside the repository; tests on them are skipped where they do not. */
export const hasShared = existsSync(fileURLToPath(new URL('fixtures', shared)));

export interface Fixture {
  /** `transactions/server__1.json` */
  readonly name: string;
  readonly path: string;
}

/** Recorded answers of some endpoints; none where `../shared` is missing. */
export function sharedFixtures(endpoints: readonly string[]): readonly Fixture[] {
  if (!hasShared) return [];
  return endpoints.flatMap((endpoint) => {
    const folder = fileURLToPath(new URL(`fixtures/${endpoint}/`, shared));
    const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
    return files.sort().map((file) => ({ name: `${endpoint}/${file}`, path: `${folder}${file}` }));
  });
}

/** One recorded answer that is kept in the repository. */
export interface GoldenCase {
  readonly name: string;
  readonly folder: URL;
}

/** The cases of a pipeline: every folder of `test/golden/<pipeline>`. */
export function goldenCases(pipeline: string): readonly GoldenCase[] {
  const folder = new URL(`golden/${pipeline}/`, import.meta.url);
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, folder: new URL(`${name}/`, folder) }));
}

/** The answer of a golden case, as bytes. */
export function readAnswer(pipeline: string, name: string): Buffer {
  return readFileSync(new URL(`golden/${pipeline}/${name}/answer.json`, import.meta.url));
}
