import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { formatError } from '../core/errors.ts';
import { parseFault, type SandboxFaults } from './faults.ts';
import type { RequestLog } from './stats.ts';

/** Path of the endpoints that control the sandbox itself. */
export const ADMIN_PATH = '/admin';

export interface Controls {
  readonly faults: () => SandboxFaults;
  readonly setFaults: (faults: Partial<SandboxFaults>) => void;
  readonly log: RequestLog;
}

/** Responds to a request below `/admin`: faults, stats, reset. */
export async function administer(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const endpoint = `${request.method ?? 'GET'} ${url.pathname.slice(ADMIN_PATH.length)}`;
  const reply = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  switch (endpoint) {
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
      return reply(404, { error: `no ${endpoint}; there are GET and POST /faults, GET /stats, POST /reset` });
  }
}

/** The faults of a JSON body as they would be in a query. */
async function pairsOf(request: IncomingMessage): Promise<[string, string][]> {
  const json = await text(request);
  if (json.trim() === '') return [];
  const body: unknown = JSON.parse(json);
  if (typeof body !== 'object' || body === null) throw new Error('expected an object of faults');
  return Object.entries(body).map(([name, value]) => [name, valueText(value)]);
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(';');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(valueText).join(':');
  return value === true ? '1' : value === false ? '0' : String(value);
}
