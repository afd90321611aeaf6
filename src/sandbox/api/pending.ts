import { supportedTypes } from '../actions/sets.ts';
import type { Account } from '../chain/accounts.ts';
import { slotOf, utimeOf } from '../chain/clock.ts';
import type { Transaction } from '../chain/model.ts';
import { endSlot, memberEpoch, type TraceRow } from '../chain/trace-index.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import { shuffled } from './scan.ts';
import { traceText, type Unfinished } from './traces.ts';
import type { View } from './view.ts';

/** Blocks beyond the head whose traces are foreseen, and blocks before it whose traces may be unfinished. */
const FORESEEN = 3;
const UNFINISHED = 12;
/** Types whose traces the pending store leaves out. */
const LEFT_OUT = /^(layerzero|cocoon|jvault_stake)/;
const STATE_KEYS = ['balance', 'extra_currencies', 'account_status', 'frozen_hash', 'data_hash', 'code_hash'];

type Finality = 'pending' | 'confirmed' | 'finalized';

/** `/pendingTransactions`: only what is foreseen of the accounts. */
export function pendingTransactions(view: View, params: Params, shuffle: number): Buffer {
  const accounts = new Set(params.addresses('account'));
  if (accounts.size === 0) throw new ApiError(422, 'at least 1 account address required');
  const reply = new Reply(view, params);
  const rows = underWay(view).flatMap((trace) =>
    trace.plan.members
      .map((member) => view.chain.row(trace.plan.template, member, memberEpoch(trace, member)))
      .filter((row) => accounts.has(row.account) && finalityOf(view, trace, row.transaction) === 'pending')
      .map((row) => {
        view.addresses.meetTransaction(reply.met, row.transaction, row.epoch);
        return foreseenText(view, trace, row.transaction);
      }),
  );
  if (rows.length === 0) throw new ApiError(404, 'emulated traces not found');
  return reply.list('transactions', shuffled(rows, shuffle), false);
}

/** `/pendingTraces` */
export function pendingTraces(view: View, params: Params, shuffle: number): Buffer {
  const found = askedFor(view, params);
  const reply = new Reply(view, params);
  const types = supportedTypes(params.texts('supported_action_types'));
  const rows = shuffled(found, shuffle).map((trace) => {
    const unfinished: Unfinished = {
      endSeqno: view.head() + 1,
      rootKnown: finalityOf(view, trace, trace.plan.root) !== 'pending',
      pendingMessages: trace.plan.members.filter((member) => finalityOf(view, trace, member) === 'pending').length,
      actions: actionTexts(view, reply, trace, types, false),
      hashOf: (member) => shownHash(view, trace, member),
      textOf: (member) => foreseenText(view, trace, member),
    };
    return traceText(view, reply, trace, undefined, unfinished);
  });
  return reply.list('traces', rows.length === 0 ? null : rows, true);
}

/** `/pendingActions` */
export function pendingActions(view: View, params: Params): Buffer {
  const found = askedFor(view, params);
  const reply = new Reply(view, params);
  const types = supportedTypes(params.texts('supported_action_types'));
  const whole = params.bool('include_transactions') === true;
  const rows = [...found]
    .sort((a, b) => b.endLt - a.endLt)
    .flatMap((trace) => actionTexts(view, reply, trace, types, whole));
  return reply.list('actions', rows, true);
}

function askedFor(view: View, params: Params): readonly TraceRow[] {
  const [account] = params.firstAddress('account');
  const hashes = new Set(params.hashes('ext_msg_hash').map((hash) => hash.toString('base64')));
  if (account === undefined && hashes.size === 0) {
    throw new ApiError(422, 'account or ext_msg_hash should be specified');
  }
  return underWay(view).filter((trace) => {
    if (account === undefined) {
      return Object.values(view.actions.externalHashes(trace)).some((hash) => hashes.has(String(hash)));
    }
    return trace.plan.members.some(
      (member) => view.chain.row(trace.plan.template, member, memberEpoch(trace, member)).account === account,
    );
  });
}

/** Traces from outside that have begun or soon will, and are not complete. */
function underWay(view: View): readonly TraceRow[] {
  const head = slotOf(view.head());
  const found: TraceRow[] = [];
  for (let slot = head - UNFINISHED; slot <= head + FORESEEN; slot += 1) {
    for (const { template, message, epoch } of view.chain.createdIn(slot)) {
      if (message.from !== undefined || message.to === undefined) continue;
      const trace = view.chain.traces.of(view.chain.row(template, message.to, epoch));
      if (trace === undefined || view.actions.of(trace).some(({ plan }) => LEFT_OUT.test(plan.type))) continue;
      if (trace.plan.members.some((member) => finalityOf(view, trace, member) !== 'finalized')) found.push(trace);
    }
  }
  return found;
}

function finalityOf(view: View, trace: TraceRow, member: Transaction): Finality {
  const row = view.chain.row(trace.plan.template, member, memberEpoch(trace, member));
  const ahead = view.masterchainSeqno(row) - view.head();
  return ahead <= 0 ? 'finalized' : ahead === 1 ? 'confirmed' : 'pending';
}

/** Some of what is foreseen comes otherwise: its hash is never on chain. */
function shownHash(view: View, trace: TraceRow, member: Transaction): string {
  const hash = view.actions.hashOf(trace, member);
  if (finalityOf(view, trace, member) !== 'pending' || member.id % 4 !== 1) return hash;
  const bytes = Buffer.from(hash, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 0xff;
  return bytes.toString('base64');
}

interface State {
  [key: string]: unknown;
}

interface Shown {
  in_msg: { source: unknown; destination: unknown; value_extra_currencies: unknown } | null;
  out_msgs: { destination: unknown; value_extra_currencies: unknown }[];
  description: Record<string, unknown>;
  account_state_before: State;
  account_state_after: State;
  [key: string]: unknown;
}

/** A transaction as the pending store tells it. */
function foreseenText(view: View, trace: TraceRow, member: Transaction): string {
  const row = view.chain.row(trace.plan.template, member, memberEpoch(trace, member));
  const finality = finalityOf(view, trace, member);
  const known: Shown = JSON.parse(view.transactionText(row));
  const { type, aborted, destroyed, credit_first: first, ...phases } = known.description;
  for (const state of [known.account_state_before, known.account_state_after]) {
    for (const key of STATE_KEYS) state[key] = null;
  }
  if (known.in_msg !== null && known.in_msg.source === null) known.in_msg.value_extra_currencies = {};
  for (const message of known.out_msgs) if (message.destination === null) message.value_extra_currencies = {};
  const rootKnown = finalityOf(view, trace, trace.plan.root) !== 'pending';
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(known)) {
    if (key === 'trace_id') {
      if (rootKnown) made[key] = value;
      made['trace_external_hash'] = view.actions.externalHashes(trace)['trace_external_hash'];
    } else made[key] = value;
  }
  made['hash'] = shownHash(view, trace, member);
  made['description'] = { type, aborted, destroyed, credit_first: first, is_tock: false, installed: false, ...phases };
  made['emulated'] = finality === 'pending';
  made['finality'] = finality;
  if (finality === 'pending') {
    made['mc_block_seqno'] = view.head();
    made['block_ref'] = startedFrom(view, member.account) ?? made['block_ref'];
  }
  return JSON.stringify(made).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** The newest block of the shard that an account is in. */
function startedFrom(view: View, account: Account): unknown {
  const state = view.chain
    .stateOf(view.head())
    .find(({ plan }) => plan.name.workchain === account.workchain && account.idBits.startsWith(plan.prefix));
  if (state === undefined) return undefined;
  const { shard, seqno } = view.blocks.facts(state);
  return { workchain: account.workchain, shard, seqno };
}

function actionTexts(
  view: View,
  reply: Reply,
  trace: TraceRow,
  types: ReadonlySet<string>,
  whole: boolean,
): readonly string[] {
  const finalities = trace.plan.members.map((member) => finalityOf(view, trace, member));
  const least = finalities.includes('pending')
    ? 'pending'
    : finalities.includes('confirmed')
      ? 'confirmed'
      : 'finalized';
  const transactions = whole
    ? new Map(trace.plan.members.map((member) => [shownHash(view, trace, member), foreseenText(view, trace, member)]))
    : undefined;
  return view.actions
    .of(trace)
    .filter(({ plan }) => types.has(plan.type) && !plan.ancestors.some((type) => types.has(type)))
    .sort((a, b) => b.endLt - a.endLt || b.startLt - a.startLt)
    .map((row) =>
      view.actions.text(row, {
        meet: (account, epoch) => reply.meet(account, epoch),
        traceEndUtime: utimeOf(endSlot(trace)),
        traceEndSeqno: view.head() + 1,
        accounts: true,
        transactions,
        finality: least,
        hashOf: (member) => shownHash(view, trace, member),
        hideTraceId: finalityOf(view, trace, trace.plan.root) === 'pending',
      }),
    );
}
