import { ReportError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
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
  /** Blocks without rows because of optional marts that were never built: the marts by id. */
  readonly unbuilt: ReadonlyMap<string, readonly string[]>;
  readonly provenance: Provenance;
}

/** The rows of a directive. */
export function resultOf({ def, results }: Report, { of, line }: Directive): QueryResult {
  const result = results.get(of);
  if (result !== undefined) return result;
  throw new ReportError(`report: expected rows of ${of}, got none (${def.path}:${line})`);
}

/** The text that is shown in place of missing rows. */
export function emptyText({ unbuilt }: Report, { kind, of, def }: Directive): string {
  const marts = unbuilt.get(of);
  if (marts !== undefined)
    return marts.map((name) => `${name} was never built here: ${suggest('build', name)}`).join('; ');
  return (kind === 'table' ? def.empty : undefined) ?? 'No rows.';
}
