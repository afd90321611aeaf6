import { readFileSync } from 'node:fs';

/** The facts about the API, as they are vendored. Their form is what the tests that read them say. */
export function readFacts<T>(name: 'endpoints' | 'records'): T {
  return JSON.parse(readFileSync(new URL(`../api/${name}.json`, import.meta.url), 'utf8')) as T;
}
