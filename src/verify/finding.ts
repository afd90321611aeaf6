import { formatSpan, type Span } from '../core/span.ts';
import type { FaultKind } from '../warehouse/index.ts';

/** What can be wrong with a warehouse. */
export type FindingKind =
  | FaultKind
  | 'declaration-broken'
  | 'not-done'
  | 'overlap'
  | 'rows-outside'
  | 'table-missing'
  | 'no-headers'
  | 'block-missing'
  | 'block-stray'
  | 'block-twice'
  | 'block-rows'
  | 'transaction-twice'
  | 'messages'
  | 'message-twice'
  | 'states'
  | 'account-chain'
  | 'message-ends'
  | 'list';

/** One thing that a warehouse does not prove. */
export interface Finding {
  readonly kind: FindingKind;
  readonly pipeline: string;
  readonly table?: string | undefined;
  /** Relative to the warehouse. */
  readonly file?: string | undefined;
  /** Masterchain blocks concerned. */
  readonly span?: Span | undefined;
  /** Number of the ledger entry concerned. */
  readonly entry?: number | undefined;
  readonly expected: string;
  readonly got: string;
}

/** A finding in one line, for people. */
export function formatFinding({ pipeline, span, table, file, expected, got }: Finding): string {
  const where = [pipeline, ...(span === undefined ? [] : [formatSpan(span)])].filter((word) => word !== '').join(' ');
  const place = file ?? table;
  return `audit ${where}: expected ${expected}, got ${got}${place === undefined ? '' : ` (${place})`}`;
}

/** What a query found: a masterchain block at fault, and why. */
export type BadRow = readonly [seqno: number, expected: string, got: string];

/** Findings of one kind, one for each run of neighbouring blocks. */
export function groupBad(
  what: Pick<Finding, 'kind' | 'pipeline' | 'table'>,
  rows: readonly BadRow[],
): readonly Finding[] {
  const groups: { from: number; to: number; count: number; expected: string; got: string }[] = [];
  for (const [seqno, expected, got] of [...rows].sort((a, b) => a[0] - b[0])) {
    const last = groups.at(-1);
    if (last === undefined || seqno > last.to + 1) groups.push({ from: seqno, to: seqno, count: 1, expected, got });
    else {
      last.to = seqno;
      last.count++;
    }
  }
  return groups.map(({ from, to, count, expected, got }) => ({
    ...what,
    span: { from, to },
    expected,
    got: count === 1 ? got : `${got}, and ${count - 1} more`,
  }));
}
