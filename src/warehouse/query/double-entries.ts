import { StoreError } from '../../core/errors.ts';
import { intersectSpans, shortSpans } from '../../core/span.ts';
import { coversBlocks } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { isDone, spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/**
 * Requires that no block of a relation has its rows in two entries, as after files were copied into a warehouse by hand.
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
    const parts = ledger
      .filter((entry) => isDone(entry, pipeline.name))
      .flatMap((entry) => spansOf(entry).map((span) => ({ span, entry })));
    parts.sort((a, b) => a.span.from - b.span.from);
    let last = parts[0];
    for (const part of parts.slice(1)) {
      if (last !== undefined && part.span.from <= last.span.to) {
        const common = shortSpans(intersectSpans([last.span], [part.span]));
        const numbers = [last.entry.number, part.entry.number].sort((a, b) => a - b).join(' and ');
        throw new StoreError(`store: ${pipeline.name} ${common}: expected one entry of the ledger, got ${numbers}`, {
          code: 'blocks-twice',
          hint: `tonlake verify --repair --warehouse ${path}`,
        });
      }
      if (last === undefined || part.span.to > last.span.to) last = part;
    }
  }
}
