import { actionTypeSets } from '../../api/facts.ts';
import { type Account, addressOf } from '../chain/accounts.ts';
import type { Chain } from '../chain/chain.ts';
import { remembered } from '../chain/mix.ts';
import type { Template, Transaction } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, memberEpoch, type TraceIndex, type TracePlan, type TraceRow } from '../chain/trace-index.ts';
import { type JsonRecord, jsonOf, recordOf, Verbatim } from '../page/json.ts';
import { type ActionPlan, planActions } from './plans.ts';

/** An action of a trace in a certain epoch. */
export interface ActionRow {
  readonly trace: TraceRow;
  readonly plan: ActionPlan;
  readonly traceId: string;
  readonly actionId: string;
  readonly startLt: number;
  readonly endLt: number;
  readonly startUtime: number;
  readonly endUtime: number;
}

/** What an action is written with. */
export interface ActionSurroundings {
  /** Adds an account to the address book; returns its raw address. */
  readonly meet: (account: Account, epoch: number) => string;
  /** Seqno shown as that of the end of the trace; default: the real one. */
  readonly endSeqno?: number;
  /** Whether to list the accounts. */
  readonly accounts?: boolean;
  /** JSON of transactions by hash, to list them. */
  readonly transactions?: ReadonlyMap<string, string> | undefined;
  readonly finality?: string;
  /** Hash shown for a transaction; default: the real one. */
  readonly hashOf?: (member: Transaction) => string;
  /** Whether to hide the id of the trace, because its root is not on chain yet. */
  readonly hideTraceId?: boolean;
}

const TYPE_SETS: Readonly<Record<string, readonly string[]>> = actionTypeSets;

/** The types that a request supports: those of `v1`, and those that it names; by default the latest. */
export function supportedTypes(names: readonly string[]): ReadonlySet<string> {
  const types = new Set<string>();
  const visit = (name: string): void => {
    const members = TYPE_SETS[name];
    if (members === undefined) types.add(name);
    else for (const member of members) visit(member);
  };
  for (const name of ['v1', ...(names.length === 0 ? ['latest'] : names)]) visit(name);
  return types;
}

/** Whether an action is listed for these types; one inside of a listed action is not. */
export function isShown({ plan }: ActionRow, types: ReadonlySet<string>): boolean {
  return types.has(plan.type) && !plan.ancestors.some((type) => types.has(type));
}

/** The actions of all traces. */
export class Actions {
  readonly #chain: Chain;
  readonly #traces: TraceIndex;
  readonly #plans = new Map<Template, ReadonlyMap<TracePlan, readonly ActionPlan[]>>();

  constructor(chain: Chain, traces: TraceIndex) {
    this.#chain = chain;
    this.#traces = traces;
  }

  of(trace: TraceRow): readonly ActionRow[] {
    return (this.#planned(trace.plan.template).get(trace.plan) ?? []).map((plan) => this.#row(trace, plan));
  }

  #planned(template: Template): ReadonlyMap<TracePlan, readonly ActionPlan[]> {
    const { epoch, seed } = this.#chain;
    return remembered(this.#plans, template, () => planActions(this.#traces.plans(template), epoch.cast, seed));
  }

  /** The trace of an action id. */
  traceOfAction(hash: string, head: number): TraceRow | undefined {
    const root = this.#chain.transactionByHash(hash, head);
    if (root !== undefined) return this.#traces.of(root);
    const tag = this.#chain.codec.decode(Buffer.from(hash, 'base64'));
    const template = tag?.kind === HASH_KIND.action ? this.#chain.template(tag.family) : undefined;
    if (tag === undefined || template === undefined) return undefined;
    const named = [...this.#planned(template)].find(([, plans]) => plans.some((plan) => plan.id === tag.id));
    return named && this.#traces.of(this.#chain.row(template, named[0].root, tag.epoch));
  }

  hashOf(trace: TraceRow, member: Transaction): string {
    return this.#chain.transactionHash({
      template: trace.plan.template,
      transaction: member,
      epoch: memberEpoch(trace, member),
    });
  }

  #row(trace: TraceRow, plan: ActionPlan): ActionRow {
    const { template } = trace.plan;
    const traceId = this.hashOf(trace, trace.plan.root);
    const rows = plan.members.map((member) => this.#chain.row(template, member, memberEpoch(trace, member)));
    const lts = rows.map(({ lt }) => lt);
    const times = rows.map(({ now }) => now);
    return {
      trace,
      plan,
      traceId,
      actionId:
        plan.type === 'unknown'
          ? traceId
          : this.#chain.codec.hash(template.family, HASH_KIND.action, plan.id, trace.epoch),
      startLt: Math.min(...lts),
      endLt: Math.max(...lts),
      startUtime: Math.min(...times),
      endUtime: Math.max(...times),
    };
  }

  /** The JSON of an action. */
  text(row: ActionRow, around: ActionSurroundings): string {
    const { trace, plan } = row;
    const { meet, finality = 'finalized', transactions } = around;
    const hashes = plan.members.map(around.hashOf ?? ((member) => this.hashOf(trace, member))).reverse();
    const accounts = [...new Set(plan.members.map((member) => meet(member.account, memberEpoch(trace, member))))];
    const details = plan.details?.((account) => (account ? meet(account, trace.epoch) : null), trace.epoch);
    const record = {
      trace_id: around.hideTraceId === true ? null : row.traceId,
      action_id: row.actionId,
      start_lt: String(row.startLt),
      end_lt: String(row.endLt),
      start_utime: row.startUtime,
      end_utime: row.endUtime,
      trace_end_lt: String(trace.endLt),
      trace_end_utime: trace.endUtime,
      trace_mc_seqno_end: around.endSeqno ?? endSeqno(trace),
      transactions: hashes,
      success: plan.success,
      type: plan.shownType,
    };
    return jsonOf({
      ...record,
      details: details ?? { error: 'details are not supported' },
      raw_action: details ? undefined : this.#raw(row, { ...record, finality, accounts }),
      ...this.externalHashes(trace),
      accounts: around.accounts === true ? accounts : undefined,
      transactions_full: transactions && hashes.flatMap((hash) => verbatim(transactions.get(hash))),
      finality,
    });
  }

  /** Hash of the message that began a trace, and its normalized hash if there is one. */
  externalHashes(trace: TraceRow): JsonRecord {
    const message = trace.plan.root.incoming;
    if (message === undefined) return {};
    const row = { template: trace.plan.template, message, epoch: trace.epoch };
    return {
      trace_external_hash: this.#chain.messageHash(row),
      trace_external_hash_norm: message.normalized ? this.#chain.normalizedHash(row) : undefined,
    };
  }

  /** The row of an action in the database of the server. */
  #raw({ trace, plan, ...row }: ActionRow, shown: JsonRecord): JsonRecord {
    const { root } = trace.plan;
    const { trace_external_hash: hash, trace_external_hash_norm: norm } = this.externalHashes(trace);
    return recordOf('RawAction', {
      TraceId: row.traceId,
      ActionId: row.actionId,
      StartLt: row.startLt,
      EndLt: row.endLt,
      StartUtime: row.startUtime,
      EndUtime: row.endUtime,
      TraceEndLt: trace.endLt,
      TraceEndUtime: shown['trace_end_utime'],
      TraceMcSeqnoEnd: shown['trace_mc_seqno_end'],
      Source: addressOf(root.account, trace.epoch, this.#chain.codec),
      Opcode: root.incoming?.body.opcode,
      TxHashes: shown['transactions'],
      Type: plan.type,
      Success: plan.success,
      Finality: shown['finality'],
      TraceExternalHash: hash,
      TraceExternalHashNorm: norm,
      AncestorType: plan.ancestors,
      Accounts: shown['accounts'],
    });
  }
}

function verbatim(text: string | undefined): readonly Verbatim[] {
  return text === undefined ? [] : [new Verbatim(text)];
}
