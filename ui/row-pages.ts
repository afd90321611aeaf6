import type { Cell, ResultRows } from '../src/ui/ui-types.ts';
import { get } from './api.ts';

/** Rows of one request. */
const PAGE = 200;
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

/** The rows of a result, of which only those around the visible ones are loaded. */
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
    return this.#pages.get(Math.floor(at / PAGE))?.[at % PAGE];
  }

  /** Loads the pages of some rows, if they are not there. */
  load(from: number, to: number): void {
    for (let page = Math.floor(from / PAGE); page <= Math.floor(to / PAGE); page++) {
      if (this.#pages.has(page) || this.#loading.has(page)) continue;
      this.#loading.add(page);
      const sorting = this.#sorting;
      const more = sorting === undefined ? {} : { sort: sorting.column, order: sorting.order };
      const query = new URLSearchParams({ from: String(page * PAGE), count: String(PAGE), ...more });
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
