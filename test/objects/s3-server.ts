import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterFile, freshFolder } from '../scratch.ts';

/** The S3 server of the tests; .ci/run installs it. Undefined where it is missing: tests that need it are skipped. */
export const S3_PROGRAM = [
  process.env['TONLAKE_VERSITYGW'],
  join(homedir(), 'go/bin/versitygw'),
  ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'versitygw')),
].find((path) => path !== undefined && path !== '' && existsSync(path));

/** Folder of DuckDB's extensions; .ci/run makes one. Undefined where it is missing. */
export const EXTENSIONS = [process.env['TONLAKE_DUCKDB_EXTENSIONS']].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

export interface S3Server {
  readonly url: string;
  /** Folder of the buckets: what is there can be changed behind the back of the server. */
  readonly folder: string;
  /** Variables for this server. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts an S3 server with a bucket `lake`; it ends with the file's tests. */
export async function startS3(): Promise<S3Server> {
  const folder = freshFolder();
  mkdirSync(join(folder, 'lake'));
  const port = await freePort();
  const key = { ROOT_ACCESS_KEY: 'lake', ROOT_SECRET_KEY: 'lakelake1' };
  const server = spawn(S3_PROGRAM ?? '', ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', folder], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ...key },
  });
  afterFile(() => stopped(server));
  await reachable(port);
  const url = `http://127.0.0.1:${port}`;
  return { url, folder, env: environmentOf(url) };
}

export function environmentOf(url: string): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: 'lake',
    AWS_SECRET_ACCESS_KEY: 'lakelake1',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_S3: url,
    // No file of this user, no server of this machine.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/** One request on its way to the server. */
export interface S3Passing {
  readonly method: string;
  /** Below the server: bucket, key and parameters. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Number of this request since the start, from 1. */
  readonly number: number;
}

/**
 * `pass`: as the server answers. `lose`: the server does it, but the answer is lost. `reset`: neither. A number: the status of an answer
 * of its own, with the name of an error, without asking the server. A status of success may have an error in its body, as stores do that
 * have begun to answer before they fail.
 */
export type S3Fault = 'pass' | 'lose' | 'reset' | 'cut' | { readonly status: number; readonly code: string };

export interface S3Relay {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly requests: { readonly method: string; readonly path: string }[];
  /** Bytes of the bodies that the server has sent through it. */
  bytes: number;
  fault: ((passing: S3Passing) => S3Fault | Promise<S3Fault>) | undefined;
}

/** A server before another that fails as told. It ends with the file's tests. */
export async function startS3Relay(target: S3Server): Promise<S3Relay> {
  const { hostname, port } = new URL(target.url);
  const requests: S3Relay['requests'] = [];
  const server = createServer(async (inbound, answer) => {
    const { method = '', url: path = '', headers } = inbound;
    requests.push({ method, path });
    const passing = { method, path, headers, number: requests.length };
    const fault = (await relay.fault?.(passing)) ?? 'pass';
    if (fault === 'reset') return void inbound.socket.destroy();
    if (typeof fault === 'object') {
      inbound.resume();
      await new Promise((resolve) => inbound.once('end', resolve));
      answer.writeHead(fault.status, { 'content-type': 'application/xml' });
      if (fault.status < 300 && fault.code === '') return void answer.end();
      const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>told to fail</Message></Error>`;
      return void answer.end(method === 'HEAD' ? undefined : body);
    }
    const outbound = request({ hostname, port, method, path, headers }, (reply) => {
      if (fault === 'lose') {
        reply.resume();
        return void reply.once('end', () => inbound.socket.destroy());
      }
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      if (fault === 'cut')
        return void reply.once('data', (part: Buffer) => {
          answer.write(part.subarray(0, Math.floor(part.length / 2)), () => inbound.socket.destroy());
        });
      reply.on('data', (part: Buffer) => {
        relay.bytes += part.length;
      });
      reply.pipe(answer);
    });
    outbound.on('error', () => inbound.socket.destroy());
    inbound.pipe(outbound);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => server.close());
  // A TCP server has an address with a port.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relay: S3Relay = { url, env: environmentOf(url), requests, bytes: 0, fault: undefined };
  return relay;
}

/** Lets code of this process use a server. */
export function useS3({ env }: Pick<S3Server, 'env'>): void {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  afterFile(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}

export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function reachable(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isUp) return;
    await delay(50);
  }
  throw new Error('the S3 server did not start');
}

async function stopped(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill();
  await ended;
}
