import type { TableFile } from './store.ts';

/** A select with a column that identifies the entry and file of each row. */
export interface SelectEach {
  readonly sql: string;
  /** Name of that column. */
  readonly by: string;
  /** Name of the column with the row's position in its file, from 0; undefined if rows do not lie in files. */
  readonly position: string | undefined;
  /** The owner of the rows with a value of that column. */
  ownerOf(value: unknown): RowOwner | undefined;
}

export interface RowOwner {
  /** Number of the entry. */
  readonly entry: number;
  /** Undefined if rows do not lie in files. */
  readonly file?: TableFile | undefined;
}
