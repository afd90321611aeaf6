import { isCommittedMeanwhile } from '../core/errors.ts';
import { type Span, totalSize } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import { type CommitDraft, isReplacedBy, type StagedSpan, type Verdict } from '../warehouse/index.ts';
import type { RefusedRecord } from './page-loading.ts';
import type { RequestMeter } from './request-meter.ts';
import type { EntryTerms } from './span-walk.ts';
import { spanEvent, type WalkContext } from './walk-context.ts';
import { compareWithWitness } from './witness.ts';

/** Commits staged rows and reports them. Quarantined and partial entries of the same blocks are replaced. */
export async function commitSpan(
  context: WalkContext,
  meter: RequestMeter,
  staged: StagedSpan,
  terms: EntryTerms,
  verdict: Verdict = 'accepted',
): Promise<void> {
  const { sink, pipeline, network, report } = context;
  const { span, supersedes = [], ...more } = terms;
  const replaced = sink.ledger().filter(
    (entry) =>
      entry.pipeline === pipeline.name &&
      // The keys that a partial lookup has read stay.
      (entry.verdict === 'quarantined' || coversBlocks(pipeline)) &&
      !supersedes.includes(entry.id) &&
      isReplacedBy(entry, [span]),
  );
  const draft: CommitDraft = {
    network,
    pipeline: pipeline.name,
    version: pipeline.version,
    span,
    verdict,
    without: pipeline.leftOut,
    ...more,
    ...meter(),
    supersedes: [...supersedes, ...replaced.map(({ id }) => id)],
  };
  if (verdict === 'accepted') await compareWithWitness(context, staged, span);
  try {
    const entry = await sink.commit(staged, draft);
    if (verdict === 'accepted') report(spanEvent(entry));
  } catch (error) {
    if (!isCommittedMeanwhile(error)) throw error;
    report({ event: 'rival', pipeline: pipeline.name, from: span.from, to: span.to });
  }
}

/** Commits and reports records that could not be decoded. The next complete commit of the span replaces them. */
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
  const headers = (await sink.headers({ from: seqno, to: seqno })).get(seqno) ?? [];
  const utime = headers.find(({ workchain }) => workchain === -1)?.utime ?? null;
  const stage = sink.stage(span);
  await stage.write(quarantineBatch(refused.map((record) => ({ ...record, pipeline: name, seqno, utime, foundAt }))));
  await commitSpan(context, meter, await stage.finish(), { span }, 'quarantined');
  for (const { pointer, reason } of refused) report({ event: 'quarantine', pipeline: name, seqno, pointer, reason });
}

/** Reports that the blocks of a span have ended, with or without success. */
export function reportProgress({ report, pipeline }: WalkContext, blocks: readonly Span[]): void {
  report({ event: 'progress', pipeline: pipeline.name, seqnos: totalSize(blocks), records: 0 });
}
