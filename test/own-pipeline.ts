import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './scratch.ts';

/** What `tonlake/pipeline` is, from a folder without packages. */
export const DECLARE = new URL('../dist/src/declare/index.js', import.meta.url).href;

const PAGE = readFileSync(new URL('../docs/pipelines.md', import.meta.url), 'utf8');

/** The examples of docs/pipelines.md: a pipeline of one's own, which needs one that comes with tonlake; a walk kind, and its pipeline. */
export const [OWN_ORDERS = '', EVERY = '', SOME_STATES = ''] = [...PAGE.matchAll(/```js\n([\s\S]*?)```/g)].map(
  ([, text = '']) => text.replace('tonlake/pipeline', DECLARE),
);

/** A folder with one pipeline file. */
export function pipelineFolder(text = OWN_ORDERS): string {
  const folder = freshFolder();
  writeFileSync(join(folder, 'own_orders.js'), text);
  return folder;
}

/** A folder with a walk kind in one file, and a pipeline that names it in another. */
export function walkFolder(kind = EVERY, text = SOME_STATES): string {
  const folder = freshFolder();
  writeFileSync(join(folder, 'every.js'), kind);
  writeFileSync(join(folder, 'some_states.js'), text);
  return folder;
}
