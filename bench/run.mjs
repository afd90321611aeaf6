// All benches, one after the other; their tables go into docs/performance.md.
//   npm run bench [-- --quick]      --quick: small sizes and few laps, to see that everything works
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { root } from './lib/process.mjs';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const benches = {
  startup: ['--laps', '5'],
  verify: ['--blocks', '1000', '--laps', '1'],
  nights: ['--nights', '8', '--blocks', '4'],
  requests: ['--blocks', '1000'],
  decode: ['--laps', '3'],
  writers: ['--laps', '2'],
  endtoend: ['--blocks', '1000', '--laps', '1', '--peer-laps', '1', '--slow-rows', '2000'],
  bodies: ['--blocks', '100', '--laps', '1'],
  growth: ['--sizes', '1000,10000', '--laps', '1'],
  lookups: ['--rows', '20000', '--laps', '1'],
  compact: ['--rows', '20000', '--commits', '4', '--laps', '1'],
  ui: ['--rows', '20000'],
  queries: ['--rows', '20000', '--files', '80', '--laps', '2'],
};
for (const [name, quick] of Object.entries(benches)) {
  const args = [`bench/${name}.mjs`, ...(values.quick ? quick : []), '--write'];
  process.stdout.write(`\n# ${name}\n\n`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
