import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatError } from '../core/errors.ts';
import { parseFault, type SandboxFaults } from './faults.ts';
import type { RequestLog } from './stats.ts';

/** Path of the sandbox's own switches. */
export const ADMIN_PATH = '/admin';

/** What the switches act on. */
export interface Controls {
  readonly faults: () => SandboxFaults;
  readonly setFaults: (faults: Partial<SandboxFaults>) => void;
  readonly log: RequestLog;
}

/** Answers one request below `/admin`: faults, stats, reset. */
export async function administer(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const asked = `${request.method ?? 'GET'} ${url.pathname.slice(ADMIN_PATH.length)}`;
  const reply = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  switch (asked) {
    case 'GET /faults':
      return reply(200, controls.faults());
    case 'POST /faults':
      try {
        for (const [name, value] of [...url.searchParams, ...(await pairsOf(request))]) {
          controls.setFaults(parseFault(name, value === '' ? undefined : value));
        }
        return reply(200, controls.faults());
      } catch (error) {
        return reply(422, { error: formatError(error) });
      }
    case 'GET /stats':
      return reply(200, controls.log.stats());
    case 'POST /reset':
      controls.log.reset();
      return reply(200, controls.log.stats());
    default:
      return reply(404, { error: `no ${asked}; there are GET and POST /faults, GET /stats, POST /reset` });
  }
}

/** Switches of a JSON body as they would stand in a query. */
async function pairsOf(request: IncomingMessage): Promise<[string, string][]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (text.trim() === '') return [];
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null) throw new Error('expected an object of switches');
  return Object.entries(body).map(([name, value]) => [name, switchText(value)]);
}

function switchText(value: unknown): string {
  if (Array.isArray(value)) return value.map(switchText).join(';');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(switchText).join(':');
  return value === true ? '1' : value === false ? '0' : String(value);
}
