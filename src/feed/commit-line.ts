import { formatSpans } from '../core/span.ts';
import { FORGOTTEN, type LedgerEntry, spansOf } from '../warehouse/index.ts';

/**
 * What a commit did. `rows`: new rows. `replaced`: rows that replace others. `merged`: the same rows in other files. `forgotten`: rows were
 * removed on purpose. `mart`: rows of a mart. `partial`, `quarantined`: blocks that are not done. `void`: a repair filled a lost entry.
 */
type CommitKind = 'rows' | 'replaced' | 'merged' | 'forgotten' | 'mart' | 'partial' | 'quarantined' | 'void';

/** One line of `--on-commit`. */
export function commitLine(entry: LedgerEntry): string {
  const { number, id, network, pipeline, span, tables, supersedes, committedAt, commitWith } = entry;
  const each = Object.entries(tables);
  return `${JSON.stringify({
    ...{ event: 'commit', number, id, kind: kindOf(entry), network, pipeline, from: span.from, to: span.to },
    blocks: formatSpans(spansOf(entry)),
    rows: Object.fromEntries(each.map(([table, { rows }]) => [table, rows])),
    files: each.flatMap(([, { files }]) => files.map(({ path }) => path)),
    replaces: supersedes.filter((other) => other !== id),
    ...(commitWith === undefined ? {} : { commitWith }),
    committedAt,
  })}\n`;
}

function kindOf({ id, mart, scope, verdict, copies, supersedes }: LedgerEntry): CommitKind {
  if (mart !== undefined) return 'mart';
  if (scope === FORGOTTEN) return 'forgotten';
  if (supersedes.includes(id)) return 'void';
  if (verdict === 'quarantined') return 'quarantined';
  if (scope !== undefined) return 'partial';
  if (copies !== undefined) return 'merged';
  return supersedes.length > 0 ? 'replaced' : 'rows';
}
