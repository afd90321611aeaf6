// A consumer that stores the cursor with the effect of the rows, as docs/consumers.md has it, until it is killed.
// node consumer.mjs WAREHOUSE EFFECT.duckdb TABLE COLUMN [once]; once: until it has everything.
import { DuckDBInstance } from '@duckdb/node-api';
import { consume } from '../../dist/src/feed/consume.js';

const [warehouse, effect, table = '', column = '', once] = process.argv.slice(2);
const db = await (await DuckDBInstance.create(effect)).connect();
await db.run('create table if not exists seen (key varchar)');
await db.run('create table if not exists position (cursor varchar)');
const [[cursor] = []] = (await db.runAndReadAll('select cursor from position')).getRows();
const options = { warehouse, tables: [table], cursor, wait: once === undefined, pollMs: 200 };
for await (const { spans, replaces, batches, cursor: next } of consume(options)) {
  if (replaces) throw new Error(`rows of ${JSON.stringify(spans)} came again`);
  await db.run('begin');
  for (const { batch } of batches) {
    const keys = [...(batch.getChild(column) ?? [])].map((key) => `('${key}')`);
    await db.run(`insert into seen values ${keys.join(', ')}`);
  }
  await db.run('delete from position');
  await db.run('insert into position values ($1)', [next]);
  await db.run('commit');
}
