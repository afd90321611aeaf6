import { UsageError, usage } from '../core/errors.ts';
import type { RangePart } from './range-part.ts';

/** A number with thousands separators. */
const GROUPED = /(?<![\d._,])\d{1,3}(?:,\d{3})+(?![\d._])/g;

type Parse = (whole: string) => readonly RangePart[];

/** Rejects numbers with thousands separators, which would be parsed as several ranges. @throws {UsageError} */
export function refuseGroups(whole: string, parse: Parse): void {
  const joined = whole.replace(GROUPED, (number) => number.replaceAll(',', ''));
  const isOne = joined !== whole && isRange(joined, parse);
  const hasZeros = /,\s*(?:[\d._KMB+-]*:)?0\d+\s*(?:[:,]|$)/i.test(whole);
  const isList = !hasZeros && isRange(whole, parse) && isGrowing(parse(whole));
  const beginsGrouped = /^\d+,/.test(whole);
  if (!hasZeros && (!isOne || (isList && !beginsGrouped))) return;
  const meant = isOne ? `did you mean ${joined}? ` : '';
  const list = isOne && isList ? `; ${whole.replace(/^\d+/, '$&:$&')} for several ranges` : '';
  throw usage('digits without commas', JSON.stringify(whole), {
    code: 'wrong-range',
    hint: `${meant}commas separate ranges; group digits like 47_670_000${list}`,
  });
}

/** True if the seqnos of the parts are ascending. */
function isGrowing(parts: readonly RangePart[]): boolean {
  return parts.every(({ from }, at) => {
    const before = parts[at - 1]?.to;
    return from.kind !== 'seqno' || before?.kind !== 'seqno' || from.seqno > before.seqno;
  });
}

function isRange(text: string, parse: Parse): boolean {
  try {
    return parse(text).length > 0;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}
