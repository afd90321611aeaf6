import { ReportError } from '../core/errors.ts';
import type { QueryResult } from '../sql/query-result.ts';
import type { Heading } from './heading.ts';
import type { Provenance } from './provenance.ts';
import type { Directive, ReportDef } from './report-definition.ts';

/** A report with its results, before rendering. */
export interface Report {
  readonly def: ReportDef;
  readonly heading: Heading;
  /** Parameters with a value, as shown. */
  readonly params: Readonly<Record<string, string>>;
  readonly results: ReadonlyMap<string, QueryResult>;
  readonly provenance: Provenance;
}

/** The rows of a directive. */
export function resultOf({ def, results }: Report, { of, line }: Directive): QueryResult {
  const result = results.get(of);
  if (result !== undefined) return result;
  throw new ReportError(`report: expected rows of ${of}, got none (${def.path}:${line})`, { code: 'no-rows' });
}
