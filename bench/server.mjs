// Serves ready pages from memory: a first walk fills it from the sandbox network, every later one is answered without any work.
//   node bench/server.mjs [--blocks 10000] [--port 0] [--fill-mb 0]     --fill-mb: blanks fill pages of transactions up to that size
// Prints its address; below /gzip before it, the same answers are compressed. GET /stat tells requests, bytes, CPU seconds, when it last answered, and the paths it holds; GET /forget empties it.
import { createServer } from 'node:http';
import { parseArgs, promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { startSandbox } from '../dist/src/sandbox/index.js';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '10000' },
    port: { type: 'string', default: '0' },
    'fill-mb': { type: 'string', default: '0' },
  },
});
const sandbox = await startSandbox({ blocks: Number(values.blocks) });
const origin = new URL(sandbox.url).origin;
const pages = new Map();
const compress = promisify(gzip);
const COMPRESSED = '/gzip';
const counts = { requests: 0, bytes: 0, lastAt: 0 };

async function makePage(path) {
  const response = await fetch(`${origin}${path}`, {
    headers: { 'x-no-address-book': 'true', 'x-no-metadata': 'true' },
  });
  const text = Buffer.from(pairSurrogates(await response.text()));
  const hashes = response.headers.get('x-hashes');
  const body = path.includes('/transactions') ? fill(text) : text;
  return { status: response.status, hashes, body, compressed: await compress(body) };
}

function fill(body) {
  const blanks = Math.max(0, Number(values['fill-mb']) * 2 ** 20 - body.length);
  return Buffer.concat([body, Buffer.alloc(blanks, ' ')]);
}

/** DuckDB and polars refuse whole pages for a lone surrogate, which real pages have now and then. */
function pairSurrogates(text) {
  return text.replace(/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}/gi, '\\ufffd');
}

function answer(response, { status, hashes, ...page }, isCompressed) {
  const body = isCompressed ? page.compressed : page.body;
  counts.bytes += body.length;
  counts.lastAt = Date.now();
  // Long networks say that their hashes are not those of cells.
  const told = hashes === null ? {} : { 'x-hashes': hashes };
  const encoded = isCompressed ? { 'content-encoding': 'gzip' } : {};
  const headers = { 'content-type': 'application/json', 'content-length': body.length, ...told, ...encoded };
  response.writeHead(status, headers);
  response.end(body);
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const isCompressed = request.url?.startsWith(COMPRESSED) === true;
  const path = (request.url ?? '/').slice(isCompressed ? COMPRESSED.length : 0);
  if (path === '/stat' || path === '/forget') {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ ...counts, cpu: (user + system) / 1e6, paths: [...pages.keys()] }));
    if (path === '/forget') pages.clear();
    return;
  }
  counts.requests++;
  const known = pages.get(path);
  if (known !== undefined) answer(response, known, isCompressed);
  else {
    makePage(path).then(
      (page) => {
        pages.set(path, page);
        answer(response, page, isCompressed);
      },
      () => response.destroy(),
    );
  }
});
server.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/api/v3\n`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));
