import type { PipelineDef } from './declare/pipeline.ts';
import type { SourceCounts } from './source/source.ts';
import { intersectSpans, type Span, subtractSpans } from './span.ts';
import { doneSpans } from './store/progress.ts';
import type { Store } from './store/store.ts';
import type { WalkEvent } from './walk/context.ts';

/** Adds up what happens during a run, and passes it on. */
export class RunTally {
  readonly report: (event: WalkEvent) => void;
  private readonly rows = new Map<string, number>();
  private spans = 0;
  private planned = 0;

  constructor(listener: ((event: WalkEvent) => void) | undefined) {
    this.report = (event) => {
      if (event.event === 'planned') this.planned += event.requests;
      if (event.event === 'span') {
        this.spans++;
        for (const [table, rows] of Object.entries(event.rows)) {
          this.rows.set(table, (this.rows.get(table) ?? 0) + rows);
        }
      }
      listener?.(event);
    };
  }

  /** The figures of the run's last line. */
  totals(store: Store, pipelines: readonly PipelineDef[], asked: readonly Span[], counts: SourceCounts) {
    const ledger = store.ledger();
    for (const table of pipelines.flatMap((pipeline) => pipeline.tables)) {
      this.rows.set(table.name, this.rows.get(table.name) ?? 0);
    }
    const quarantined = ledger
      .filter((entry) => entry.verdict === 'quarantined' && intersectSpans([entry.span], asked).length > 0)
      .reduce((sum, entry) => sum + (entry.tables['quarantine']?.rows ?? 0), 0);
    return {
      rows: Object.fromEntries(this.rows),
      requests: counts.requests,
      planned: this.planned + (this.planned > 0 ? 1 : 0),
      retries: counts.retries,
      spans: this.spans,
      quarantined,
      complete: pipelines.every(({ name }) => subtractSpans(asked, doneSpans(ledger, name)).length === 0),
    };
  }
}
