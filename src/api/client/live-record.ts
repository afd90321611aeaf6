import type { RetryEvent } from '../../http/source.ts';
import { endpointByPath, endpointOf } from '../endpoints.ts';
import { planRequest } from './build-request.ts';
import { parseSent } from './exact-json.ts';
import { formatAnswer } from './format-answer.ts';
import { openApi } from './open-api.ts';
import { rowsOf } from './response-rows.ts';

/** The requested thing: an address, a hash, or the seqno of a masterchain block. */
interface Thing {
  readonly kind: 'address' | 'hash' | 'block';
  readonly value: string;
}

/** A response of the source, as JSON text that people can read. */
export interface LiveRecord {
  /** `GET /accountStates?address=...` */
  readonly request: string;
  readonly text: string;
}

export interface LiveOptions {
  readonly network: string;
  readonly onRetry: (event: RetryEvent) => void;
}

/**
 * What the source knows of a thing now: of a hash, the first of transaction, message and trace that it knows.
 *
 * @throws {SourceError}
 */
export async function readLive(thing: Thing, { network, onRetry }: LiveOptions): Promise<LiveRecord> {
  const api = await openApi({ network, waitMs: 0, onRetry });
  try {
    let record: LiveRecord = { request: '', text: '' };
    for (const [path, parameters] of requestsFor(thing)) {
      const endpoint = endpointOf(endpointByPath(path, undefined));
      const { body, request } = await api.source.fetch(planRequest(endpoint, parameters), (answer) => answer);
      record = { request, text: formatAnswer(endpoint, body, 'json', true) };
      if (rowsOf(endpoint, parseSent(body, path)).length > 0) break;
    }
    return record;
  } finally {
    await api.close();
  }
}

type Asked = readonly [path: string, parameters: Readonly<Record<string, string>>];

function requestsFor({ kind, value }: Thing): readonly Asked[] {
  switch (kind) {
    case 'address':
      return [['accountStates', { address: value, include_boc: 'false' }]];
    case 'block':
      return [['blocks', { mc_seqno: value, limit: '100' }]];
    case 'hash':
      return [
        ['transactions', { hash: value }],
        ['messages', { msg_hash: value }],
        ['traces', { trace_id: value }],
      ];
  }
}
