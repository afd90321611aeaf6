// A process that only reads: asks all the time, until its standard input closes, and ends with 1 if an answer is smaller than the last one.
// node reader.mjs WAREHOUSE; prints how many answers it got.
import { open } from '../../dist/src/library/open.js';

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
  const warehouse = await open({ warehouse: path, onWarning: () => undefined });
  for (let at = 0; at < 5 && isOpen; at++) {
    const [row] = await warehouse.query('select max(mc_block_seqno) as newest, count(*) as rows from transactions');
    const now = Object.values(row).map(Number);
    if (now[0] < last[0] || now[1] < last[1]) throw new Error(`${last} was followed by ${now}`);
    last = now;
    answers++;
  }
  await warehouse.close();
}
process.stdout.write(`${answers}\n`);
