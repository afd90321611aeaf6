import { type SentValue, writeSent } from '../api/client/exact-json.ts';
import type { Span } from '../core/span.ts';
import { Decoder } from '../decode/decoder.ts';
import { explainRefusal } from '../decode/explain-refusal.ts';
import { quarantineBatch } from '../decode/quarantine-table.ts';
import type { Given } from '../decode/table-rows.ts';
import type { Store } from '../warehouse/index.ts';
import type { EphemeralPipeline } from './poll.ts';
import { type PendingRole, pendingRole, perRole, type Sighting, type Sightings } from './sightings.ts';

/** Number of rows in a batch. */
const LOT_ROWS = 5_000;

/** A warehouse that is open for one save. */
export interface SaveContext {
  readonly store: Store;
  readonly network: string;
  /** Newest masterchain block at the start of the watch, and now. */
  readonly span: Span;
  /** Unix milliseconds: start of the watch, and now. */
  readonly watchAt: number;
  readonly now: number;
}

/** Rows that appeared at about the same time, and are saved together until all have ended. */
interface Lot {
  readonly rows: Set<Sighting>;
  /** Entries that the next save replaces, by pipeline. */
  readonly entries: Map<string, string>;
}

/**
 * Saves the rows of a watch: one entry per pipeline and batch. A row stays in its batch, and a save replaces an entry by one with at least
 * its rows. So a committed row stays in the warehouse, however the process ends.
 */
export class Saver {
  private readonly pipelines: readonly EphemeralPipeline[];
  private readonly lotRows: number;
  /** Batches with rows that may still change; new rows go into the last one. */
  private lots: readonly Lot[] = [];
  private readonly placed = new WeakSet<Sighting>();
  /** Number of rows in closed batches, by role. */
  private readonly kept = perRole(() => 0);

  constructor(pipelines: readonly EphemeralPipeline[], lotRows = LOT_ROWS) {
    this.pipelines = pipelines;
    this.lotRows = lotRows;
  }

  /** Saves the current rows. @returns number of rows of this watch in the warehouse, by role */
  async save(sightings: Sightings, context: SaveContext): Promise<Readonly<Record<PendingRole, number>>> {
    const { open, closed } = sightings.rows();
    this.lots = this.place([...open, ...closed]);
    const held = { ...this.kept };
    for (const lot of this.lots) {
      await this.put(lot, context);
      for (const { role } of lot.rows) held[role]++;
    }
    sightings.isChanged = false;
    const isOver = new Set(closed);
    const over = this.lots.filter((lot) => this.isFull(lot) && [...lot.rows].every((row) => isOver.has(row)));
    for (const { role } of over.flatMap((lot) => [...lot.rows])) this.kept[role]++;
    sightings.putAway(over.flatMap((lot) => [...lot.rows]));
    this.lots = this.lots.filter((lot) => !over.includes(lot));
    return held;
  }

  private isFull({ rows }: Lot): boolean {
    return rows.size >= this.lotRows;
  }

  /** Assigns new rows to batches, and returns all batches. */
  private place(rows: readonly Sighting[]): readonly Lot[] {
    const lots = [...this.lots];
    for (const row of rows) {
      if (this.placed.has(row)) continue;
      let lot = lots.at(-1);
      if (lot === undefined || this.isFull(lot)) {
        lot = { rows: new Set(), entries: new Map() };
        lots.push(lot);
      }
      lot.rows.add(row);
      this.placed.add(row);
    }
    return lots;
  }

  private async put({ rows, entries }: Lot, context: SaveContext): Promise<void> {
    for (const pipeline of this.pipelines) {
      const own = [...rows].filter(({ role }) => role === pendingRole(pipeline));
      if (own.length > 0)
        entries.set(pipeline.name, await commitRows(pipeline, own, context, entries.get(pipeline.name)));
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
        // Of no block yet.
        utime: null,
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
