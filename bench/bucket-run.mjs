// A run into a bucket beside the same run into a folder: seconds, CPU, requests to the store, and the most that lies on the local disk.
//   npm run build && TONLAKE_VERSITYGW=PROGRAM node bench/bucket-run.mjs [--blocks 19000] [--laps 3] [--commit-every 60s] [--write]
// TONLAKE_MINIO=PROGRAM adds MinIO. `--before DIST` adds another build. Each lap runs every contestant once, so that all see the same machine.
// Some stores are reached through a proxy that counts, waits before each request, or lets only so many bits a second pass.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cli, must, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '19000' },
    laps: { type: 'string', default: '3' },
    'commit-every': { type: 'string', default: '60s' },
    before: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const folder = scratch();
const KEY = { AWS_ACCESS_KEY_ID: 'lake', AWS_SECRET_ACCESS_KEY: 'lakelake1', AWS_REGION: 'us-east-1' };

/** Starts a store with a bucket `lake`. */
async function startStore(program, port, argsOf, more) {
  const place = join(folder, `store-${port}`);
  mkdirSync(join(place, 'lake'), { recursive: true });
  const child = spawn(program, argsOf(place), {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: folder, ...more },
  });
  process.once('exit', () => child.kill());
  for (let attempt = 0; attempt < 600; attempt++) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await new Promise((done) => socket.once('connect', () => done(true)).once('error', () => done(false)));
    socket.destroy();
    if (isUp) return port;
    await delay(50);
  }
  throw new Error(`${program} did not start`);
}

/** A proxy that counts requests by kind. `waitMs`: before each. `mbit`: of bodies to the store, all connections together. */
async function startProxy(port, { waitMs = 0, mbit = Number.POSITIVE_INFINITY } = {}) {
  const seen = { kinds: {}, bodies: [] };
  let freeAt = 0;
  const pace = async (bytes) => {
    seen.bodies.push({ at: Date.now(), bytes });
    freeAt = Math.max(performance.now(), freeAt) + (bytes * 8) / (mbit * 1000);
    const pause = freeAt - performance.now();
    if (pause > 1) await delay(pause);
  };
  const proxy = createServer(async (inbound, answer) => {
    const { method, url, headers } = inbound;
    const kind = kindOf(method, url);
    seen.kinds[kind] = (seen.kinds[kind] ?? 0) + 1;
    if (waitMs > 0) await delay(waitMs);
    const outbound = request({ host: '127.0.0.1', port, method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    outbound.on('error', () => inbound.socket.destroy());
    for await (const part of inbound) {
      await pace(part.length);
      if (!outbound.write(part)) await new Promise((done) => outbound.once('drain', done));
    }
    outbound.end();
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  return { port: proxy.address().port, seen };
}

function kindOf(method, url) {
  if (method === 'PUT' && url.includes('partNumber=')) return 'part';
  if (method === 'POST' && url.includes('uploads')) return 'begin';
  if (method === 'POST' && url.includes('uploadId=')) return 'complete';
  if (method === 'PUT' && url.includes('/tables/')) return 'file';
  if (method === 'PUT') return 'small put';
  if (method === 'POST') return 'delete';
  return url.includes('list-type=2') ? 'list' : method.toLowerCase();
}

/** Bytes of all files below a folder. */
function bytesIn(place) {
  let total = 0;
  try {
    for (const item of readdirSync(place, { withFileTypes: true })) {
      const path = join(place, item.name);
      total += item.isDirectory() ? bytesIn(path) : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  } catch {
    // Removed meanwhile.
  }
  return total;
}

const versitygw = await startStore(
  process.env.TONLAKE_VERSITYGW ?? 'versitygw',
  17_510,
  (place) => ['--quiet', '--port', '127.0.0.1:17510', 'posix', place],
  { ROOT_ACCESS_KEY: 'lake', ROOT_SECRET_KEY: 'lakelake1' },
);
const proxied = async (name, options) => ({ name, ...(await startProxy(versitygw, options)) });
const places = [
  { name: 'folder' },
  { name: 'versitygw', port: versitygw },
  await proxied('versitygw, proxy'),
  await proxied('versitygw, 30 ms late', { waitMs: 30 }),
  await proxied('versitygw, 1 Gbit/s, 10 ms late', { waitMs: 10, mbit: 1000 }),
  await proxied('versitygw, 100 Mbit/s, 30 ms late', { waitMs: 30, mbit: 100 }),
];
const minio = process.env.TONLAKE_MINIO;
if (minio !== undefined) {
  await startStore(minio, 17_511, (place) => ['server', '--quiet', '--address', '127.0.0.1:17511', place], {
    ...{ MINIO_ROOT_USER: 'lake', MINIO_ROOT_PASSWORD: 'lakelake1', MINIO_BROWSER: 'off', CI: 'true' },
  });
  places.splice(2, 0, { name: 'MinIO', port: 17_511 });
}
const builds = {
  '': cli,
  ...(values.before === undefined ? {} : { ' (before)': join(resolve(values.before), 'src/cli.js') }),
};
const wanted = places.filter(({ name }) => values.only === undefined || values.only.split(';').includes(name));
const contestants = wanted.flatMap((place) =>
  // Into a folder, both builds do the same.
  Object.entries(place.port === undefined ? { '': cli } : builds).map(([which, program]) => ({
    ...place,
    name: place.name + which,
    program,
    results: [],
  })),
);

const server = await startServer(Number(values.blocks) + 1000);
let laps = 0;
async function run({ program, port, seen }) {
  const tmp = join(folder, `tmp-${laps++}`);
  mkdirSync(tmp);
  const warehouse = port === undefined ? join(tmp, 'w') : `s3://lake/w${laps}`;
  if (seen !== undefined) Object.assign(seen, { kinds: {}, bodies: [] });
  let disk = 0;
  const timer = setInterval(() => (disk = Math.max(disk, bytesIn(tmp))), 100);
  const args = ['run', '--network', server.url, '--range', `100:${values.blocks}`, '--warehouse', warehouse, '--json'];
  const env = { ...KEY, TMPDIR: tmp, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` };
  const result = await must(process.execPath, [program, ...args, '--commit-every', values['commit-every']], { env });
  clearInterval(timer);
  const report = JSON.parse(result.stdout.trim().split('\n').at(-1));
  rmSync(tmp, { recursive: true, force: true });
  for (const name of readdirSync(folder).filter((each) => each.startsWith('store-')))
    rmSync(join(folder, name, 'lake', `w${laps}`), { recursive: true, force: true });
  const { lastAt } = await server.stat();
  const late = seen?.bodies.filter(({ at }) => at > lastAt).reduce((sum, { bytes }) => sum + bytes, 0);
  return { ...result, report, disk, kinds: { ...seen?.kinds }, late };
}

// The first run fills the server.
const { report: first } = await run(contestants[0]);
for (let lap = 1; lap <= Number(values.laps); lap++) {
  for (const contestant of contestants) {
    const result = await run(contestant);
    contestant.results.push(result);
    process.stderr.write(
      `lap ${lap}: ${contestant.name}: ${result.seconds} s, ${result.cpu} s CPU ${round(result.disk / 1e6, 1)} MB of disk, ${round((result.late ?? 0) / 1e6, 1)} MB late, ${result.report.spans} commits ${JSON.stringify(result.kinds)}\n`,
    );
  }
}
server.close();
const middle = ({ results }, of) => median(results.map(of));
const [folderRun] = contestants;
const lines = contestants.map((contestant) => {
  const { kinds, late, report } = contestant.results.at(-1);
  const seconds = middle(contestant, (each) => each.seconds);
  const cpu = middle(contestant, (each) => each.cpu);
  return {
    'run into': contestant.name,
    ...{ s: round(seconds, 1), 'of the folder': `${round(seconds / middle(folderRun, (each) => each.seconds))} x` },
    ...{ 'CPU, s': round(cpu, 1), 'of the folder ': `${round(cpu / middle(folderRun, (each) => each.cpu))} x` },
    'disk at most, MB':
      contestant.port !== undefined ? count(Math.max(...contestant.results.map(({ disk }) => disk)) / 1e6) : '',
    'peak, MB': Math.max(...contestant.results.map(({ peakMb }) => peakMb ?? 0)),
    'sent after the last page, MB': late === undefined ? '' : round(middle(contestant, (each) => each.late) / 1e6, 1),
    requests:
      late === undefined
        ? ''
        : Object.entries(kinds)
            .map(([kind, number]) => `${number} ${kind}`)
            .join(', '),
    commits: report.spans,
  };
});
publish(
  'bucket-run',
  `${table(lines)}\n\n${count(first.rows.transactions)} transactions and the headers that prove them, \`--commit-every ${values['commit-every']}\`. Median of ${values.laps} laps;
whole processes, start included; CPU is that of tonlake alone. Stores, proxies and the server of pages share the machine.`,
);
process.exit();
