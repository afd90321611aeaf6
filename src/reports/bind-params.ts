import { DuckDBDateValue } from '@duckdb/node-api';
import { rawAddress } from '../core/address.ts';
import { choicesFor } from '../core/did-you-mean.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { daysBetween, isDate } from '../core/time-zone.ts';
import type { ParamDef, ReportDef } from './report-definition.ts';

/** Parameters that are always available. */
export const reservedParams: readonly string[] = ['timezone', 'now'];

/** Values of a report's parameters: as bound in DuckDB, and as shown. */
export interface BoundParams {
  readonly values: Readonly<Record<string, unknown>>;
  readonly texts: Readonly<Record<string, string>>;
  /** As they were given. */
  readonly addresses: readonly string[];
}

/**
 * Checks the given parameters against the declared ones. A parameter without value and default is null.
 * @throws {UsageError}
 */
export function bindParams({ name: report, front }: ReportDef, given: Readonly<Record<string, string>>): BoundParams {
  const declared = Object.entries(front.params ?? {});
  const names = declared.map(([name]) => name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    throw usage(
      `a parameter of ${report}`,
      JSON.stringify(name),
      names.length === 0 ? 'it has none' : choicesFor(name, names),
    );
  }
  const values: Record<string, unknown> = {};
  const texts: Record<string, string> = {};
  for (const [name, param] of declared) {
    const text = given[name] ?? param.default?.toString();
    if (text === undefined && param.required === true) {
      throw usage(`the parameter ${name} of ${report}`, 'none', `--param ${name}=<${param.type}>: ${param.doc}`);
    }
    values[name] = text === undefined ? null : parseParam(name, param, text);
    if (text !== undefined) texts[name] = param.type === 'address' ? String(values[name]) : text;
  }
  const addresses = declared.flatMap(([name, { type }]) => (type === 'address' ? (given[name] ?? []) : []));
  return { values, texts, addresses };
}

function parseParam(name: string, { type, choices = [], doc }: ParamDef, text: string): unknown {
  const bad = (expected: string): UsageError =>
    usage(
      `${expected} as parameter ${name}`,
      JSON.stringify(text),
      type === 'choice' && choices.length > 0 ? choicesFor(text, choices) : `${name} is: ${doc}`,
    );
  switch (type) {
    case 'text':
      return text;
    case 'integer': {
      if (!/^-?\d{1,18}$/.test(text)) throw bad('a whole number of at most 18 digits');
      return BigInt(text);
    }
    case 'date': {
      if (!isDate(text)) throw bad('a date such as 2026-05-01');
      return new DuckDBDateValue(daysBetween('1970-01-01', text));
    }
    case 'address': {
      const raw = rawAddress(text);
      if (raw === undefined) throw bad('an address, raw or user-friendly with its checksum');
      return raw;
    }
    case 'choice':
      if (!choices.includes(text)) throw bad(`one of ${choices.join(', ')}`);
      return text;
  }
}
