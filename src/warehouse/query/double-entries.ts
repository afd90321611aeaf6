import { StoreError } from '../../core/errors.ts';
import { type Span, shortSpans } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import { coversBlocks } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { isDone, spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/** Blocks of two entries. */
interface SharedBlocks {
  readonly entries: readonly [LedgerEntry, LedgerEntry];
  readonly span: Span;
}

/** Blocks that several entries share, in order. Entries of a pipeline whose blocks have their rows once must not share any. */
export function sharedBlocks(entries: readonly LedgerEntry[]): readonly SharedBlocks[] {
  const parts = entries.flatMap((entry) => spansOf(entry).map((span) => ({ entry, span })));
  parts.sort((a, b) => a.span.from - b.span.from);
  let last = parts[0];
  const shared: SharedBlocks[] = [];
  for (const part of parts.slice(1)) {
    if (last !== undefined && part.span.from <= last.span.to) {
      const span = { from: part.span.from, to: Math.min(last.span.to, part.span.to) };
      shared.push({ entries: [last.entry, part.entry], span });
    }
    if (last === undefined || part.span.to > last.span.to) last = part;
  }
  return shared;
}

/**
 * Requires that no block of a relation has its rows in two entries, which can happen if files are copied into a warehouse by hand.
 *
 * @throws {StoreError} `blocks-twice`
 */
export function requireBlocksOnce(
  ledger: readonly LedgerEntry[],
  registry: Registry,
  relations: readonly string[],
  path: string,
): void {
  const tables = new Set(relations.flatMap((relation) => registry.tableOf(relation) ?? []));
  for (const pipeline of registry.pipelines) {
    if (!coversBlocks(pipeline) || !pipeline.tables.some((table) => tables.has(table))) continue;
    const [shared] = sharedBlocks(ledger.filter((entry) => isDone(entry, pipeline.name)));
    if (shared === undefined) continue;
    const numbers = shared.entries.map(({ number }) => number).sort((a, b) => a - b);
    const got = numbers.join(' and ');
    throw new StoreError(
      `store: ${pipeline.name} ${shortSpans([shared.span])}: expected one entry of the ledger, got ${got}`,
      { code: 'blocks-twice', hint: suggest('verify', '--repair', { warehouse: path }) },
    );
  }
}
