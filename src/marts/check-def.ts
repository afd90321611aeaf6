import type { Reads } from '../warehouse/query/coverage.ts';

/** A rule, and the selects that return the rows that break it. */
export interface CheckDef {
  readonly name: string;
  /** The rule, in one sentence. */
  readonly rule: string;
  readonly parts: readonly CheckPart[];
}

/**
 * The rows that a select must read again after a change. `day`: rows of changed days. `rows`: rows of new entries, and rows that were read at the
 * same time or later, because no others can contradict them. `all`: all rows.
 */
type CheckScope = 'day' | 'rows' | 'all';

/** A select that returns rows which break a rule. */
export interface CheckPart {
  readonly sql: string;
  /** As shown in messages. */
  readonly path: string;
  readonly scope: CheckScope;
  /** True if it also compares rows of different days when everything is read. */
  readonly acrossDays: boolean;
  /** Tables and marts that it reads. */
  readonly inputs: readonly string[];
  /** Inputs that may be missing: they are read as empty if they were never exported. */
  readonly optional: readonly string[];
  readonly readsCommits: boolean;
  /** Columns of declared tables that it reads. */
  readonly reads: Reads;
  /** Definitions of the macros that it calls. */
  readonly macros: readonly string[];
}
