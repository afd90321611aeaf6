import * as z from 'zod';
import { UsageError } from '../core/errors.ts';
import { formatSpans, unionSpans } from '../core/span.ts';
import type { DeliveryTarget, Sender } from '../jobs/delivery-target.ts';
import { type Before, newestTimes } from './alert-rows.ts';
import { readLog } from './consume.ts';
import { type Cursor, formatCursor, parseCursor, spansText, startAt } from './cursor.ts';
import { FeedFile } from './feed-file.ts';
import type { FollowedTables } from './followed-tables.ts';
import type { FeedView } from './read-rows.ts';
import { SentLog } from './sent-log.ts';

/** How far a target has taken a feed. */
export interface FeedState {
  /** Tells one content from another. */
  readonly digest: string;
  readonly cursor: Cursor;
  /** What was there when it began. */
  readonly before: Before;
}

/** One message for a target. */
export interface FeedBody {
  /** @param isAgain true if the target may have taken it already */
  text(isAgain: boolean): string;
  /** A body with an id is sent once, also if its rows are read again. */
  readonly id?: string;
  /** Where to go on after it. Default: after all bodies that were read with it. */
  readonly cursor?: Cursor;
}

/** What is sent of a warehouse: a line for each commit, or alerts. */
export interface FeedContent {
  /** For messages: `on-commit`. */
  readonly name: string;
  /** First part of the names of its files. */
  readonly file: string;
  readonly digest: string;
  /** The tables whose rows are read; none for the commits themselves. */
  readonly followed: readonly FollowedTables[];
  /** What comes next; no bodies at the end. */
  next(
    view: FeedView,
    state: FeedState,
  ): Promise<{ readonly bodies: readonly FeedBody[] | undefined; readonly cursor: Cursor }>;
}

const stateSchema = z.strictObject({
  digest: z.string(),
  cursor: z.string().transform(parseCursor),
  before: z.strictObject({
    spans: spansText.nullable().transform((spans) => spans ?? []),
    times: z.record(z.string(), z.string()),
  }),
});

/** Sends content to one target, in order. Its position and what was sent lie beside the warehouse. */
export class Feed {
  /** For messages: `on-commit example.org`. */
  readonly name: string;
  readonly #content: FeedContent;
  readonly #target: DeliveryTarget;
  readonly #file: FeedFile<FeedState>;
  readonly #log: SentLog;
  #state: FeedState | undefined;

  constructor(warehouse: string, content: FeedContent, target: DeliveryTarget) {
    this.name = `${content.name} ${target.name}`;
    this.#content = content;
    this.#target = target;
    this.#file = new FeedFile(warehouse, `${content.file}-${target.key}`, (value) => stateSchema.parse(value));
    this.#log = new SentLog(this.#file);
  }

  /** Path of the lock for the one process that sends it. */
  lockPath(): Promise<string> {
    return this.#file.lockPath();
  }

  /** Notes where to begin, if it never began: after what is committed now. @throws {UsageError} `foreign-cursor` */
  async begin(view: FeedView): Promise<void> {
    const { digest, followed } = this.#content;
    const state = await this.#file.read();
    if (state === undefined || String(state.cursor.tables) !== String(tablesOf(this.#content))) {
      return this.#put(await startState(view, this.#content));
    }
    this.#state = state;
    await this.#ownLedger(() => readLog(view, state.cursor, 1));
    if (state.digest === digest) return;
    // Of what was handed out to other content, nobody is told when it is read again.
    await this.#put({ ...state, digest, before: await beforeOf(view, followed, state.cursor) });
  }

  /** Sends what was committed since the last time. @throws {DeliveryError} what was not taken is sent the next time */
  async deliver(view: FeedView, sender: Sender): Promise<void> {
    for (;;) {
      const state = this.#state ?? (await startState(view, this.#content));
      const { bodies, cursor } = await this.#ownLedger(() => this.#content.next(view, state));
      for (const body of bodies ?? []) {
        await this.#send(body, sender);
        if (body.cursor !== undefined) await this.#put({ ...state, cursor: body.cursor });
      }
      await this.#put({ ...state, cursor });
      if (bodies === undefined) return;
    }
  }

  async #send({ id, text }: FeedBody, sender: Sender): Promise<void> {
    const before = id === undefined ? undefined : await this.#log.stateOf(id);
    if (before === 'sent') return;
    if (id !== undefined && before === undefined) await this.#log.note(id, 'try');
    await sender(this.#target, text(before === 'try'));
    if (id !== undefined) await this.#log.note(id, 'sent');
  }

  /** @throws {UsageError} `foreign-cursor`, with what to do about it */
  async #ownLedger<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UsageError) || error.code !== 'foreign-cursor') throw error;
      throw error.with({ hint: await this.#file.howToForget() });
    }
  }

  async #put(state: FeedState): Promise<void> {
    const text = formatState(state);
    if (this.#state === undefined || formatState(this.#state) !== text) await this.#file.write(text);
    this.#state = state;
  }
}

function tablesOf({ followed }: FeedContent): readonly string[] {
  return followed.flatMap(({ tables }) => tables.map(({ name }) => name)).sort();
}

/** Content that is new begins after what is committed now. */
async function startState(view: FeedView, content: FeedContent): Promise<FeedState> {
  const { digest, followed } = content;
  const start = startAt(view.network, await view.ledger(), followed, tablesOf(content), true);
  // Entries in force are few; others may come after the last of them.
  const last = (await view.log(start.number)).at(-1);
  const cursor = last === undefined ? start : { ...start, number: last.number, since: last.number, id: last.id };
  return { digest, cursor, before: await beforeOf(view, followed, cursor) };
}

async function beforeOf(view: FeedView, followed: readonly FollowedTables[], { delivered }: Cursor): Promise<Before> {
  const times = await Promise.all(followed.map((each) => newestTimes(view, each)));
  return { spans: unionSpans(Object.values(delivered).flat()), times: Object.assign({}, ...times) };
}

function formatState({ digest, cursor, before: { spans, times } }: FeedState): string {
  const held = spans.length === 0 ? null : formatSpans(spans);
  return JSON.stringify({ digest, cursor: formatCursor(cursor), before: { spans: held, times } });
}
