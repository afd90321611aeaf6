import { addCounts, type Counts } from '../core/counts.ts';
import { haveCommon, type Span, subtractSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { SourceCounts } from '../http/source.ts';
import { doneFor, type Store, spansOf } from '../warehouse/index.ts';
import { type Contents, coverage, type UnprovenBlocks } from '../warehouse/query/coverage.ts';
import type { WalkEvent } from './walk-context.ts';
import type { WitnessCounts } from './witness.ts';

/** Counts the events of a run, and passes them on. */
export class RunTally {
  readonly report: (event: WalkEvent) => void;
  private readonly store: Pick<Store, 'ledger' | 'rivals'>;
  /** Number of the newest entry before the run. */
  private readonly before: number;
  private spans = 0;
  /** Events that are reported once per run. */
  private readonly reported = new Set<string>();
  private readonly troubled = new Set<string>();
  private planned = 0;
  private witness: WitnessCounts | undefined;
  private readonly unknownKeys = new Map<string, number>();

  constructor(store: RunTally['store'], listener: ((event: WalkEvent) => void) | undefined) {
    this.store = store;
    this.before = store.ledger().at(-1)?.number ?? 0;
    this.report = (event) => {
      if (event.event === 'planned') this.planned += event.requests;
      if (event.event === 'problem' || event.event === 'quarantine') this.troubled.add(event.pipeline);
      if (event.event === 'refused-keys' && event.refused === event.keys) this.troubled.add(event.pipeline);
      if (event.event === 'span') this.spans++;
      if (event.event === 'witness') this.noteWitness(event.answered);
      if (event.event === 'unknown-keys') {
        this.unknownKeys.set(event.pipeline, (this.unknownKeys.get(event.pipeline) ?? 0) + event.unknown);
      }
      if (this.isNews(event)) listener?.(event);
    };
  }

  private noteWitness(answered: boolean): void {
    const { agreed, unanswered } = this.witness ?? { agreed: 0, unanswered: 0 };
    this.witness = answered ? { agreed: agreed + 1, unanswered } : { agreed, unanswered: unanswered + 1 };
  }

  /** False for an unknown field, or a list requested in halves, that this run has already reported. */
  private isNews(event: WalkEvent): boolean {
    if (event.event !== 'unknown-field' && event.event !== 'halved') return true;
    const news = `${event.event} ${event.pipeline} ${event.event === 'halved' ? '' : event.field}`;
    const isKnown = this.reported.has(news);
    this.reported.add(news);
    return !isKnown;
  }

  /**
   * The figures of the last event of a run.
   *
   * @param free pipelines whose keys the user gave, so that blocks do not show whether they are done
   */
  totals(
    pipelines: readonly PipelineDef[],
    asked: readonly Span[],
    counts: SourceCounts,
    free: readonly string[] = [],
  ) {
    const ledger = this.store.ledger();
    const rows = new Map(pipelines.flatMap(({ tables }) => tables.map(({ name }) => [name, 0])));
    let content: Counts = {};
    for (const { id, number, verdict, tables, content: own = {} } of ledger) {
      if (number <= this.before || verdict !== 'accepted' || this.store.rivals?.has(id) === true) continue;
      for (const [name, part] of Object.entries(tables)) rows.set(name, (rows.get(name) ?? 0) + part.rows);
      content = addCounts(content, own);
    }
    const quarantined = ledger
      .filter((entry) => entry.verdict === 'quarantined' && haveCommon(spansOf(entry), asked))
      .reduce((sum, entry) => sum + (entry.tables['quarantine']?.rows ?? 0), 0);
    return {
      rows: Object.fromEntries(rows),
      requests: counts.requests,
      planned: this.planned + (this.planned > 0 ? 1 : 0),
      retries: counts.retries,
      spans: this.spans,
      quarantined,
      content,
      ...(this.witness === undefined ? {} : { witness: this.witness }),
      unknownKeys: Object.fromEntries(this.unknownKeys),
      unproven: unprovenOf({ registry: { pipelines }, ledger, forgotten: [] }, asked, free),
      complete: pipelines.every((pipeline) =>
        free.includes(pipeline.name)
          ? !this.troubled.has(pipeline.name)
          : subtractSpans(asked, doneFor(ledger, pipeline)).length === 0,
      ),
    };
  }
}

/** Blocks of the range that nothing proves; for pipelines with given keys, all of them. */
function unprovenOf(contents: Contents, asked: readonly Span[], free: readonly string[]): UnprovenBlocks {
  const found = contents.registry.pipelines.map((pipeline) => {
    const given = [{ why: 'compared with nothing', spans: asked }] as const;
    return [
      pipeline.name,
      free.includes(pipeline.name) ? given : coverage(contents, pipeline, asked).unproven,
    ] as const;
  });
  return Object.fromEntries(found.filter(([, parts]) => parts.length > 0));
}
