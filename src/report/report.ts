import { ReportError } from '../errors.ts';
import type { QueryResult } from '../store/store.ts';
import type { Directive, ReportDef } from './definition.ts';
import type { Footing } from './footing.ts';
import type { Heading } from './heading.ts';

/** A report with everything that it shows, before it takes a form. */
export interface Report {
  readonly def: ReportDef;
  readonly heading: Heading;
  /** Parameters that have a value, as they are shown. */
  readonly params: Readonly<Record<string, string>>;
  readonly results: ReadonlyMap<string, QueryResult>;
  readonly footing: Footing;
}

/** The rows that a directive shows. */
export function resultOf({ def, results }: Report, { of, line }: Directive): QueryResult {
  const result = results.get(of);
  if (result !== undefined) return result;
  throw new ReportError(`report: expected rows of ${of}, got none (${def.path}:${line})`, { code: 'no-rows' });
}
