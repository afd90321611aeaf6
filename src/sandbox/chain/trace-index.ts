import { groupBy } from '../../core/group-by.ts';
import type { Chain } from './chain.ts';
import { LT_STEP, ltOf, seqnoOf, slotOf, slotOfLt } from './clock.ts';
import { cached } from './mix.ts';
import {
  includedWithin,
  type Message,
  type MessageKey,
  startOf,
  type Template,
  type Transaction,
  type TransactionRow,
} from './model.ts';

/** A trace of a template. Members are sorted by lt. */
export interface TracePlan {
  readonly template: Template;
  readonly root: Transaction;
  readonly members: readonly Transaction[];
  /** Greatest lt and its slot, relative to the first ones of the root's epoch. */
  readonly endLt: number;
  readonly endSlot: number;
  /** Slot of the last masterchain block that includes a member, relative to the start of the root's epoch. */
  readonly endIncluded: number;
}

/** A trace in the epoch of its root. */
export interface TraceRow {
  readonly plan: TracePlan;
  readonly epoch: number;
  readonly endLt: number;
  /** Unix seconds. */
  readonly endUtime: number;
}

/** The traces of a template by their root, and by each end within the period. */
interface Index extends Readonly<Record<'endSlot' | 'endIncluded', ReadonlyMap<number, readonly TracePlan[]>>> {
  readonly byRoot: ReadonlyMap<Transaction, TracePlan>;
}

/** Finds traces by the slot or masterchain block in which they end. */
export class TraceIndex {
  readonly #chain: Chain;
  readonly #indexes = new Map<Template, Index>();

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  #index(template: Template): Index {
    return cached(this.#indexes, template, () => indexOf(template));
  }

  /** All traces of a template, in the order of their roots. */
  plans(template: Template): readonly TracePlan[] {
    return [...this.#index(template).byRoot.values()];
  }

  /** Complete traces whose last transaction a masterchain block includes. */
  endingIn(seqno: number): readonly TraceRow[] {
    return this.#found(slotOf(seqno), 'endIncluded');
  }

  /** Complete traces whose greatest lt is in a slot. */
  endLtIn(slot: number): readonly TraceRow[] {
    return this.#found(slot, 'endSlot');
  }

  #found(slot: number, by: 'endSlot' | 'endIncluded'): readonly TraceRow[] {
    const found: TraceRow[] = [];
    const rare = this.#chain.isRare(slot) || this.#chain.isRare(slot - 1);
    for (const family of rare ? [0, 1, 2] : [0]) {
      const template = this.#chain.template(family);
      if (template === undefined) continue;
      const { period, phase } = template;
      const since = slot - phase;
      for (const plan of this.#index(template)[by].get(((since % period) + period) % period) ?? []) {
        const epoch = (since - plan[by]) / period;
        if (epoch >= 0 && (family !== 2 || epoch === 0)) found.push(this.#row(plan, epoch));
      }
    }
    return found;
  }

  /** The trace of a transaction; undefined if it began before the first block. */
  of({ template, transaction, epoch: own }: TransactionRow): TraceRow | undefined {
    const root = transaction.root ?? transaction;
    const plan = this.#index(template).byRoot.get(root);
    const epoch = own - transaction.cycle + root.cycle;
    return plan === undefined || epoch < 0 ? undefined : this.#row(plan, epoch);
  }

  /** Transactions of a trace, all or some of them. */
  rowsOf({ plan, epoch }: TraceRow, members = plan.members): readonly TransactionRow[] {
    const { template, root } = plan;
    return members.map((member) => this.#chain.row(template, member, epoch + member.cycle - root.cycle));
  }

  /** A message of a trace. */
  messageOf({ plan, epoch }: TraceRow, message: Message): MessageKey {
    const { template, root } = plan;
    return { template, message, epoch: epoch + (message.from ?? root).cycle - root.cycle };
  }

  #row(plan: TracePlan, epoch: number): TraceRow {
    const endLt = ltOf(startOf(plan.template, epoch)) + plan.endLt;
    return { plan, epoch, endLt, endUtime: this.#chain.clock.utimeOf(slotOfLt(endLt)) };
  }
}

function indexOf(template: Template): Index {
  const members = groupBy(template.transactions, (transaction) => transaction.root ?? transaction);
  const byRoot = new Map([...members].map(([root, list]) => [root, planOf(template, root, list)]));
  const plans = [...byRoot.values()];
  return {
    byRoot,
    endSlot: groupBy(plans, ({ endSlot }) => endSlot % template.period),
    endIncluded: groupBy(plans, ({ endIncluded }) => endIncluded % template.period),
  };
}

function planOf(template: Template, root: Transaction, list: readonly Transaction[]): TracePlan {
  const shift = (one: Transaction): number => (one.cycle - root.cycle) * template.period;
  const ltOfMember = (one: Transaction): number => one.lt + shift(one) * LT_STEP;
  const endLt = Math.max(...list.map(ltOfMember));
  return {
    template,
    root,
    members: [...list].sort((a, b) => ltOfMember(a) - ltOfMember(b) || a.account.index - b.account.index),
    endLt,
    endSlot: Math.floor(endLt / LT_STEP),
    endIncluded: Math.max(...list.map((one) => includedWithin(template, one) + shift(one))),
  };
}

/** Seqno of the last masterchain block that includes a member of a trace. */
export function endSeqno({ plan, epoch }: TraceRow): number {
  return seqnoOf(startOf(plan.template, epoch) + plan.endIncluded);
}
