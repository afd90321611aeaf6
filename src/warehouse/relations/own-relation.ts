import type { Contents } from '../query/coverage.ts';

/** A relation about the warehouse itself. */
export interface OwnRelation {
  readonly name: string;
  /** What one row is. */
  readonly grain: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly columns: readonly OwnColumn[];
  readonly rows: (contents: Contents) => readonly OwnRow<readonly OwnColumn[]>[];
}

/** A value of each column. */
export type OwnRow<Columns extends readonly OwnColumn[]> = Readonly<Record<Columns[number]['name'], unknown>>;

/** A column of an {@link OwnRelation}. */
export interface OwnColumn {
  readonly name: string;
  /** DuckDB type. */
  readonly type: string;
  readonly unit?: string | undefined;
  /** Default false. */
  readonly nullable?: boolean | undefined;
  readonly doc: string;
}

/** DuckDB types of columns, by name. */
export function typesOf<Column extends OwnColumn>(
  columns: readonly Column[],
): Readonly<Record<Column['name'], string>> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type])) as Record<Column['name'], string>;
}
