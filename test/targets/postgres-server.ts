import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import { freePort } from '../free-port.ts';
import '../programs.ts';
import { afterFile } from '../scratch.ts';

const DEBIAN = '/usr/lib/postgresql';
const PATHS = (process.env['PATH'] ?? '').split(':');
const NOBODY = 65_534;
export const PASSWORD = 'only for tests';

/** Folders beside PATH: Debian has only the client there. */
function debianFolders(): readonly string[] {
  const hasClient = PATHS.some((folder) => existsSync(join(folder, 'pg_ctlcluster')));
  return hasClient && existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
}

/** Folder of the server's programs; undefined if it is not installed. */
export const POSTGRES: string | undefined = [...debianFolders(), ...PATHS].find(
  (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
);

/** Starts a PostgreSQL server on loopback, with a password, until the tests of the file end. @returns URL of a database */
export async function startPostgres(): Promise<string> {
  const bin = POSTGRES ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'tonlake-pg-'));
  // The server refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const secret = join(folder, 'password');
  writeFileSync(secret, PASSWORD);
  if (isRoot) for (const path of [folder, secret]) chownSync(path, NOBODY, NOBODY);
  const data = join(folder, 'data');
  const args = ['-D', data, '-U', 'lake', '--pwfile', secret, '-A', 'scram-sha-256', '-E', 'UTF8', '--no-locale', '-N'];
  const made = spawnSync(join(bin, 'initdb'), args, { ...user, cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'off',
    shared_buffers: '16MB',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...user, cwd: folder, stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('close', resolve));
  afterFile(async () => {
    server.kill('SIGQUIT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `postgres://lake@127.0.0.1:${port}/postgres`;
  await vi.waitUntil(
    () =>
      ask(url, 'SELECT 1').then(
        () => true,
        () => false,
      ),
    { timeout: 200_000, interval: 50 },
  );
  return url;
}

/** The rows of a query, every value as PostgreSQL writes it. */
export async function ask(url: string, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const secret = url.replace('lake@', `lake:${encodeURIComponent(PASSWORD)}@`);
  const client = new pg.Client({ connectionString: secret, types: { getTypeParser: () => String } });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}
