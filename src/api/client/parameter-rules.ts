import { usage } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import type { Rule } from '../endpoint.ts';

/** Encoded values by name. */
type Encoded = ReadonlyMap<string, readonly string[]>;

/** @throws {UsageError} for an invalid combination of parameters */
export function checkRules(label: string, rules: readonly Rule[], encoded: Encoded): void {
  for (const rule of rules) {
    const problem = problemOf(rule, encoded);
    if (problem !== undefined) {
      throw usage(problem, undefined, suggest('api', `${label} --parameters`), { of: label });
    }
  }
}

/** A rule as text. */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case 'exactly-one':
      return `exactly one of ${rule.of.join(', ')}`;
    case 'at-least-one':
      return `at least one of ${rule.of.join(', ')}`;
    case 'at-most-one':
      return `at most one of ${rule.of.join(', ')}`;
    case 'not-with':
      return `${rule.name} without ${rule.with.join(', ')}`;
    case 'needs':
      return `${rule.name} only with ${rule.of.join(' or ')}`;
    case 'several-need-one':
      return `exactly one ${rule.with} with several values of ${rule.name}`;
  }
}

function problemOf(rule: Rule, encoded: Encoded): string | undefined {
  const given = (names: readonly string[]): readonly string[] => names.filter((name) => isOn(encoded.get(name)));
  switch (rule.kind) {
    case 'exactly-one':
    case 'at-least-one':
    case 'at-most-one': {
      const found = given(rule.of);
      const least = rule.kind === 'at-most-one' ? 0 : 1;
      const most = rule.kind === 'at-least-one' ? rule.of.length : 1;
      if (found.length >= least && found.length <= most) return undefined;
      return `${describeRule(rule)}, got ${found.length === 0 ? 'none' : found.join(' and ')}`;
    }
    case 'not-with': {
      const found = given([rule.name]).length === 0 ? [] : given(rule.with);
      return found.length === 0 ? undefined : `${rule.name} without ${found.join(', ')}, got both`;
    }
    case 'needs':
      if (given([rule.name]).length === 0 || given(rule.of).length > 0) return undefined;
      return `${describeRule(rule)}, got it alone`;
    case 'several-need-one': {
      const several = encoded.get(rule.name)?.length ?? 0;
      const owners = encoded.get(rule.with)?.length ?? 0;
      return several <= 1 || owners === 1 ? undefined : `${describeRule(rule)}, got ${owners}`;
    }
  }
}

/** A switch that is false is the same as absent. */
function isOn(texts: readonly string[] | undefined): boolean {
  return texts !== undefined && texts.join() !== 'false';
}
