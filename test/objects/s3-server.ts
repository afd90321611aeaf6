import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import '../programs.ts';
import { afterFile, freshFolder } from '../scratch.ts';

/** The S3 server of the tests; .ci/run installs it. Undefined where it is missing: tests that need it are skipped. */
export const S3_PROGRAM = findProgram('TONLAKE_VERSITYGW', 'versitygw');

/** MinIO, for the long tests: `go install github.com/minio/minio@latest`. */
export const MINIO_PROGRAM = findProgram('TONLAKE_MINIO', 'minio');

function findProgram(variable: string, name: string): string | undefined {
  return [
    process.env[variable],
    join(homedir(), 'go/bin', name),
    ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name)),
  ].find((path) => path !== undefined && path !== '' && existsSync(path));
}

/** Folder of DuckDB's extensions; .ci/run makes one. Undefined where it is missing. */
export const EXTENSIONS = [process.env['TONLAKE_DUCKDB_EXTENSIONS']].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

/** Whether warehouses in buckets can be tested here. */
export const HAS_BUCKETS = S3_PROGRAM !== undefined && EXTENSIONS !== undefined;

const KEY = { id: 'lake', secret: 'lakelake1' } as const;

export interface S3Server {
  readonly url: string;
  /** Folder of the buckets: what is there can be changed behind the back of the server. */
  readonly folder: string;
  /** Variables for this server. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts an S3 server with a bucket `lake`; it ends with the file's tests. */
export function startS3(): Promise<S3Server> {
  return startServer((port, folder) => ({
    program: S3_PROGRAM,
    args: ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEY.id, ROOT_SECRET_KEY: KEY.secret },
  }));
}

/** Starts an S3 server as `startS3`, with users beside the root one. */
export function startS3WithUsers(): Promise<S3Server> {
  return startServer((port, folder) => ({
    program: S3_PROGRAM,
    args: ['--quiet', '--port', `127.0.0.1:${port}`, '--iam-dir', freshFolder(), 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEY.id, ROOT_SECRET_KEY: KEY.secret },
  }));
}

/** Adds a user without rights. @returns variables for it */
export async function addUser({ url, env }: S3Server, name: string): Promise<Readonly<Record<string, string>>> {
  const secret = `${name}-secret`;
  const root = ['--access', KEY.id, '--secret', KEY.secret, '--endpoint-url', url];
  const user = ['--access', name, '--secret', secret, '--role', 'user'];
  await promisify(execFile)(S3_PROGRAM ?? '', ['admin', ...root, 'create-user', ...user]);
  return { ...env, AWS_ACCESS_KEY_ID: name, AWS_SECRET_ACCESS_KEY: secret };
}

/** The same with MinIO, whose folder is not to be changed. */
export async function startMinio(): Promise<S3Server> {
  const consolePort = await freePort();
  return startServer((port, folder) => ({
    program: MINIO_PROGRAM,
    args: [
      'server',
      '--quiet',
      '--address',
      `127.0.0.1:${port}`,
      '--console-address',
      `127.0.0.1:${consolePort}`,
      folder,
    ],
    env: { MINIO_ROOT_USER: KEY.id, MINIO_ROOT_PASSWORD: KEY.secret, HOME: folder },
  }));
}

interface ServerCommand {
  readonly program: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function startServer(commandOf: (port: number, folder: string) => ServerCommand): Promise<S3Server> {
  const folder = freshFolder();
  mkdirSync(join(folder, 'lake'));
  const port = await freePort();
  const { program = '', args, env } = commandOf(port, folder);
  const server = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...env } });
  afterFile(() => stopped(server));
  await reachable(port);
  const url = `http://127.0.0.1:${port}`;
  return { url, folder, env: environmentOf(url) };
}

export function environmentOf(url: string): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: KEY.id,
    AWS_SECRET_ACCESS_KEY: KEY.secret,
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
  /** What was asked, and the status of the server's answer, once there is one. */
  readonly requests: { readonly method: string; readonly path: string; status?: number }[];
  /** Bytes of the bodies that the server has sent through it. */
  bytes: number;
  fault: ((passing: S3Passing) => S3Fault | Promise<S3Fault>) | undefined;
  /** Changes the text of listings. */
  change: ((passing: S3Passing, text: string) => string) | undefined;
}

/** A server before another that fails as told. It ends with the file's tests. */
export async function startS3Relay(target: S3Server): Promise<S3Relay> {
  const { hostname, port } = new URL(target.url);
  const requests: S3Relay['requests'] = [];
  const server = createServer(async (inbound, answer) => {
    const { method = '', url: path = '', headers } = inbound;
    const asked: S3Relay['requests'][number] = { method, path };
    requests.push(asked);
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
      if (reply.statusCode !== undefined) asked.status = reply.statusCode;
      if (fault === 'lose') {
        reply.resume();
        return void reply.once('end', () => inbound.socket.destroy());
      }
      const { change } = relay;
      if (change !== undefined && path.includes('list-type=2')) {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        return void reply.once('end', () => {
          const text = Buffer.from(change(passing, Buffer.concat(parts).toString()));
          const { 'transfer-encoding': _, ...kept } = reply.headers;
          answer.writeHead(reply.statusCode ?? 500, { ...kept, 'content-length': text.length }).end(text);
        });
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
  const relay: S3Relay = { url, env: environmentOf(url), requests, bytes: 0, fault: undefined, change: undefined };
  return relay;
}

/** Starts an S3 server, and a relay before it that this process uses. */
export async function startRelayedS3(): Promise<{ readonly server: S3Server; readonly relay: S3Relay }> {
  const server = await startS3();
  const relay = await startS3Relay(server);
  useS3(relay);
  return { server, relay };
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
