import { fetchMasterBlock } from '../chain/index-head.ts';
import { TonlakeError, WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { type StagedSpan, selectStaged } from '../warehouse/index.ts';
import type { WalkContext } from './walk-context.ts';

/** Number of compared commits, by result. */
export interface WitnessCounts {
  /** The witness has the same block. */
  readonly agreed: number;
  /** The witness did not answer, or did not know the block. */
  readonly unanswered: number;
}

type Context = Pick<WalkContext, 'witness' | 'effects' | 'sink' | 'registry' | 'pipeline' | 'stop' | 'report'>;

interface Sample {
  readonly span: Span;
  readonly seqno: number;
}

/**
 * Compares a masterchain block of a commit, chosen at random, with the witness of the session, if there is one. Reports whether it
 * answered. Does nothing if the warehouse will not have the header of the block.
 *
 * @throws {WalkError} `other-witness` if it has another hash
 */
export async function compareWithWitness(context: Context, staged: StagedSpan, span: Span): Promise<void> {
  const { witness, effects } = context;
  if (witness === undefined) return;
  const seqno = span.from + Math.floor(effects.random() * (span.to - span.from + 1));
  return compare(context, staged, { span, seqno });
}

async function compare(context: Context, staged: StagedSpan, sample: Sample): Promise<void> {
  const { pipeline, report } = context;
  const { span, seqno } = sample;
  const own = await ownHash(context, staged, seqno);
  if (own === undefined) return;
  const event = { event: 'witness', pipeline: pipeline.name, from: span.from, to: span.to, seqno } as const;
  const theirs = await hashBy(context, seqno);
  if (theirs instanceof TonlakeError) {
    // A witness that lags behind may know the oldest block.
    if (theirs.code === 'short-list' && seqno > span.from) return compare(context, staged, { span, seqno: span.from });
    return report({ ...event, answered: false, message: theirs.message });
  }
  if (theirs === own) return report({ ...event, answered: true, message: own });
  throw new WalkError(
    `walk ${pipeline.name} ${seqno}: expected block ${seqno} with hash ${own} at the witness, got ${theirs}; the commit was not made`,
    { code: 'other-witness', hint: 'the source or the witness serves another chain, or one of them lies: ask a third' },
  );
}

/** The hash from the witness, or the error of the request. */
async function hashBy({ witness, stop }: Pick<WalkContext, 'witness' | 'stop'>, seqno: number) {
  try {
    return witness && (await fetchMasterBlock(witness, seqno, { signal: stop })).rootHash;
  } catch (error) {
    if (error instanceof TonlakeError) return error;
    // A run that is stopped does not wait for the witness.
    if (stop.aborted) return new WalkError(`walk ${seqno}: stopped before the witness answered`);
    throw error;
  }
}

/** The hash that the warehouse will have after the commit; undefined if it will not have the header. */
async function ownHash(
  { sink, registry }: Pick<WalkContext, 'sink' | 'registry'>,
  staged: StagedSpan,
  seqno: number,
): Promise<string | undefined> {
  const { table } = registry.playing('headers');
  if (staged.tables[table.name] === undefined) return sink.rootHash?.(seqno);
  const { rows } = await sink.query(
    `SELECT root_hash::VARCHAR FROM (${selectStaged(table, staged)}) WHERE workchain = -1 AND seqno = $seqno`,
    { seqno },
  );
  return rows[0] === undefined ? undefined : String(rows[0][0]);
}
