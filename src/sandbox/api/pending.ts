import { type ActionRow, isShown, supportedTypes } from '../actions/actions.ts';
import type { Account } from '../chain/accounts.ts';
import { slotOf } from '../chain/clock.ts';
import { masterchainSeqno, type TransactionRow } from '../chain/model.ts';
import type { TraceRow } from '../chain/trace-index.ts';
import { htmlSafe } from '../page/json.ts';
import type { Ask } from './ask.ts';
import { demand } from './errors.ts';
import { actionText, type TraceSource, traceText } from './event-texts.ts';
import { rows } from './list.ts';
import type { View } from './view.ts';

/** Blocks after the head whose traces are predicted, and blocks before it whose traces may be unfinished. */
const FORESEEN = 3;
const UNFINISHED = 12;
/** Types whose traces the store of pending traces does not have. */
const LEFT_OUT = /^(layerzero|cocoon|jvault_stake)/;
const STATE_KEYS = ['balance', 'extra_currencies', 'account_status', 'frozen_hash', 'data_hash', 'code_hash'];

/** From the least final to the most. */
const FINALITIES = ['pending', 'confirmed', 'finalized'] as const;
type Finality = (typeof FINALITIES)[number];

function refuseUnnamed(ask: Ask): void {
  demand(ask.has('account', 'ext_msg_hash'), 'account or ext_msg_hash should be specified');
}

function askedFor(ask: Ask): readonly TraceRow[] {
  const { view } = ask;
  const account = ask.text('account');
  const hashes = new Set(ask.list('ext_msg_hash'));
  return underWay(view).filter((trace) => {
    if (account !== undefined) return view.traces.rowsOf(trace).some((row) => row.account === account);
    return Object.values(view.actions.externalHashes(trace)).some((hash) => hashes.has(String(hash)));
  });
}

/** Traces from outside that are not complete, including those that begin soon. */
function underWay(view: View): readonly TraceRow[] {
  const head = slotOf(view.head());
  const found: TraceRow[] = [];
  for (let slot = head - UNFINISHED; slot <= head + FORESEEN; slot += 1) {
    for (const { template, message, epoch } of view.chain.createdIn(slot)) {
      if (message.from !== undefined || message.to === undefined) continue;
      const trace = view.traces.of(view.chain.row(template, message.to, epoch));
      if (trace === undefined || view.actions.of(trace).some(({ plan }) => LEFT_OUT.test(plan.type))) continue;
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
function actionsOf(ask: Ask, trace: TraceRow): readonly ActionRow[] {
  const types = supportedTypes(ask.list('supported_action_types'));
  return ask.view.actions.of(trace).filter((row) => isShown(row, types));
}

/** A trace as the store of pending traces has it. */
function pendingSource(ask: Ask, trace: TraceRow): TraceSource {
  const { view } = ask;
  const finalities = view.traces.rowsOf(trace).map((row) => finalityOf(view, row));
  const [root] = view.traces.rowsOf(trace, [trace.plan.root]);
  const isRootKnown = root !== undefined && finalityOf(view, root) !== 'pending';
  return {
    hashOf: (row) => shownHash(view, row),
    textOf: (row) => {
      ask.transaction(row);
      return foreseenText(view, trace, row, isRootKnown);
    },
    endSeqno: view.head() + 1,
    isRootKnown,
    finality: FINALITIES.find((finality) => finalities.includes(finality)) ?? 'finalized',
    hasAccounts: true,
    pendingMessages: finalities.filter((finality) => finality === 'pending').length,
  };
}

/** Some predictions are wrong: their hashes never get on chain. */
function shownHash(view: View, row: TransactionRow): string {
  const hash = view.chain.transactionHash(row);
  if (finalityOf(view, row) !== 'pending' || row.transaction.id % 4 !== 1) return hash;
  const bytes = Buffer.from(hash, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 0xff;
  return bytes.toString('base64');
}

interface Shown {
  in_msg: { source: unknown; destination: unknown; value_extra_currencies: unknown } | null;
  out_msgs: { destination: unknown; value_extra_currencies: unknown }[];
  description: Record<string, unknown>;
  account_state_before: Record<string, unknown>;
  account_state_after: Record<string, unknown>;
  [key: string]: unknown;
}

/** A transaction as the store of pending traces has it. */
function foreseenText(view: View, trace: TraceRow, row: TransactionRow, isRootKnown: boolean): string {
  const finality = finalityOf(view, row);
  const known: Shown = JSON.parse(view.records.transaction(row));
  const { type, aborted, destroyed, credit_first: first, ...phases } = known.description;
  for (const state of [known.account_state_before, known.account_state_after]) {
    for (const key of STATE_KEYS) state[key] = null;
  }
  if (known.in_msg !== null && known.in_msg.source === null) known.in_msg.value_extra_currencies = {};
  for (const message of known.out_msgs) if (message.destination === null) message.value_extra_currencies = {};
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(known)) {
    if (key !== 'trace_id' || isRootKnown) made[key] = value;
    if (key === 'trace_id') made['trace_external_hash'] = view.actions.externalHashes(trace)['trace_external_hash'];
  }
  made['hash'] = shownHash(view, row);
  made['description'] = { type, aborted, destroyed, credit_first: first, is_tock: false, installed: false, ...phases };
  made['emulated'] = finality === 'pending';
  made['finality'] = finality;
  if (finality === 'pending') {
    made['mc_block_seqno'] = view.head();
    made['block_ref'] = startedFrom(view, row.transaction.account) ?? made['block_ref'];
  }
  return htmlSafe(made);
}

/** Newest block of the shard of an account. */
function startedFrom(view: View, account: Account): unknown {
  const state = view.chain
    .stateOf(view.head())
    .find(({ plan }) => plan.name.workchain === account.workchain && account.idBits.startsWith(plan.prefix));
  if (state === undefined) return undefined;
  const { shard, seqno } = view.blocks.facts(state);
  return { workchain: account.workchain, shard, seqno };
}

/** What the store of pending traces has. */
export const pendingLists = {
  /** Only predicted ones. */
  'GET /pendingTransactions': rows<{ readonly trace: TraceRow; readonly row: TransactionRow }>({
    refuse: (ask) => demand(ask.has('account'), 'at least 1 account address required'),
    rows: (ask) => {
      const accounts = new Set(ask.list('account'));
      const found = underWay(ask.view).flatMap((trace) => {
        const rows = ask.view.traces.rowsOf(trace).filter(({ account }) => accounts.has(account));
        return rows.map((row) => ({ trace, row }));
      });
      demand(found.length > 0, 'emulated traces not found', 404);
      return found;
    },
    keep: ({ row }, { view }) => finalityOf(view, row) === 'pending',
    order: () => [],
    record: ({ trace, row }, ask) => pendingSource(ask, trace).textOf(row),
    // All of them are on chain.
    isNull: true,
  }),
  'GET /pendingTraces': rows<TraceRow>({
    refuse: refuseUnnamed,
    rows: askedFor,
    order: () => [],
    record: (trace, ask) => traceText(ask, trace, pendingSource(ask, trace), actionsOf(ask, trace)),
    isNull: true,
  }),
  'GET /pendingActions': rows<ActionRow>({
    refuse: refuseUnnamed,
    rows: (ask) => askedFor(ask).flatMap((trace) => actionsOf(ask, trace)),
    order: () => [
      [({ trace }) => trace.endLt, -1],
      [({ endLt }) => endLt, -1],
      [({ startLt }) => startLt, -1],
    ],
    record: (row, ask) => {
      const source = pendingSource(ask, row.trace);
      const rows = ask.isOn('include_transactions') ? ask.view.traces.rowsOf(row.trace) : undefined;
      const texts = rows && new Map(rows.map((each) => [source.hashOf(each), source.textOf(each)]));
      return actionText(ask, row, source, texts);
    },
  }),
};
