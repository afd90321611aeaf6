import type { Reads } from '../warehouse/query/coverage.ts';

/** A rule, and the selects that return the rows that break it. */
export interface CheckDef {
  readonly name: string;
  /** The rule, in one sentence. */
  readonly rule: string;
  readonly parts: readonly CheckPart[];
}

/**
 * Which rows a select must see again after a change. `day`: those of the days that changed. `rows`: those of new entries, and rows read at the
 * same time or later, because no other row can contradict them. `all`: all of them.
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
