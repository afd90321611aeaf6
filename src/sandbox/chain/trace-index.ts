import { EPOCH_BLOCKS, LT_STEP, ltOf, seqnoOf, slotOf, slotOfLt } from './clock.ts';
import type { Template, Transaction } from './model.ts';

/** A trace of a template. Members come by lt. */
export interface TracePlan {
  readonly template: Template;
  readonly root: Transaction;
  readonly members: readonly Transaction[];
  /** Greatest lt, less the first one of the epoch that the root runs in. */
  readonly endLt: number;
  /** Slot of the last masterchain block that includes a member, counted as `endLt`. */
  readonly endIncluded: number;
}

/** A trace in a certain epoch: the one its root runs in. */
export interface TraceRow {
  readonly plan: TracePlan;
  readonly epoch: number;
  readonly endLt: number;
}

interface Index {
  readonly template: Template;
  readonly byRoot: ReadonlyMap<Transaction, TracePlan>;
  readonly byEndLt: ReadonlyMap<number, readonly TracePlan[]>;
  readonly byEndSeqno: ReadonlyMap<number, readonly TracePlan[]>;
}

/** What the index reads of the chain. */
interface TemplatesInTime {
  /** Templates by family; undefined when this network has none. */
  template(family: number): Template | undefined;
  /** Whether a family's repetition of this number ever comes. */
  happens(family: number, epoch: number): boolean;
  /** Whether blocks made in a slot may hold more than those of the same slot in other epochs. */
  isRare(slot: number): boolean;
}

/** A transaction in a certain epoch. */
interface PlacedTransaction {
  readonly template: Template;
  readonly transaction: Transaction;
  readonly epoch: number;
}

/** Finds the traces that end in a slot or a masterchain block. */
export class TraceIndex {
  readonly #chain: TemplatesInTime;
  readonly #indexes = new Map<number, Index>();

  constructor(chain: TemplatesInTime) {
    this.#chain = chain;
  }

  #index(family: number): Index | undefined {
    const known = this.#indexes.get(family);
    if (known !== undefined) return known;
    const template = this.#chain.template(family);
    if (template === undefined) return undefined;
    const made = indexOf(template);
    this.#indexes.set(family, made);
    return made;
  }

  /** All traces of a family, in the order of their roots. */
  plans(family: number): readonly TracePlan[] {
    return [...(this.#index(family)?.byRoot.values() ?? [])];
  }

  /** Complete traces whose last transaction a masterchain block includes. */
  endingIn(seqno: number): readonly TraceRow[] {
    return this.#found(
      slotOf(seqno),
      (index, at) => index.byEndSeqno.get(at),
      (plan) => plan.endIncluded,
    );
  }

  /** Complete traces whose greatest lt lies in a slot. */
  endLtIn(slot: number): readonly TraceRow[] {
    return this.#found(
      slot,
      (index, at) => index.byEndLt.get(at),
      (plan) => Math.floor(plan.endLt / LT_STEP),
    );
  }

  #found(
    slot: number,
    at: (index: Index, slot: number) => readonly TracePlan[] | undefined,
    endOf: (plan: TracePlan) => number,
  ): readonly TraceRow[] {
    const found: TraceRow[] = [];
    const rare = this.#chain.isRare(slot) || this.#chain.isRare(slot - 1);
    for (const family of rare ? [0, 1, 2] : [0]) {
      const index = this.#index(family);
      if (index === undefined) continue;
      const { period, phase } = index.template;
      const since = slot - phase;
      for (const plan of at(index, ((since % period) + period) % period) ?? []) {
        const epoch = (since - endOf(plan)) / period;
        if (epoch >= 0 && this.#chain.happens(family, epoch)) found.push(rowOf(plan, epoch));
      }
    }
    return found;
  }

  /** The trace that a transaction belongs to; undefined when it began before the first block. */
  of(row: PlacedTransaction): TraceRow | undefined {
    const { template, transaction } = row;
    const root = transaction.root ?? transaction;
    const plan = this.#index(template.family)?.byRoot.get(root);
    const epoch = row.epoch - transaction.cycle + root.cycle;
    return plan === undefined || epoch < 0 ? undefined : rowOf(plan, epoch);
  }
}

function rowOf(plan: TracePlan, epoch: number): TraceRow {
  const { period, phase } = plan.template;
  return { plan, epoch, endLt: ltOf(phase + period * epoch) + plan.endLt };
}

/** The epoch of a member of a trace. */
export function memberEpoch(trace: TraceRow, member: Transaction): number {
  return trace.epoch + member.cycle - trace.plan.root.cycle;
}

function indexOf(template: Template): Index {
  const members = new Map<Transaction, Transaction[]>();
  for (const transaction of template.transactions) {
    const root = transaction.root ?? transaction;
    const list = members.get(root);
    if (list === undefined) members.set(root, [transaction]);
    else list.push(transaction);
  }
  const byRoot = new Map<Transaction, TracePlan>();
  const byEndLt = new Map<number, TracePlan[]>();
  const byEndSeqno = new Map<number, TracePlan[]>();
  for (const [root, list] of members) {
    const plan = planOf(template, root, list);
    byRoot.set(root, plan);
    put(byEndLt, Math.floor(plan.endLt / LT_STEP) % template.period, plan);
    put(byEndSeqno, plan.endIncluded % template.period, plan);
  }
  return { template, byRoot, byEndLt, byEndSeqno };
}

function planOf(template: Template, root: Transaction, list: readonly Transaction[]): TracePlan {
  const shift = (one: Transaction): number => (one.cycle - root.cycle) * template.period;
  const ltOfMember = (one: Transaction): number => one.lt + shift(one) * LT_STEP;
  const included = (one: Transaction): number =>
    (template.period === EPOCH_BLOCKS ? one.slot : 0) + shift(one) + one.block.included - one.block.slot;
  return {
    template,
    root,
    members: [...list].sort((a, b) => ltOfMember(a) - ltOfMember(b) || a.account.index - b.account.index),
    endLt: Math.max(...list.map(ltOfMember)),
    endIncluded: Math.max(...list.map(included)),
  };
}

function put(map: Map<number, TracePlan[]>, key: number, plan: TracePlan): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [plan]);
  else list.push(plan);
}

/** Slot of a trace's end, for its time. */
export function endSlot(trace: TraceRow): number {
  return slotOfLt(trace.endLt);
}

/** The masterchain block that includes the last of a trace. */
export function endSeqno({ plan, epoch }: TraceRow): number {
  return seqnoOf(plan.template.phase + plan.template.period * epoch + plan.endIncluded);
}
