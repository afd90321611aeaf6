// Serves ready pages from memory: a first walk fills it from the sandbox network, every later one is answered without any work.
//   node bench/server.mjs [--blocks 10000] [--port 0]
// Prints its address. GET /stat tells requests, bytes, CPU seconds; GET /forget empties it.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { startSandbox } from '../dist/src/sandbox/index.js';

const { values } = parseArgs({
  options: { blocks: { type: 'string', default: '10000' }, port: { type: 'string', default: '0' } },
});
const sandbox = await startSandbox({ blocks: Number(values.blocks) });
const origin = new URL(sandbox.url).origin;
const pages = new Map();
const count = { requests: 0, bytes: 0, made: 0 };

async function pageOf(path) {
  const known = pages.get(path);
  if (known !== undefined) return known;
  const response = await fetch(`${origin}${path}`, {
    headers: { 'x-no-address-book': 'true', 'x-no-metadata': 'true' },
  });
  const page = { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  pages.set(path, page);
  count.made++;
  return page;
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const path = request.url ?? '/';
  if (path === '/stat' || path === '/forget') {
    const { user, system } = process.cpuUsage();
    if (path === '/forget') pages.clear();
    response.end(JSON.stringify({ ...count, cpu: (user + system) / 1e6 }));
    return;
  }
  count.requests++;
  pageOf(path).then(
    ({ status, body }) => {
      count.bytes += body.length;
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    },
    () => response.destroy(),
  );
});
server.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/api/v3\n`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));
