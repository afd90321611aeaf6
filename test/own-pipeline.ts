import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './scratch.ts';

/** What `tonlake/pipeline` is, from a folder without packages. */
export const DECLARE = new URL('../dist/src/declare/index.js', import.meta.url).href;

const PAGE = readFileSync(new URL('../docs/pipelines.md', import.meta.url), 'utf8');

/** The example of docs/pipelines.md: a pipeline of one's own, which needs one that comes with tonlake. */
export const OWN_ORDERS = (/```js\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '').replace('tonlake/pipeline', DECLARE);

/** A folder with one pipeline file. */
export function pipelineFolder(text = OWN_ORDERS): string {
  const folder = freshFolder();
  writeFileSync(join(folder, 'own_orders.js'), text);
  return folder;
}
