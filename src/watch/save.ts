import { type SentValue, writeSent } from '../client/json.ts';
import { Decoder } from '../flatten/decoder.ts';
import { explainRefusal } from '../flatten/explain.ts';
import { quarantineBatch } from '../flatten/quarantine.ts';
import type { Given } from '../flatten/rows.ts';
import type { Span } from '../span.ts';
import type { Store } from '../store/store.ts';
import type { EphemeralPipeline } from './poll.ts';
import type { PendingTable, Sighting, Sightings } from './sightings.ts';

/** Rows that are over and written again with those that may still change; more are put away for good. */
const MOST_CLOSED = 5_000;

/** A warehouse that is open for one save. */
export interface SaveContext {
  readonly store: Store;
  readonly network: string;
  /** Newest masterchain block when the watch began, and now. */
  readonly span: Span;
  /** Unix milliseconds: when the watch began, and now. */
  readonly watchAt: number;
  readonly now: number;
}

/** Where the rows of a watch lie: those that may still change are in one entry for each pipeline, which the next save replaces. */
export class Saver {
  private readonly pipelines: readonly EphemeralPipeline[];
  /** Entries that the next save takes the place of, by pipeline. */
  private readonly entries = new Map<string, string>();
  /** Rows put away for good, by table. */
  private readonly kept = { pending_transactions: 0, pending_traces: 0, pending_actions: 0 };

  constructor(pipelines: readonly EphemeralPipeline[]) {
    this.pipelines = pipelines;
  }

  /** Stores everything as it is now. @returns rows of this watch that the warehouse holds, by table */
  async save(sightings: Sightings, context: SaveContext): Promise<Readonly<Record<PendingTable, number>>> {
    const { open, closed } = sightings.rows();
    const isFull = closed.length > MOST_CLOSED;
    if (isFull) {
      await this.put(closed, context, false);
      for (const { table } of closed) this.kept[table]++;
      sightings.putAway();
    }
    const rows = isFull ? open : [...open, ...closed];
    await this.put(rows, context, true);
    sightings.isChanged = false;
    const held = { ...this.kept };
    for (const { table } of rows) held[table]++;
    return held;
  }

  private async put(rows: readonly Sighting[], context: SaveContext, isReplaced: boolean): Promise<void> {
    for (const pipeline of this.pipelines) {
      const own = rows.filter(({ table }) => table === pipeline.name);
      const before = this.entries.get(pipeline.name);
      if (own.length === 0 && before === undefined) continue;
      const id = await commitRows(pipeline, own, context, before);
      if (isReplaced) this.entries.set(pipeline.name, id);
      else this.entries.delete(pipeline.name);
    }
  }
}

async function commitRows(
  pipeline: EphemeralPipeline,
  rows: readonly Sighting[],
  context: SaveContext,
  before: string | undefined,
): Promise<string> {
  const { store, network, span } = context;
  const [table] = pipeline.tables;
  const list = table?.rows.kind === 'records' ? table.rows.path.slice(1) : '';
  const decoder = new Decoder(pipeline);
  const page: SentValue = { [list]: rows.map(({ record }) => record) };
  const { refused } = decoder.decode(
    Buffer.from(writeSent(page)),
    rows.map((row) => givenOf(pipeline, row, context)),
  );
  const stage = store.stage(pipeline.name, span);
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
        foundAt,
      }));
      await stage.write(quarantineBatch(lost));
    }
    const entry = await store.commit(await stage.finish(), {
      ...{ network, pipeline: pipeline.name, version: pipeline.version, span, verdict: 'sealed', asOf: span },
      ...{ scope: 'watch', supersedes: before === undefined ? [] : [before], requests: 0, retries: 0 },
    });
    return entry.id;
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

function givenOf({ parameters }: EphemeralPipeline, row: Sighting, { watchAt }: SaveContext): Given {
  const micros = (ms: number): bigint => BigInt(Math.round(ms)) * 1000n;
  return {
    ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    ...{ first_seen: micros(row.firstSeen), last_seen: micros(row.lastSeen), watch_at: micros(watchAt) },
    ...(row.end === undefined ? {} : { outcome: row.end.outcome, ...row.end.columns }),
  };
}
