import type { Cell, ResultRows } from '../src/ui/ui-types.ts';
import { get } from './api.ts';

/** Number of rows per request. */
const PAGE_ROWS = 200;
/** Maximum number of pages in memory. */
const MAX_PAGES = 60;

export interface Sorting {
  readonly column: string;
  readonly order: 'asc' | 'desc';
}

/** The order after a click on a heading: ascending, descending, unsorted. */
export function nextSorting(sorting: Sorting | undefined, column: string): Sorting | undefined {
  if (sorting?.column !== column) return { column, order: 'asc' };
  return sorting.order === 'asc' ? { column, order: 'desc' } : undefined;
}

/** The rows of a result; only those around the visible ones are loaded. */
export class RowPages {
  readonly #path: string;
  readonly #sorting: Sorting | undefined;
  readonly #onChange: () => void;
  readonly #pages = new Map<number, readonly (readonly Cell[])[]>();
  readonly #loading = new Set<number>();
  #error: Error | undefined;

  constructor(path: string, sorting: Sorting | undefined, onChange: () => void) {
    this.#path = path;
    this.#sorting = sorting;
    this.#onChange = onChange;
  }

  /** The error of the last request, while visible rows are missing. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Undefined if the row is not loaded. */
  row(at: number): readonly Cell[] | undefined {
    return this.#pages.get(Math.floor(at / PAGE_ROWS))?.[at % PAGE_ROWS];
  }

  /** Loads the pages of some rows, unless they are loaded. */
  load(from: number, to: number): void {
    for (let page = Math.floor(from / PAGE_ROWS); page <= Math.floor(to / PAGE_ROWS); page++) {
      if (this.#pages.has(page) || this.#loading.has(page)) continue;
      this.#loading.add(page);
      const sorting = this.#sorting;
      const more = sorting === undefined ? {} : { sort: sorting.column, order: sorting.order };
      const query = new URLSearchParams({ from: String(page * PAGE_ROWS), count: String(PAGE_ROWS), ...more });
      get<ResultRows>(`${this.#path}?${query}`)
        .then(({ rows }) => {
          this.#pages.set(page, rows);
          for (const old of [...this.#pages.keys()].slice(0, -MAX_PAGES)) this.#pages.delete(old);
          this.#error = undefined;
        })
        .catch((error: Error) => {
          this.#error = error;
        })
        .finally(() => {
          this.#loading.delete(page);
          this.#onChange();
        });
    }
  }
}
