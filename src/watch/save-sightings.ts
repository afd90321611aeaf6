import { type SentValue, writeSent } from '../api/client/exact-json.ts';
import type { Span } from '../core/span.ts';
import { Decoder } from '../decode/decoder.ts';
import { explainRefusal } from '../decode/explain-refusal.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import type { Given } from '../decode/table-rows.ts';
import type { CommitPart, Store } from '../warehouse/index.ts';
import type { EphemeralPipeline } from './poll.ts';
import { listField, pendingRole, type Sighting } from './sightings.ts';

/** A warehouse that is open for one save. */
export interface SaveContext {
  readonly store: Store;
  readonly network: string;
  readonly pipelines: readonly EphemeralPipeline[];
  /** Newest masterchain block at the last save, and now. */
  readonly span: Span;
  /** Unix milliseconds: start of the watch, and now. */
  readonly watchAt: number;
  readonly now: number;
}

/** Appends sightings to the tables, in one commit: all of them or none. */
export async function saveSightings(rows: readonly Sighting[], context: SaveContext): Promise<void> {
  const parts: CommitPart[] = [];
  for (const pipeline of context.pipelines) {
    const own = rows.filter(({ role }) => role === pendingRole(pipeline));
    if (own.length > 0) parts.push(await stageRows(pipeline, own, context));
  }
  if (parts.length > 0) await context.store.commitTogether(parts);
}

async function stageRows(
  pipeline: EphemeralPipeline,
  rows: readonly Sighting[],
  context: SaveContext,
): Promise<CommitPart> {
  const { store, network, span } = context;
  const decoder = new Decoder(pipeline);
  const page: SentValue = { [listField(pipeline)]: rows.map(({ record }) => record) };
  const { refused } = decoder.decode(
    Buffer.from(writeSent(page)),
    rows.map((row) => givenOf(pipeline, row, context)),
  );
  const stage = store.stage(span);
  try {
    const all = Int32Array.from({ length: decoder.records }, (_, row) => row);
    for (const batch of decoder.choose(decoder.sorted(all))) await stage.write(batch);
    if (refused.length > 0) {
      const origin = { pipeline: pipeline.name, seqno: span.to, request: pipeline.endpoint };
      const foundAt = Math.floor(context.now / 1000);
      const lost = refused.map((record) => ({
        ...origin,
        ...explainRefusal(pipeline, record),
        raw: record.raw,
        // Of no block yet.
        utime: null,
        foundAt,
      }));
      await stage.write(quarantineBatch(lost));
    }
    return {
      staged: await stage.finish(),
      draft: {
        network,
        pipeline: pipeline.name,
        version: pipeline.version,
        span,
        verdict: 'accepted',
        supersedes: [],
        requests: 0,
        retries: 0,
      },
    };
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

function givenOf({ parameters }: EphemeralPipeline, { seenAt }: Sighting, { watchAt }: SaveContext): Given {
  const micros = (ms: number): bigint => BigInt(Math.round(ms)) * 1000n;
  return {
    ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    seen_at: micros(seenAt),
    watch_at: micros(watchAt),
  };
}
