// Object stores of the benches: versitygw or MinIO on this machine, behind a relay that observes every request.
import { spawn } from 'node:child_process';
import { mkdirSync, utimesSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';

const KEY = { id: 'lake', secret: 'lakelake1' };
const REGION = 'us-east-1';
const DAY_MS = 86_400_000;

const STORES = {
  versitygw: (port, folder) => ({
    program: process.env.TONLAKE_VERSITYGW ?? 'versitygw',
    args: ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEY.id, ROOT_SECRET_KEY: KEY.secret },
  }),
  minio: (port, folder) => ({
    program: process.env.TONLAKE_MINIO ?? 'minio',
    args: ['server', '--quiet', '--address', `127.0.0.1:${port}`, folder],
    env: { MINIO_ROOT_USER: KEY.id, MINIO_ROOT_PASSWORD: KEY.secret, HOME: folder },
  }),
};

export const stores = Object.keys(STORES);

/** Starts a store over a folder, with a bucket `lake`; it ends with this process. */
export async function startObjectStore(kind, folder, port) {
  mkdirSync(join(folder, 'lake'), { recursive: true });
  const { program, args, env } = STORES[kind](port, folder);
  const child = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env.PATH, ...env } });
  let failure;
  child.once('error', (error) => (failure = error));
  process.once('exit', () => child.kill());
  for (let attempt = 0; attempt < 600; attempt++) {
    if (failure !== undefined) throw failure;
    const socket = connect(port, '127.0.0.1');
    const isUp = await new Promise((done) => socket.once('connect', () => done(true)).once('error', () => done(false)));
    socket.destroy();
    if (isUp) return port;
    await delay(50);
  }
  throw new Error(`${program} does not start`);
}

/**
 * A relay to a store. `see` is called with each request, and may return a status to respond with; `count` is called with the bytes of bodies in
 * both directions. `waitMs`: latency of each response. `moved`: makes the store appear to be in the future for clients whose clock is moved, too.
 */
export async function startRelay(port, { see = () => undefined, count = () => {}, waitMs = 0, moved }) {
  const agent = new Agent({ keepAlive: true });
  const relay = createServer(async (inbound, response) => {
    const { method, url, headers } = inbound;
    const own = see(method, url);
    if (own !== undefined) {
      response.writeHead(own).end();
      return;
    }
    const sent = moved === undefined ? headers : await moved.sign(method, url, headers);
    const outbound = request({ host: '127.0.0.1', port, agent, method, path: url, headers: sent }, async (reply) => {
      await delay(waitMs);
      moved?.see(method, url, reply);
      response.writeHead(reply.statusCode, reply.headers);
      reply.on('data', (part) => count(part.length, 'received'));
      reply.pipe(response);
    });
    outbound.on('error', () => inbound.socket.destroy());
    inbound.on('data', (part) => count(part.length, 'sent'));
    inbound.pipe(outbound);
  });
  await new Promise((done) => relay.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${relay.address().port}`;
}

/**
 * The clock of a store over `folder`, moved ahead by the days that `days` returns: responses and new files have its time, and requests signed
 * with it are signed anew, because the store itself keeps the time of this machine.
 */
export function movedStore(folder, days) {
  const { config } = new S3Client({
    region: REGION,
    credentials: { accessKeyId: KEY.id, secretAccessKey: KEY.secret },
  });
  const now = () => new Date(Date.now() + days() * DAY_MS);
  return {
    async sign(method, url, { authorization, 'x-amz-date': _, ...headers }) {
      if (authorization === undefined) return headers;
      const [path, search = ''] = url.split('?');
      const query = {};
      for (const [name, value] of new URLSearchParams(search)) query[name] = value;
      // Only what the client has signed: a header such as Expect may change on the way.
      const names = /SignedHeaders=([^,]+)/.exec(authorization)[1].split(';');
      const signed = Object.fromEntries(names.filter((name) => name in headers).map((name) => [name, headers[name]]));
      const signer = await config.signer();
      const { headers: own } = await signer.sign({ method, path, query, headers: signed });
      return { ...headers, ...own };
    },
    see(method, url, reply) {
      reply.headers.date = now().toUTCString();
      const { pathname, searchParams } = new URL(url, 'http://store');
      const isWritten =
        method === 'PUT' ? !searchParams.has('partNumber') : method === 'POST' && searchParams.has('uploadId');
      if (isWritten && reply.statusCode < 300) utimesSync(join(folder, decodeURIComponent(pathname)), now(), now());
    },
  };
}

/** Variables of a client of the store. */
export const accessTo = (url) => ({
  ...{
    AWS_ACCESS_KEY_ID: KEY.id,
    AWS_SECRET_ACCESS_KEY: KEY.secret,
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL_S3: url,
  },
  // Ignores the AWS configuration of this user and machine.
  ...{ AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', AWS_EC2_METADATA_DISABLED: 'true' },
});
