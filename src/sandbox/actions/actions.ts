import { type Account, addressOf } from '../chain/accounts.ts';
import type { Chain } from '../chain/chain.ts';
import { EPOCH_BLOCKS, ltOf, utimeOf } from '../chain/clock.ts';
import type { Message, Transaction } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { memberEpoch, type TracePlan, type TraceRow } from '../chain/trace-index.ts';
import { type OrderedRecord, orderedJson, Verbatim } from '../page/json.ts';
import { type ActionPlan, planActions } from './plans.ts';
import { RAW_FIELDS } from './raw.ts';

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

/** What an action is written with besides itself. */
export interface ActionSurroundings {
  readonly meet: (account: Account, epoch: number) => string;
  readonly traceEndUtime: number;
  readonly traceEndSeqno: number;
  readonly accounts: boolean;
  /** JSON of whole transactions by hash; undefined when not asked for. */
  readonly transactions: ReadonlyMap<string, string> | undefined;
  readonly finality?: string;
  /** Hash that a transaction is shown with, where that is not its own. */
  readonly hashOf?: (member: Transaction) => string;
  /** Hides the trace's id while its root is not on chain. */
  readonly hideTraceId?: boolean;
}

/** The actions of all traces. */
export class Actions {
  readonly #chain: Chain;
  readonly #plans = new Map<number, ReadonlyMap<TracePlan, readonly ActionPlan[]>>();

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  of(trace: TraceRow): readonly ActionRow[] {
    return (this.#planned(trace.plan.template.family).get(trace.plan) ?? []).map((plan) => this.#row(trace, plan));
  }

  #planned(family: number): ReadonlyMap<TracePlan, readonly ActionPlan[]> {
    const known = this.#plans.get(family);
    if (known !== undefined) return known;
    const made = planActions(this.#chain.traces.plans(family), this.#chain.epoch.cast, this.#chain.seed);
    this.#plans.set(family, made);
    return made;
  }

  /** The trace an action hash names. */
  traceOfAction(hash: Buffer): TraceRow | undefined {
    const root = this.#chain.transactionByHash(hash);
    if (root !== undefined) return this.#chain.traces.of(root);
    const tag = this.#chain.codec.decode(hash);
    if (tag?.kind !== HASH_KIND.action) return undefined;
    for (const [trace, plans] of this.#planned(tag.family)) {
      if (!plans.some((plan) => plan.id === tag.id)) continue;
      return this.#chain.traces.of(this.#chain.row(trace.template, trace.root, tag.epoch));
    }
    return undefined;
  }

  hashOf(trace: TraceRow, member: Transaction): string {
    const { family } = trace.plan.template;
    return this.#chain.codec.hash(family, HASH_KIND.transaction, member.id, memberEpoch(trace, member));
  }

  #row(trace: TraceRow, plan: ActionPlan): ActionRow {
    const { template } = trace.plan;
    const traceId = this.hashOf(trace, trace.plan.root);
    const slotOf = (member: Transaction): number =>
      template.phase +
      template.period * memberEpoch(trace, member) +
      (template.period === EPOCH_BLOCKS ? member.slot : 0);
    const lts = plan.members.map(
      (member) => ltOf(template.phase + template.period * memberEpoch(trace, member)) + member.lt,
    );
    const times = plan.members.map((member) => utimeOf(slotOf(member)));
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
    const hashes = plan.members.map(around.hashOf ?? ((member) => this.hashOf(trace, member))).reverse();
    const accounts = [
      ...new Set(plan.members.map((member) => around.meet(member.account, memberEpoch(trace, member)))),
    ];
    const external = this.externalHashes(trace);
    const record: OrderedRecord = {
      trace_id: around.hideTraceId === true ? null : row.traceId,
      action_id: row.actionId,
      start_lt: String(row.startLt),
      end_lt: String(row.endLt),
      start_utime: row.startUtime,
      end_utime: row.endUtime,
      trace_end_lt: String(trace.endLt),
      trace_end_utime: around.traceEndUtime,
      trace_mc_seqno_end: around.traceEndSeqno,
      transactions: hashes,
      success: plan.success,
      type: plan.shownType,
      details:
        plan.details === undefined
          ? { error: 'details are not supported' }
          : plan.details((account) => (account === undefined ? null : around.meet(account, trace.epoch)), trace.epoch),
      raw_action: plan.details === undefined ? this.#raw(row, hashes, accounts, around) : undefined,
      ...external,
      accounts: around.accounts ? accounts : undefined,
      transactions_full:
        around.transactions === undefined
          ? undefined
          : hashes.flatMap((hash) => {
              const text = around.transactions?.get(hash);
              return text === undefined ? [] : [new Verbatim(text)];
            }),
      finality: around.finality ?? 'finalized',
    };
    return orderedJson(record);
  }

  /** Hash of the message that began a trace, and its normalized form where that differs. */
  externalHashes(trace: TraceRow): OrderedRecord {
    const message: Message | undefined = trace.plan.root.incoming;
    if (message === undefined) return {};
    const { family } = trace.plan.template;
    const hash = (kind: 2 | 3): string => this.#chain.codec.hash(family, kind, message.id, trace.epoch);
    return {
      trace_external_hash: hash(HASH_KIND.message),
      trace_external_hash_norm: message.normalized ? hash(HASH_KIND.normalized) : undefined,
    };
  }

  #raw(
    row: ActionRow,
    hashes: readonly string[],
    accounts: readonly string[],
    around: ActionSurroundings,
  ): OrderedRecord {
    const { trace, plan } = row;
    const root = trace.plan.root;
    const external = this.externalHashes(trace);
    const used: OrderedRecord = {
      TraceId: row.traceId,
      ActionId: row.actionId,
      StartLt: row.startLt,
      EndLt: row.endLt,
      StartUtime: row.startUtime,
      EndUtime: row.endUtime,
      TraceEndLt: trace.endLt,
      TraceEndUtime: around.traceEndUtime,
      TraceMcSeqnoEnd: around.traceEndSeqno,
      Source: addressOf(root.account, trace.epoch, this.#chain.codec),
      Opcode: root.incoming?.body.opcode ?? null,
      TxHashes: hashes,
      Type: plan.type,
      Success: plan.success,
      Finality: around.finality ?? 'finalized',
      TraceExternalHash: external['trace_external_hash'] ?? null,
      TraceExternalHashNorm: external['trace_external_hash_norm'] ?? null,
      AncestorType: plan.ancestors,
      Accounts: accounts,
    };
    return Object.fromEntries(RAW_FIELDS.map((name) => [name, used[name] ?? null]));
  }
}
