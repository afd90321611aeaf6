import { counted, formatCount } from '../core/format.ts';

/** Counts values that a target cannot store unchanged, by reason and column. */
export class CellNotes {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #others: string[] = [];

  /** @param reason what was done with the value: `a number of more than 15 digits is text` */
  add(reason: string, column: string): void {
    const columns = this.#counts.get(reason) ?? new Map<string, number>();
    this.#counts.set(reason, columns.set(column, (columns.get(column) ?? 0) + 1));
  }

  /** Adds a message about all rows. */
  addMessage(message: string): void {
    this.#others.push(message);
  }

  /** One line for each reason: `2 values (lt): a number of more than 15 digits is text`. */
  messages(): readonly string[] {
    const notes = [...this.#counts].map(([reason, columns]) => {
      const total = [...columns.values()].reduce((sum, count) => sum + count, 0);
      const names = [...columns].map(([name, count]) => (columns.size === 1 ? name : `${name} ${formatCount(count)}`));
      return `${counted(total, 'value')} (${names.join(', ')}): ${reason}`;
    });
    return [...notes, ...this.#others];
  }
}
