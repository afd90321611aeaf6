import type { ActionRow } from '../actions/actions.ts';
import { supportedTypes } from '../actions/sets.ts';
import { memberEpoch, type TraceRow } from '../chain/trace-index.ts';
import { demand, type Params } from './params.ts';
import type { Reply } from './reply.ts';
import { scanSlots } from './scan.ts';
import { traceFilter, traceKeys } from './traces.ts';
import type { View } from './view.ts';

/** Maximum number of distinct transactions in one response. */
const MOST_TRANSACTIONS = 100;
const BROKEN = 'ERROR: missing FROM-clause entry for table (SQLSTATE 42P01)';

/** `/actions` */
export function actions(reply: Reply): Buffer {
  const { view, params } = reply;
  const mcSeqno = params.int32('mc_seqno');
  const [wanted, unwanted] = [typesOf(params, 'action_type'), typesOf(params, 'exclude_action_type')];
  const supported = supportedTypes(params.texts('supported_action_types'));
  refuseBroken(params, mcSeqno, wanted.size + unwanted.size > 0);
  const ids = new Set(params.hashes('action_id').map((hash) => hash.toString('base64')));
  const replaced = ids.size > 0 || (params.hashes('trace_id').length > 0 && !params.has('account'));
  const keys = ids.size > 0 ? actionTraces(view, params) : traceKeys(view, params);
  if (mcSeqno !== undefined && !replaced) view.requireTransactions(mcSeqno);
  const keepTrace = replaced ? (trace: TraceRow) => view.isComplete(trace) : traceFilter(view, params);
  const hashes = new Set(params.hashes('tx_hash').map((hash) => hash.toString('base64')));
  const keep = (row: ActionRow): boolean => {
    const { type, ancestors, members } = row.plan;
    if (ids.size > 0 && !ids.has(row.actionId)) return false;
    if (ancestors.some((one) => supported.has(one))) return false;
    if (wanted.size > 0 ? !wanted.has(type) : !supported.has(type)) return false;
    if (unwanted.has(type)) return false;
    return hashes.size === 0 || members.some((member) => hashes.has(view.actions.hashOf(row.trace, member)));
  };
  const rowsOf = (list: readonly TraceRow[]): readonly ActionRow[] =>
    list
      .filter(keepTrace)
      .flatMap((trace) => view.classified(trace))
      .filter(keep);
  const byTime = !replaced && params.bounds().byTime;
  const direct = keys ?? (mcSeqno === undefined ? undefined : view.traces.endingIn(mcSeqno));
  const rows = scanSlots<ActionRow>(reply, {
    rowsIn: (slot) => rowsOf(view.traces.endLtIn(slot)),
    direct: direct && rowsOf(direct),
    keyOf: ({ trace }) => (byTime ? trace.endUtime : trace.endLt),
    tieOf: (row) => `${row.traceId} ${byTime ? row.endUtime : row.endLt} ${row.actionId}`,
    byTime,
  });
  const accounts = params.bool('include_accounts') === true;
  const transactions = params.bool('include_transactions') === true ? wholeTransactions(reply, rows) : undefined;
  const texts = rows.map((row) => view.actions.text(row, { meet: reply.meet, accounts, transactions }));
  return reply.list('actions', texts, true);
}

function actionTraces(view: View, params: Params): readonly TraceRow[] {
  const found = params.hashes('action_id').flatMap((hash) => view.actions.traceOfAction(hash) ?? []);
  return [...new Map(found.map((trace) => [`${trace.plan.root.id} ${trace.epoch}`, trace])).values()];
}

function typesOf(params: Params, name: string): ReadonlySet<string> {
  const types = params.texts(name);
  const isValid = types.every((type) => /^[A-Za-z0-9_.]+$/.test(type));
  demand(isValid, `${name} contains invalid characters`);
  return new Set(types);
}

/** Fails for combinations of filters for which the server builds invalid SQL. */
function refuseBroken(params: Params, mcSeqno: number | undefined, byType: boolean): void {
  const [account, transaction, message] = ['account', 'tx_hash', 'msg_hash'].map(
    (name) => params.text(name) !== undefined,
  );
  const named = params.text('trace_id') !== undefined || params.text('action_id') !== undefined;
  const block = mcSeqno !== undefined;
  const broken = named ? byType : (account && (block || transaction || message)) || (transaction && (message || block));
  demand(!broken, BROKEN, 500);
}

function wholeTransactions(reply: Reply, rows: readonly ActionRow[]): ReadonlyMap<string, string> {
  const { view } = reply;
  const found = new Map<string, string>();
  for (const { trace, plan } of rows) {
    for (const member of plan.members) {
      if (found.size >= MOST_TRANSACTIONS) return found;
      const row = view.chain.row(trace.plan.template, member, memberEpoch(trace, member));
      found.set(view.actions.hashOf(trace, member), reply.transactionText(row));
    }
  }
  return found;
}
