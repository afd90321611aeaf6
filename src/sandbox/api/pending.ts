import { enums } from '../../../api/facts.ts';
import { type ActionRow, isShown, supportedTypes } from '../actions/actions.ts';
import type { Account } from '../chain/accounts.ts';
import { slotOf } from '../chain/clock.ts';
import { masterchainSeqno, type TransactionRow } from '../chain/model.ts';
import type { TraceRow } from '../chain/trace-index.ts';
import type { JsonRecord } from '../page/json.ts';
import { demand } from './api-error.ts';
import { actionRecord, type TraceSource, traceRecord } from './event-records.ts';
import { rows } from './list.ts';
import type { ParsedRequest } from './parsed-request.ts';
import type { View } from './view.ts';

/** Blocks after the head whose traces are predicted, and blocks before it whose traces may be unfinished. */
const PREDICTED_BLOCKS = 3;
const UNFINISHED_BLOCKS = 12;
/** Types whose traces the store of pending traces does not have. */
const UNLISTED_TYPES = /^(layerzero|cocoon|jvault_stake)/;

type Finality = (typeof enums.finality)[number];

function refuseUnnamed(request: ParsedRequest): void {
  demand(request.has('account', 'ext_msg_hash'), 'account or ext_msg_hash should be specified');
}

function requestedTraces(request: ParsedRequest): readonly TraceRow[] {
  const { view } = request;
  const account = request.text('account');
  const hashes = new Set(request.list('ext_msg_hash'));
  return underWay(view).filter((trace) => {
    if (account !== undefined) return view.traces.rowsOf(trace).some((row) => row.account === account);
    return Object.values(view.actions.externalHashes(trace)).some((hash) => hash !== undefined && hashes.has(hash));
  });
}

/** Traces from outside that are not complete, including those that begin soon. */
function underWay(view: View): readonly TraceRow[] {
  const head = slotOf(view.head());
  const found: TraceRow[] = [];
  for (let slot = head - UNFINISHED_BLOCKS; slot <= head + PREDICTED_BLOCKS; slot += 1) {
    for (const { template, message, epoch } of view.chain.createdIn(slot)) {
      if (message.from !== undefined || message.to === undefined) continue;
      const trace = view.traces.of(view.chain.row(template, message.to, epoch));
      if (trace === undefined || view.actions.of(trace).some(({ plan }) => UNLISTED_TYPES.test(plan.type))) continue;
      if (view.traces.rowsOf(trace).some((row) => finalityOf(view, row) !== 'finalized')) found.push(trace);
    }
  }
  return found;
}

function finalityOf(view: View, row: TransactionRow): Finality {
  const ahead = masterchainSeqno(row) - view.head();
  return ahead <= 0 ? 'finalized' : ahead === 1 ? 'confirmed' : 'pending';
}

/** The actions of a trace that a request supports. */
function actionsOf(request: ParsedRequest, trace: TraceRow): readonly ActionRow[] {
  const types = supportedTypes(request.list('supported_action_types'));
  return request.view.actions.of(trace).filter((row) => isShown(row, types));
}

/** A trace as the store of pending traces has it. */
function pendingSource(request: ParsedRequest, trace: TraceRow): TraceSource {
  const { view } = request;
  const finalities = view.traces.rowsOf(trace).map((row) => finalityOf(view, row));
  const [root] = view.traces.rowsOf(trace, [trace.plan.root]);
  const isRootKnown = root !== undefined && finalityOf(view, root) !== 'pending';
  return {
    hashOf: (row) => pendingHash(view, row),
    recordOf: (row) => predictedRecord(request, trace, row, isRootKnown),
    endSeqno: view.head() + 1,
    isRootKnown,
    // They stand in the order of their finality.
    finality: enums.finality.find((finality) => finalities.includes(finality)) ?? 'finalized',
    hasAccounts: true,
    pendingMessages: finalities.filter((finality) => finality === 'pending').length,
  };
}

/** Some predictions are wrong: their hashes never get on chain. */
function pendingHash(view: View, row: TransactionRow): string {
  const hash = view.chain.transactionHash(row);
  if (finalityOf(view, row) !== 'pending' || row.transaction.id % 4 !== 1) return hash;
  const bytes = Buffer.from(hash, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 0xff;
  return bytes.toString('base64');
}

/** A transaction as the store of pending traces has it. */
function predictedRecord(
  request: ParsedRequest,
  trace: TraceRow,
  row: TransactionRow,
  isRootKnown: boolean,
): JsonRecord {
  const { view } = request;
  const finality = finalityOf(view, row);
  const known = request.transaction(row);
  const { in_msg: incoming, out_msgs: outgoing, account_state_before: before, account_state_after: after } = known;
  const isPending = finality === 'pending';
  return {
    ...known,
    hash: pendingHash(view, row),
    mc_block_seqno: isPending ? view.head() : known.mc_block_seqno,
    trace_id: isRootKnown ? known.trace_id : undefined,
    trace_external_hash: view.actions.externalHashes(trace).trace_external_hash,
    description: { ...known.description, is_tock: false, installed: false },
    block_ref: (isPending ? newestShardBlock(view, row.transaction.account) : undefined) ?? known.block_ref,
    in_msg: incoming && { ...incoming, value_extra_currencies: incoming.value_extra_currencies ?? {} },
    out_msgs: outgoing.map((one) => ({ ...one, value_extra_currencies: one.value_extra_currencies ?? {} })),
    account_state_before: { hash: before.hash },
    account_state_after: { hash: after.hash },
    emulated: isPending,
    finality,
  };
}

/** Newest block of the shard of an account. */
function newestShardBlock(view: View, account: Account): JsonRecord | undefined {
  const state = view.chain
    .stateOf(view.head())
    .find(({ plan }) => plan.name.workchain === account.workchain && account.idBits.startsWith(plan.prefix));
  if (state === undefined) return undefined;
  const { shard, seqno } = view.blocks.facts(state);
  return { workchain: account.workchain, shard, seqno };
}

/** Lists from the store of pending traces. */
export const pendingLists = {
  /** Only predicted ones. */
  'GET /pendingTransactions': rows<{ readonly trace: TraceRow; readonly row: TransactionRow }>({
    refuse: (request) => demand(request.has('account'), 'at least 1 account address required'),
    rows: (request) => {
      const accounts = new Set(request.list('account'));
      const found = underWay(request.view).flatMap((trace) => {
        const rows = request.view.traces.rowsOf(trace).filter(({ account }) => accounts.has(account));
        return rows.map((row) => ({ trace, row }));
      });
      demand(found.length > 0, 'emulated traces not found', 404);
      return found;
    },
    filter: ({ row }, { view }) => finalityOf(view, row) === 'pending',
    order: () => [],
    record: ({ trace, row }, request) => pendingSource(request, trace).recordOf(row),
    // All of them are on chain.
    isNull: true,
  }),
  'GET /pendingTraces': rows<TraceRow>({
    refuse: refuseUnnamed,
    rows: requestedTraces,
    order: () => [],
    record: (trace, request) => traceRecord(request, trace, pendingSource(request, trace), actionsOf(request, trace)),
    isNull: true,
  }),
  'GET /pendingActions': rows<ActionRow>({
    refuse: refuseUnnamed,
    rows: (request) => requestedTraces(request).flatMap((trace) => actionsOf(request, trace)),
    order: () => [
      [({ trace }) => trace.endLt, -1],
      [({ endLt }) => endLt, -1],
      [({ startLt }) => startLt, -1],
    ],
    record: (row, request) => {
      const source = pendingSource(request, row.trace);
      const rows = request.isOn('include_transactions') ? request.view.traces.rowsOf(row.trace) : undefined;
      const shown = rows && new Map(rows.map((each) => [source.hashOf(each), source.recordOf(each)]));
      return actionRecord(request, row, source, shown);
    },
  }),
};
