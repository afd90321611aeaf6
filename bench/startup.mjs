// How long the command line takes to start, beside the start of Node itself.
//   npm run build && node bench/startup.mjs [--laps 15] [--write]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, scratch } from './lib/process.mjs';
import { median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: { laps: { type: 'string', default: '15' }, write: { type: 'boolean', default: false } },
});
const warehouse = join(scratch(), 'w');
const COUNT = 'select count(*) from transactions';
await must(process.execPath, [cli, 'run', '--network', 'sandbox', '--range', '1000:1019', '--warehouse', warehouse]);

const contestants = {
  'node -e 0': ['-e', '0'],
  'tonlake --version': [cli, '--version'],
  'tonlake --help': [cli, '--help'],
  'tonlake status': [cli, 'status', '--warehouse', warehouse],
  'tonlake sql "select 1"': [cli, 'sql', 'select 1', '--warehouse', warehouse],
  'tonlake sql "select count(*) from transactions"': [cli, 'sql', COUNT, '--warehouse', warehouse],
};
const results = new Map(Object.keys(contestants).map((name) => [name, []]));
for (let lap = 0; lap < Number(values.laps); lap++) {
  for (const [name, args] of Object.entries(contestants)) {
    const start = performance.now();
    await must(process.execPath, args);
    results.get(name).push(performance.now() - start);
  }
}
const base = median(results.get('node -e 0'));
const text = table(
  [...results].map(([command, all]) => ({
    command: `\`${command}\``,
    ms: round(median(all), 0),
    'of node -e 0': `${round(median(all) / base, 1)} x`,
  })),
);
publish('startup', `${text}\n\nMedian of ${values.laps} laps, the shell around each command included.`);
