// Lets seeds choose what happens to a warehouse on a simulated disk, and in a simulated object store.
//   npm run simulate -- --seeds 1:1000 [--calls 2000] [--trace]
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1:100' },
    calls: { type: 'string', default: '2000' },
    trace: { type: 'boolean', default: false },
  },
});
const [from = 1, to = from] = values.seeds.split(':').map(Number);
const { prepare, simulate } = await import('./simulation/simulate.ts');
prepare();
let failed = 0;
let entries = 0;
const startedAt = process.cpuUsage();
for (let seed = from; seed <= to; seed++) {
  const outcome = await simulate(seed, Number(values.calls), values.trace ? (line) => console.log(line) : undefined);
  entries += outcome.entries;
  if (outcome.broken === undefined) continue;
  failed++;
  console.log(`seed ${seed}, call ${outcome.calls}, trace ${outcome.trace}: ${outcome.broken}`);
}
const { user, system } = process.cpuUsage(startedAt);
console.log(`${to - from + 1 - failed} passed, ${failed} failed; ${entries} entries, ${((user + system) / 1e6).toFixed(1)} s of CPU`);
process.exitCode = failed === 0 ? 0 : 1;
