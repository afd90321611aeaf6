import { type Span, spanSize } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import { givesWay, type StagedSpan, type Verdict } from '../warehouse/index.ts';
import type { RefusedRecord } from './page-loading.ts';
import type { RequestMeter } from './request-meter.ts';
import type { EntryTerms } from './span-walk.ts';
import { spanEvent, type WalkContext } from './walk-context.ts';

/** Makes staged rows visible, and tells of it. What could not be had of the same blocks before gives way. */
export async function commitSpan(
  context: WalkContext,
  meter: RequestMeter,
  staged: StagedSpan,
  terms: EntryTerms,
  verdict: Verdict = 'sealed',
): Promise<void> {
  const { sink, pipeline, network, report } = context;
  const { span, supersedes = [], ...more } = terms;
  const poor = sink.ledger().filter(
    (entry) =>
      entry.pipeline === pipeline.name &&
      // Keys that a lookup has read stay, whatever else it lacked.
      (entry.verdict === 'quarantined' || coversBlocks(pipeline)) &&
      !supersedes.includes(entry.id) &&
      givesWay(entry, span),
  );
  const entry = await sink.commit(staged, {
    ...{ network, pipeline: pipeline.name, version: pipeline.version, span, verdict, without: pipeline.leftOut },
    ...more,
    ...meter.take(),
    supersedes: [...supersedes, ...poor.map(({ id }) => id)],
  });
  if (verdict === 'sealed') report(spanEvent(entry));
}

/**
 * Puts records of a span that could not be decoded into the quarantine, and tells of them. It takes the place of the quarantine
 * before, and the next whole commit of the span takes its place.
 */
export async function quarantineSpan(
  context: WalkContext,
  meter: RequestMeter,
  span: Span,
  refused: readonly RefusedRecord[],
): Promise<void> {
  const { sink, pipeline, effects, report } = context;
  const { name } = pipeline;
  const seqno = span.from;
  const foundAt = Math.floor(effects.now() / 1000);
  const stage = sink.stage(name, span);
  await stage.write(quarantineBatch(refused.map((record) => ({ ...record, pipeline: name, seqno, foundAt }))));
  await commitSpan(context, meter, await stage.finish(), { span }, 'quarantined');
  for (const { pointer, reason } of refused) report({ event: 'quarantine', pipeline: name, seqno, pointer, reason });
}

/** Tells that a span is over, whatever became of it. */
export function tellProgress({ report, pipeline }: WalkContext, span: Span): void {
  report({ event: 'progress', pipeline: pipeline.name, seqnos: spanSize(span), records: 0 });
}
