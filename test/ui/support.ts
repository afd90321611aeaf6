import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { realEffects } from '../../src/core/effects.ts';
import { readMark } from '../../src/files/process-liveness.ts';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { logPath } from '../../src/jobs/run-log.ts';
import type { JobRecord } from '../../src/jobs/run-record.ts';
import { serveUi, type UiServer } from '../../src/ui/serve-ui.ts';
import type { UiOptions } from '../../src/ui/ui-options.ts';
import { goldenWarehouse } from '../golden-warehouse.ts';
import { closing, freshFolder } from '../scratch.ts';

/** A small warehouse of the sandbox with a hole: 1040 to 1049. */
export function exportSandbox(): Promise<string> {
  return goldenWarehouse(['transactions', '1000:1039'], ['transactions', '1050:1099']);
}

/** A job `often` on a warehouse: a run that failed with a message, and one under way, whose record is returned. */
export async function addRuns(
  warehouse: string,
  message: string,
): Promise<{ readonly history: JobHistory; readonly record: JobRecord }> {
  const history = await JobHistory.open(warehouse, 'often');
  const owner = await readMark();
  const base: JobRecord = {
    ...{ format: 1, id: '20260503T000000Z', job: 'often', file: 'jobs/often.yaml', digest: '', network: 'sandbox' },
    ...{ warehouse, pipelines: ['transactions'], zone: 'UTC', trigger: 'schedule', due: '2026-05-03T00:00:00.000Z' },
    ...{ state: 'running', range: { blocks: '1020:1069', from: 1020, to: 1069 }, steps: [], outputs: [] },
    attempts: [{ startedAt: '2026-05-03T00:00:01.000Z', owner }],
  };
  const due = '2026-05-02T00:00:00.000Z';
  const attempts = [{ startedAt: due, endedAt: '2026-05-02T00:00:09.000Z', owner }];
  const steps = [{ kind: 'export', name: 'transactions', status: 'failed', seconds: 9, message } as const];
  const error = { code: 'x', message };
  await history.write({ ...base, id: '20260502T000000Z', due, state: 'failed', attempts, steps, error }, realEffects);
  await history.write(base, realEffects);
  writeFileSync(logPath(history.folder, base), '2026-05-03T00:00:01.000Z first line\n');
  writeFileSync(logPath(history.folder, { id: '20260502T000000Z' }), `2026-05-02T00:00:09.000Z ${message}\n`);
  return { history, record: base };
}

/** A server that ends with the test, or with the file if no test runs. */
export async function serveWarehouse(warehouse: string, more: Partial<UiOptions> = {}): Promise<UiServer> {
  const served = await serveUi({
    ...{ warehouse, port: 0, seconds: 60, memoryMb: 512, allowFiles: false, version: 'test' },
    ...{ queriesFolder: join(freshFolder(), 'queries'), savesQueries: false, jobsPath: undefined },
    ...more,
  });
  return closing(served);
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request with exactly these headers. A path is sent as it is, with its dots. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The key of a first address. */
export function keyOf(url: string): string {
  return new URL(url).hash.replace('#key=', '');
}

/** Asks for a session for the key of a first address. */
export function spend(port: number, key: string, more: Readonly<Record<string, string>> = {}): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
  return ask(port, '/api/entry', { method: 'POST', headers });
}

/** A tab that opened the first address. */
export class Visitor {
  readonly port: number;
  /** The header that lets it pass. */
  readonly authorization: string;

  private constructor(port: number, authorization: string) {
    this.port = port;
    this.authorization = authorization;
  }

  static async enter({ url, port }: UiServer): Promise<Visitor> {
    const { text } = await spend(port, keyOf(url));
    return new Visitor(port, `Bearer ${JSON.parse(text).session}`);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return ask(this.port, path, { headers: { authorization: this.authorization, ...headers } });
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return ask(this.port, path, {
      method: 'POST',
      headers: { authorization: this.authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  async read<T>(path: string): Promise<T> {
    return JSON.parse((await this.get(path)).text);
  }

  async run(sql: string, params: Readonly<Record<string, string>> = {}) {
    const { status, text } = await this.post('/api/runs', { sql, params });
    return { status, ...JSON.parse(text) };
  }
}
