import { planRequest } from '../api/client/build-request.ts';
import { cellOf, isSentObject, parseSent, type SentObject, type SentValue } from '../api/client/exact-json.ts';
import { endpointOf } from '../api/endpoints.ts';
import type { Given } from '../decode/table-rows.ts';
import type { Source } from '../http/source.ts';
import { type Ending, objectsIn, type Sighting, type Sightings } from './sightings.ts';

/** Number of messages per request; each trace is returned with all its transactions. */
const BATCH = 20;

/** A trace that is complete on chain. */
export interface Settled {
  readonly externalHash: string;
  readonly traceId: string;
  readonly seqno: number;
}

/** Looks for complete traces of messages, and sets how their rows ended. */
export async function settle(
  source: Source,
  sightings: Sightings,
  externals: readonly string[],
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  for (let at = 0; at < externals.length; at += BATCH) {
    const wanted = externals.slice(at, at + BATCH);
    const ask = planRequest(endpointOf('traces'), { msg_hash: wanted, limit: 1000 });
    const answer = await source.fetch({ ...ask, missing: 'answer', label: 'watch traces' }, ({ status, body }) =>
      status === 404 ? null : parseSent(body, 'watch'),
    );
    for (const trace of objectsIn(isSentObject(answer) ? answer['traces'] : null)) {
      const externalHash = cellOf(trace['external_hash']);
      if (externalHash === null || !wanted.includes(externalHash) || !isOver(trace)) continue;
      settled.push(endRows(sightings, externalHash, trace));
    }
  }
  return settled;
}

/** Older databases list traces that are still growing, or whose messages do not link up: nothing says how their rows ended. */
function isOver(trace: SentObject): boolean {
  const facts = trace['trace_info'];
  const state = isSentObject(facts) ? cellOf(facts['trace_state']) : null;
  return state === null || state === 'complete';
}

function endRows(sightings: Sightings, externalHash: string, trace: SentObject): Settled {
  const traceId = cellOf(trace['trace_id']) ?? '';
  const seqno = cellOf(trace['mc_seqno_end']) ?? '0';
  const whole: Ending = {
    outcome: 'on_chain',
    columns: { final_trace_id: traceId, final_seqno: BigInt(seqno) },
  };
  for (const row of sightings.of(externalHash, 'pendingTraces')) row.end = whole;
  for (const row of sightings.of(externalHash, 'pendingActions')) row.end = whole;
  // Of a trace with too many transactions, none is listed: theirs keep no outcome, because nothing says which are on chain.
  if (trace['is_incomplete'] !== true) {
    endTransactions(sightings.of(externalHash, 'pendingTransactions'), objectsIn(trace['transactions']));
  }
  sightings.close(externalHash);
  return { externalHash, traceId, seqno: Number(seqno) };
}

/**
 * Finds the final transaction for each pending one: the one with the same hash, else the one that consumed the same message, else the
 * only unmatched one with the same account, sender and opcode. A message may have been predicted more than once.
 */
function endTransactions(seen: readonly Sighting[], finals: readonly SentObject[]): void {
  const byHash = new Map(finals.map((one) => [cellOf(one['hash']), one]));
  const byMessage = new Map(finals.map((one) => [messageOf(one), one]));
  const free = new Set(finals);
  const rest = seen.filter((row) => {
    const same = byHash.get(cellOf(row.record['hash']));
    const final = same ?? byMessage.get(messageOf(row.record));
    if (final === undefined) return true;
    free.delete(final);
    row.end = { outcome: same === undefined ? 'replaced' : 'on_chain', columns: columnsOf(final) };
    return false;
  });
  for (const row of rest) {
    const found = [...free].filter((one) => routeOf(one) === routeOf(row.record));
    const [final] = found;
    const isOne = found.length === 1 && final !== undefined;
    row.end = isOne ? { outcome: 'replaced', columns: columnsOf(final) } : { outcome: 'dropped', columns: {} };
  }
}

function columnsOf(final: SentObject): Given {
  const seqno = cellOf(final['mc_block_seqno']);
  return { final_hash: cellOf(final['hash']), final_seqno: seqno === null ? null : BigInt(seqno) };
}

function messageOf(transaction: SentObject): string {
  return `${cellOf(transaction['account'])} ${inMessage(transaction, 'hash')}`;
}

function routeOf(transaction: SentObject): string {
  return `${cellOf(transaction['account'])} ${inMessage(transaction, 'source')} ${inMessage(transaction, 'opcode')}`;
}

function inMessage(transaction: SentObject, field: string): string {
  const message: SentValue | undefined = transaction['in_msg'];
  return isSentObject(message) ? (cellOf(message[field]) ?? '') : '';
}
