// A process that asks a network as fast as its budget allows, until its standard input closes or it is killed.
// node client.mjs BASE_URL RPS|auto PRIORITY CONCURRENCY; prints one line per second: requests so far.
import { realEffects } from '../../dist/src/core/effects.js';
import { openSession } from '../../dist/src/http/session.js';

const [network, rps, priority, concurrency] = process.argv.slice(2);
const stop = new AbortController();
const session = await openSession({
  network,
  rps: rps === 'auto' ? 'auto' : Number(rps),
  priority,
  concurrency: Number(concurrency),
  effects: realEffects,
  signal: stop.signal,
});
process.stdin.resume();
process.stdin.on('end', () => stop.abort(new Error('stopped')));
const print = setInterval(() => process.stdout.write(`${session.source.counts.requests}\n`), 1000);

async function askOn() {
  while (!stop.signal.aborted) {
    await session.source.fetch({ path: '/masterchainInfo', query: [] }, () => undefined, { attempts: 100 });
  }
}

await Promise.allSettled(Array.from({ length: Number(concurrency) }, askOn));
clearInterval(print);
await session.close();
