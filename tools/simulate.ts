// Simulates writers and readers of a warehouse, on a disk (even seeds) or in an object store (odd ones), with faults that the seed chooses.
//   npm run simulate -- --seeds 1:1000 [--calls 2000] [--fault NAME] [--trace] [--shrink]
// --fault breaks a promise of the protocol, which the simulation has to detect. --shrink looks for the fewest calls that break a seed.
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { FAULTS, TUNED } from './simulation/patches.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1:100' },
    calls: { type: 'string', default: '2000' },
    fault: { type: 'string' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
  },
});
const fault = values.fault === undefined ? undefined : FAULTS[values.fault];
if (values.fault !== undefined && fault === undefined) {
  console.error(`expected a fault, one of:\n${Object.keys(FAULTS).join('\n')}`);
  process.exit(2);
}
register('./simulation/patching.js', { parentURL: import.meta.url, data: fault === undefined ? TUNED : [...TUNED, fault] });
const { prepare, shrink, simulate } = await import('./simulation/simulate.ts');
prepare();

const tell = values.trace ? (line: string) => console.log(line) : undefined;
/** Several runs, or single seeds: `1:100,205`. */
const seeds = values.seeds.split(',').flatMap((part) => {
  const [from = 1, to = from] = part.split(':').map(Number);
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
});
const startedAt = process.cpuUsage();
let [failed, calls, entries] = [0, 0, 0];
for (const seed of seeds) {
  const outcome = await simulate(seed, { calls: Number(values.calls), tell });
  entries += outcome.entries;
  calls += outcome.calls;
  if (outcome.broken === undefined) continue;
  failed++;
  console.log(`seed ${seed}, call ${outcome.calls}, trace ${outcome.trace}: ${outcome.broken}`);
  if (values.shrink) await tellShrunk(seed);
  if (fault !== undefined) break;
}
async function tellShrunk(seed: number): Promise<void> {
  const [options, outcome] = (await shrink(seed, Number(values.calls))) ?? [];
  if (options === undefined || outcome === undefined) return;
  const { without = [], most } = options;
  console.log(`  with ${most} processes, without ${without.join(', ') || 'nothing less'}, call ${outcome.calls}: ${outcome.broken}`);
  if (values.trace) await simulate(seed, { ...options, calls: Number(values.calls), tell });
}

const { user, system } = process.cpuUsage(startedAt);
const seconds = ((user + system) / 1e6).toFixed(1);
console.log(`${seeds.length - failed} passed, ${failed} failed; ${calls} calls, ${entries} entries, ${seconds} s of CPU`);
process.exitCode = failed === 0 ? 0 : 1;
