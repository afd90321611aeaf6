// The bound to beat: undici with 8 connections and bare JSON.parse in one thread, nothing kept.
//   node bench/peers/undici.mjs FILE [--raw]   FILE: one address a line; --raw leaves the parsing out
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, request } from 'undici';

const [file, flag] = process.argv.slice(2);
const addresses = readFileSync(file, 'utf8').trim().split('\n');
const unzip = promisify(gunzip);
const dispatcher = new Agent({ connections: 8, pipelining: 1 });
let next = 0;
let rows = 0;

async function walk() {
  while (next < addresses.length) {
    const { body, headers } = await request(addresses[next++], { dispatcher });
    const sent = Buffer.from(await body.arrayBuffer());
    const bytes = headers['content-encoding'] === 'gzip' ? await unzip(sent) : sent;
    if (flag !== '--raw') rows += (JSON.parse(bytes.toString('utf8')).transactions ?? []).length;
  }
}

await Promise.all(Array.from({ length: 8 }, walk));
await dispatcher.close();
console.log(JSON.stringify({ rows }));
