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

/** A list without a check of its paths, as in a first draft. */
export const DRAFT = [
  ['import { field', 'import { base64Hash, decimal38, lt, rawAddress, unixSeconds'],
  ["field('/transaction_hash'", "base64Hash('/transaction_hash'"],
  ["field('/transaction_lt'", "lt('/transaction_lt'"],
  ["field('/transaction_now'", "unixSeconds('/transaction_now'"],
  ["field('/amount'", "decimal38('/amount'"],
  ["field('/source'", "rawAddress('/source'"],
].reduce((text, [from = '', to = '']) => text.replace(from, to as string), OWN_ORDERS);
/** The same with a path that no record has. */
export const MISTAKE = DRAFT.replace("'/source'", "'/sourse'");

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
