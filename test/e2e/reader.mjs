// Reads a catalog over and over: `node reader.mjs FILE`. Prints each count as it changes; ends on a line of standard input.
import { DuckDBInstance } from '@duckdb/node-api';

const path = process.argv[2];
let isOver = false;
process.stdin.on('data', () => {
  isOver = true;
});

let reads = 0;
let last;
do {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY', threads: '1' });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll('select count(*) from transactions');
  const [count] = reader.getRows()[0];
  connection.closeSync();
  instance.closeSync();
  reads++;
  if (count !== last) console.log(`count ${count}`);
  last = count;
  await new Promise((resolve) => setImmediate(resolve));
} while (!isOver);
console.log(`reads ${reads}`);
process.stdin.destroy();
