import { formatSpan, type Span } from '../core/span.ts';
import type { FaultKind } from '../warehouse/index.ts';

/** Kinds of damage. */
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
  | 'block-order'
  | 'block-twice'
  | 'block-rows'
  | 'transaction-twice'
  | 'messages'
  | 'message-twice'
  | 'key-twice'
  | 'states'
  | 'account-chain'
  | 'message-ends'
  | 'content'
  | 'list';

/** Damage in a warehouse, or blocks that are not proven. */
export interface Finding {
  readonly kind: FindingKind;
  readonly pipeline: string;
  readonly table?: string | undefined;
  /** Relative to the warehouse. */
  readonly file?: string | undefined;
  /** Affected masterchain blocks. */
  readonly span?: Span | undefined;
  /** Requested UTC day of which the warehouse has only a part. */
  readonly day?: string | undefined;
  /** Number of the affected ledger entry. */
  readonly entry?: number | undefined;
  readonly expected: string;
  readonly got: string;
}

/** A finding as one line of text. */
export function formatFinding({ pipeline, span, table, file, expected, got }: Finding): string {
  const where = ['audit', pipeline, span === undefined ? '' : formatSpan(span)].filter((word) => word !== '').join(' ');
  const place = file ?? table;
  return `${where}: expected ${expected}, got ${got}${place === undefined ? '' : ` (${place})`}`;
}

/** A fault found by a query, in a masterchain block. */
export type BadRow = readonly [seqno: number, expected: string, got: string];

/** Findings of one kind, one for each run of consecutive blocks. */
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
