import { type Given, planRequest } from '../api/client/build-request.ts';
import { isSentObject, parseSent, type SentObject } from '../api/client/exact-json.ts';
import { endpointByPath, endpointOf } from '../api/endpoints.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { EphemeralWalk } from '../declare/walk.ts';
import type { SourceRequest } from '../http/request.ts';
import type { Source } from '../http/source.ts';
import { listField, objectsIn, type Polled, pendingRole, perRole } from './sightings.ts';

/** Accounts and messages to watch. */
export interface Watched {
  /** Accounts in any form. */
  readonly accounts: readonly string[];
  /** Hashes of external messages, plain or normalized. */
  readonly messages: readonly string[];
}

/** A pipeline of pending data. */
export type EphemeralPipeline = PipelineDef & { readonly walk: EphemeralWalk };

/** Maximum number of accounts or hashes per request, so that the URL is not too long. */
const BATCH = 100;

/** The requests of one poll. @throws {UsageError} for an invalid account or hash */
export function planPoll(
  pipelines: readonly EphemeralPipeline[],
  { accounts, messages }: Watched,
): readonly { readonly pipeline: EphemeralPipeline; readonly request: SourceRequest }[] {
  return pipelines.flatMap((pipeline) => {
    const { account, message } = pipeline.walk;
    const filters = [
      ...valuesOf(pipeline, account, accounts).map((value) => ({ [account]: value })),
      ...(message === undefined ? [] : valuesOf(pipeline, message, messages).map((value) => ({ [message]: value }))),
    ];
    return filters.map((filter: Given) => {
      const request = planRequest(endpointFor(pipeline), { ...pipeline.parameters, ...filter });
      return { pipeline, request: { ...request, label: pipeline.name } };
    });
  });
}

function endpointFor({ endpoint }: PipelineDef) {
  return endpointOf(endpointByPath(endpoint.replace(/^GET /, ''), 'GET'));
}

/** Values of a parameter, in batches if it takes lists. */
function valuesOf(pipeline: PipelineDef, name: string, values: readonly string[]): readonly (string | string[])[] {
  if (endpointFor(pipeline).parameters[name]?.many !== true) return values;
  const batches: string[][] = [];
  for (let at = 0; at < values.length; at += BATCH) batches.push(values.slice(at, at + BATCH));
  return batches;
}

/** Makes all requests of one poll. Includes transactions and actions inside traces, because only there are finished ones. */
export async function fetchPoll(source: Source, requests: ReturnType<typeof planPoll>): Promise<Polled> {
  const found = perRole((): SentObject[] => []);
  const responses = await Promise.all(
    requests.map(async ({ pipeline, request }) => {
      const response = await source.fetch(request, ({ status, body }) =>
        status === 404 ? null : parseSent(body, pipeline.name),
      );
      return { pipeline, response };
    }),
  );
  for (const { pipeline, response } of responses) {
    const records = objectsIn(isSentObject(response) ? response[listField(pipeline)] : null);
    const role = pendingRole(pipeline);
    if (role !== undefined) found[role].push(...records);
  }
  for (const trace of found.pendingTraces) {
    found.pendingTransactions.push(...objectsIn(trace['transactions']));
    found.pendingActions.push(...objectsIn(trace['actions']));
  }
  return found;
}
