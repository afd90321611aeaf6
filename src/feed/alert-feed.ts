import * as z from 'zod';
import { UsageError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { formatSpans } from '../core/span.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { jsonRows, textOf } from '../sql/row-text.ts';
import type { Alert } from './alert.ts';
import { messageOf } from './alert-message.ts';
import { alertRows, type Before, newestTimes } from './alert-rows.ts';
import { nextStep, readLedger } from './consume.ts';
import { type Cursor, formatCursor, parseCursor, spansText } from './cursor.ts';
import { startAt } from './cursor-start.ts';
import type { DeliveryTarget, Sender } from './delivery-target.ts';
import type { Feed } from './feed.ts';
import { FeedFile } from './feed-file.ts';
import type { FeedView } from './read-rows.ts';
import { SentLog } from './sent-log.ts';

/** How far an alert has read. */
const stateSchema = z.strictObject({
  /** Tells one select and key from another. */
  digest: z.string(),
  cursor: z.string(),
  /** What was there when it began. */
  before: z.strictObject({ spans: spansText.nullable(), times: z.record(z.string(), z.string()) }),
});

interface State {
  readonly digest: string;
  readonly cursor: Cursor;
  readonly before: Before;
}

/** An alert about one row. */
interface AlertBody {
  readonly id: string;
  /** JSON, without the end of the object. */
  readonly head: string;
  readonly row: string;
}

/** Rows that are read at once. */
const MOST_ROWS = 10_000;

/**
 * Sends an alert to one target, for each new row of its select. What was sent is in a log beside the warehouse: rows that are read again are
 * told from new ones by it.
 */
export class AlertFeed implements Feed {
  readonly name: string;
  readonly #alert: Alert;
  readonly #target: DeliveryTarget;
  readonly #file: FeedFile<State>;
  readonly #log: SentLog;
  #state: State | undefined;

  constructor(warehouse: string, alert: Alert, target: DeliveryTarget) {
    this.name = `alert ${alert.name} to ${target.name}`;
    this.#alert = alert;
    this.#target = target;
    this.#file = new FeedFile(warehouse, `alert-${alert.name}-${target.key}`, parseState);
    this.#log = new SentLog(this.#file);
  }

  lockPath(): Promise<string> {
    return this.#file.lockPath();
  }

  async begin(view: FeedView): Promise<void> {
    const digest = sha256Of(JSON.stringify([this.#alert.select, this.#alert.key]), 32);
    const state = await this.#file.read();
    if (state === undefined || String(state.cursor.tables) !== String(this.#tables)) {
      return this.#put(await this.#beginAt(view, digest));
    }
    this.#state = state;
    await this.#requireOwn(view, state.cursor);
    if (state.digest === digest) return;
    // Of what was handed out to another select, nobody is told when it is read again.
    const spans = state.cursor.delivered[this.#alert.followed.pipeline.name] ?? [];
    await this.#put({ ...state, digest, before: { spans, times: await newestTimes(view, this.#alert.followed) } });
  }

  async deliver(view: FeedView, sender: Sender): Promise<void> {
    for (;;) {
      const { bodies, state } = await this.#next(view);
      for (const { id, head, row } of bodies ?? []) {
        const before = await this.#log.stateOf(id);
        if (before === 'sent') continue;
        if (before === undefined) await this.#log.note(id, 'try');
        const again = before === 'try' ? ',"again":true' : '';
        await sender(this.#target, `${head}${again},"row":${row}}\n`);
        await this.#log.note(id, 'sent');
      }
      await this.#put(state);
      if (bodies === undefined) return;
    }
  }

  get #tables(): readonly string[] {
    return this.#alert.followed.tables.map(({ name }) => name).sort();
  }

  /** An alert that is new begins after what is committed now. */
  async #beginAt(view: FeedView, digest: string): Promise<State> {
    const { followed } = this.#alert;
    const cursor = startAt(view.network, await view.ledger(), [followed], this.#tables, true);
    const spans = cursor.delivered[followed.pipeline.name] ?? [];
    return { digest, cursor, before: { spans, times: await newestTimes(view, followed) } };
  }

  /** @throws {UsageError} `foreign-cursor`, with what to do about it */
  async #requireOwn(view: FeedView, cursor: Cursor): Promise<void> {
    try {
      await readLedger(view, cursor);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(error.message, { code: error.code, hint: await this.#file.howToForget(), cause: error });
    }
  }

  /** What to send next; no bodies at the end. */
  async #next(view: FeedView): Promise<{ readonly bodies: readonly AlertBody[] | undefined; readonly state: State }> {
    const { followed } = this.#alert;
    const state = this.#state ?? (await this.#beginAt(view, ''));
    const step = await nextStep(view, [followed], state.cursor, MOST_ROWS, (rows) =>
      alertRows(view, this.#alert, rows, state.before),
    );
    const bodies = step.read && this.#describe(step.read, view.network);
    return { bodies, state: { ...state, cursor: step.cursor } };
  }

  /** The alerts about the rows of a result; several rows with one key are one. */
  #describe({ columns, rows }: QueryResult, network: string): readonly AlertBody[] {
    const { name, key, message } = this.#alert;
    const markup = this.#alert.escape ?? (this.#target.notice.kind === 'webhook' ? 'html' : 'none');
    const bodies = new Map<string, AlertBody>();
    for (const row of rows) {
      const values = new Map(columns.map((column, at) => [column.name, textOf(row[at])]));
      const id = sha256Of(JSON.stringify([name, ...key.map((column) => values.get(column) ?? null)]), 32);
      if (bodies.has(id)) continue;
      const told = JSON.stringify({
        text: messageOf(message, markup, values),
        event: 'alert',
        alert: name,
        id,
        network,
      });
      bodies.set(id, { id, head: told.slice(0, -1), row: [...jsonRows({ columns, rows: [row] })].join('') });
    }
    return [...bodies.values()];
  }

  async #put(state: State): Promise<void> {
    const text = JSON.stringify(formatState(state));
    if (this.#state === undefined || JSON.stringify(formatState(this.#state)) !== text) {
      await this.#file.write(formatState(state));
    }
    this.#state = state;
  }
}

function parseState(value: unknown): State {
  const { digest, cursor, before } = stateSchema.parse(value);
  const spans = before.spans ?? [];
  return { digest, cursor: parseCursor(cursor), before: { ...before, spans } };
}

function formatState({ digest, cursor, before: { spans, times } }: State): z.input<typeof stateSchema> {
  const held = spans.length === 0 ? null : formatSpans(spans);
  return { digest, cursor: formatCursor(cursor), before: { spans: held, times } };
}
