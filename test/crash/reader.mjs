// A process that only reads: asks all the time, until its standard input closes, and ends with 1 if an answer is smaller than the last one.
// node reader.mjs WAREHOUSE; prints how many answers it got.
import { openWarehouse } from '../../dist/src/index.js';

const [path = ''] = process.argv.slice(2);
let isOpen = true;
process.stdin.resume();
process.stdin.on('end', () => {
  isOpen = false;
});
let last = [0, 0];
let answers = 0;
while (isOpen) {
  // As a program that asks once does it, and as one that stays does it.
  const warehouse = await openWarehouse(path, { onWarning: () => undefined });
  for (let at = 0; at < 5 && isOpen; at++) {
    const { rows } = await warehouse.query('select max(mc_block_seqno), count(*) from transactions');
    const now = rows[0].map(Number);
    if (now[0] < last[0] || now[1] < last[1]) throw new Error(`${last} was followed by ${now}`);
    last = now;
    answers++;
  }
  await warehouse.close();
}
process.stdout.write(`${answers}\n`);
