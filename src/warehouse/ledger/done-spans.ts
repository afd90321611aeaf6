import { haveCommon, hullOf, type Span, subtractSpans, unionSpans } from '../../core/span.ts';
import { isWithin } from '../../declare/left-out.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { LeftOut } from '../../declare/table.ts';
import type { LedgerEntry } from '../store.ts';

/** Scope of a commit of which some rows are missing or wrong: its span is not done, and will be requested again. */
export const PARTIAL = 'part of the rows';

/** Scope of an entry that records a deliberate removal. It supersedes the entries of the removed rows, and itself. */
export const FORGOTTEN = 'forgotten';

/** The spans that an entry covers: ascending, not adjacent. */
export function spansOf({ span, spans }: Pick<LedgerEntry, 'span' | 'spans'>): readonly Span[] {
  return spans ?? [span];
}

/** True if entries have rows of a table. */
export function hasRows(ledger: readonly LedgerEntry[], table: string): boolean {
  return ledger.some(({ tables }) => (tables[table]?.rows ?? 0) > 0);
}

/** The fields of an entry that covers these spans; at least one. */
export function covering(spans: readonly Span[]): Pick<LedgerEntry, 'span' | 'spans'> {
  const span = hullOf(spans);
  if (span === undefined) throw new Error('expected the spans of an entry, got none');
  return { span, spans };
}

/** True if a complete commit of some spans replaces an entry: the entry lies inside them, and its blocks are not done. */
export function isReplacedBy(entry: LedgerEntry, complete: readonly Span[]): boolean {
  const { verdict, scope } = entry;
  return (verdict === 'quarantined' || scope === PARTIAL) && subtractSpans(spansOf(entry), complete).length === 0;
}

/**
 * The spans of a pipeline that count as done.
 *
 * @param suffices decides by its selection if an entry counts. Default: all count
 */
export function doneSpans(
  ledger: readonly LedgerEntry[],
  pipeline: string,
  suffices: (without: LeftOut | undefined) => boolean = () => true,
): readonly Span[] {
  return unionSpans(ledger.filter((entry) => isDone(entry, pipeline) && suffices(entry.without)).flatMap(spansOf));
}

/** The spans that count as done for a run of this pipeline: their rows have all columns that it requests. */
export function doneFor(ledger: readonly LedgerEntry[], { name, leftOut }: PipelineDef): readonly Span[] {
  return doneSpans(ledger, name, (without) => isWithin(without, leftOut));
}

/** Entries in some spans that lack columns that this pipeline requests; a run reads them again completely. */
export function narrowerEntries(
  ledger: readonly LedgerEntry[],
  { name, leftOut }: PipelineDef,
  spans: readonly Span[],
): readonly LedgerEntry[] {
  return ledger.filter(
    (entry) => isDone(entry, name) && !isWithin(entry.without, leftOut) && haveCommon(spansOf(entry), spans),
  );
}

/** True for an entry whose blocks count as done. */
export function isDone(entry: LedgerEntry, pipeline: string): boolean {
  return entry.pipeline === pipeline && entry.verdict === 'accepted' && entry.scope === undefined;
}

/** The spans of a pipeline whose records could not be decoded. */
export function quarantinedSpans(ledger: readonly LedgerEntry[], pipeline: string): readonly Span[] {
  return unionSpans(
    ledger.filter((entry) => entry.pipeline === pipeline && entry.verdict === 'quarantined').flatMap(spansOf),
  );
}

/** The done spans with transactions whose content contradicts their hashes. */
function contradictedSpans(ledger: readonly LedgerEntry[], pipeline: string): readonly Span[] {
  return doneSpans(
    ledger.filter(({ proof }) => proof === 'contradicted'),
    pipeline,
  );
}

/** The done spans of a pipeline whose rows nothing proves. @param isCounted true if headers count the rows of the pipeline */
export function unprovenSpans(ledger: readonly LedgerEntry[], pipeline: string, isCounted: boolean): readonly Span[] {
  if (isCounted) return contradictedSpans(ledger, pipeline);
  const proven = ledger.filter(({ proof }) => proof !== undefined && proof !== 'none');
  return subtractSpans(doneSpans(ledger, pipeline), doneSpans(proven, pipeline));
}

/** True for an entry with transactions whose hashes are not those of cells: nothing was compared with them. */
export function hasMadeUpHashes({ content }: Pick<LedgerEntry, 'content'>): boolean {
  return (content?.['no-cells'] ?? 0) > 0;
}
