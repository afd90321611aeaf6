import { actionTypeSets } from '../../../api/facts.ts';
import type { Chain } from '../chain/chain.ts';
import { cached } from '../chain/mix.ts';
import type { Template, TransactionRow } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import type { TraceIndex, TracePlan, TraceRow } from '../chain/trace-index.ts';
import { type ActionPlan, planActions } from './plans.ts';

/** An action of a trace in a certain epoch. */
export interface ActionRow {
  readonly trace: TraceRow;
  readonly plan: ActionPlan;
  readonly rows: readonly TransactionRow[];
  readonly traceId: string;
  readonly actionId: string;
  readonly startLt: number;
  readonly endLt: number;
  readonly startUtime: number;
  readonly endUtime: number;
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

/** True if an action is listed for these types. Actions inside a listed action are not. */
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
    return cached(this.#plans, template, () => planActions(this.#traces.plans(template), epoch.cast, seed));
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

  #row(trace: TraceRow, plan: ActionPlan): ActionRow {
    const rows = this.#traces.rowsOf(trace, plan.members);
    const traceId = this.traceId(trace);
    const { family } = trace.plan.template;
    return {
      trace,
      plan,
      rows,
      traceId,
      actionId:
        plan.type === 'unknown' ? traceId : this.#chain.codec.hash(family, HASH_KIND.action, plan.id, trace.epoch),
      startLt: Math.min(...rows.map(({ lt }) => lt)),
      endLt: Math.max(...rows.map(({ lt }) => lt)),
      startUtime: Math.min(...rows.map(({ now }) => now)),
      endUtime: Math.max(...rows.map(({ now }) => now)),
    };
  }

  traceId({ plan: { template, root }, epoch }: TraceRow): string {
    return this.#chain.transactionHash({ template, transaction: root, epoch });
  }

  /** Hash of the message that began a trace, and its normalized hash if there is one. */
  externalHashes({ plan: { template, root }, epoch }: TraceRow) {
    const row = root.incoming && { template, message: root.incoming, epoch };
    return {
      trace_external_hash: row && this.#chain.messageHash(row),
      trace_external_hash_norm: row?.message.normalized ? this.#chain.normalizedHash(row) : undefined,
    };
  }
}
