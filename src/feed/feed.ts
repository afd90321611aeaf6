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

/** Position of a target in a feed. */
export interface FeedState {
  /** Fingerprint of the content. */
  readonly digest: string;
  readonly cursor: Cursor;
  /** Rows that were committed when the feed began. */
  readonly before: Before;
}

/** One message for a target. */
export interface FeedBody {
  /** @param isRepeated true if the target may have received it already */
  text(isRepeated: boolean): string;
  /** A body with an id is sent once, even if its rows are read again. */
  readonly id?: string;
  /** Position after this body. Default: that after all bodies of the same read. */
  readonly cursor?: Cursor;
}

/** The content of a feed: a line for each commit, or alerts. */
export interface FeedContent {
  /** For messages: `on-commit`. */
  readonly name: string;
  /** Prefix of the names of the feed files. */
  readonly file: string;
  readonly digest: string;
  /** Tables whose rows are read; none for commits. */
  readonly followed: readonly FollowedTables[];
  /** Reads the next bodies; undefined at the end. */
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

/** Sends content to a target, in order. Stores the position and the sent alerts next to the warehouse. */
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

  /** Path of the lock for the process that delivers it. */
  lockPath(): Promise<string> {
    return this.#file.lockPath();
  }

  /**
   * Starts a new feed after the current commits, or resumes one.
   *
   * @returns true if it starts anew because its tables are of another pipeline than before: what was pending is not sent
   * @throws {UsageError} `foreign-cursor`
   */
  async begin(view: FeedView): Promise<boolean> {
    const { digest, followed } = this.#content;
    const state = await this.#file.read();
    const isOther = state !== undefined && !isOfSamePipelines(state.cursor, followed);
    if (state === undefined || isOther) {
      await this.#save(await startState(view, this.#content));
      return isOther;
    }
    // A position is one of pipelines: it holds for all of their tables.
    const cursor = { ...state.cursor, tables: tablesOf(this.#content) };
    this.#state = state;
    await this.#withHint(() => readLog(view, cursor, 1));
    // Rows that were delivered for the earlier content cause no alert if they are read again.
    if (state.digest !== digest) await this.#save({ digest, cursor, before: await beforeOf(view, followed, cursor) });
    return false;
  }

  /** Sends everything since the last position. @throws {DeliveryError} the next call sends it again */
  async deliver(view: FeedView, sender: Sender): Promise<void> {
    for (;;) {
      const state = this.#state ?? (await startState(view, this.#content));
      const { bodies, cursor } = await this.#withHint(() => this.#content.next(view, state));
      for (const body of bodies ?? []) {
        await this.#send(body, sender);
        if (body.cursor !== undefined) await this.#save({ ...state, cursor: body.cursor });
      }
      await this.#save({ ...state, cursor });
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

  /** Adds a hint to the error `foreign-cursor`. */
  async #withHint<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UsageError) || error.code !== 'foreign-cursor') throw error;
      throw error.with({ hint: await this.#file.resetHint() });
    }
  }

  async #save(state: FeedState): Promise<void> {
    const text = formatState(state);
    if (this.#state === undefined || formatState(this.#state) !== text) await this.#file.write(text);
    this.#state = state;
  }
}

function tablesOf({ followed }: FeedContent): readonly string[] {
  return followed.flatMap(({ tables }) => tables.map(({ name }) => name)).sort();
}

function isOfSamePipelines({ tables }: Cursor, followed: readonly FollowedTables[]): boolean {
  if (followed.length === 0) return tables.length === 0;
  return followed.every(({ pipeline }) => pipeline.tables.some(({ name }) => tables.includes(name)));
}

/** New content starts after the current commits. */
async function startState(view: FeedView, content: FeedContent): Promise<FeedState> {
  const { digest, followed } = content;
  const start = startAt(view.network, await view.ledger(), followed, tablesOf(content), true);
  // Superseded entries may follow the last one in force.
  const last = (await view.log(start.number)).at(-1);
  const cursor = last === undefined ? start : { ...start, number: last.number, since: last.number, id: last.id };
  return { digest, cursor, before: await beforeOf(view, followed, cursor) };
}

async function beforeOf(view: FeedView, followed: readonly FollowedTables[], { delivered }: Cursor): Promise<Before> {
  const times = await Promise.all(followed.map((each) => newestTimes(view, each)));
  return { spans: unionSpans(Object.values(delivered).flat()), times: Object.assign({}, ...times) };
}

function formatState({ digest, cursor, before: { spans, times } }: FeedState): string {
  const text = spans.length === 0 ? null : formatSpans(spans);
  return JSON.stringify({ digest, cursor: formatCursor(cursor), before: { spans: text, times } });
}

/** Maximum number of alerts in the log. Older ones are sent again if their rows are read again. */
const MAX_ALERTS = 50_000;

/** State of the newest alerts to one target. Read once, appended line by line, and compacted. */
export class SentLog {
  readonly #file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>;
  readonly #most: number;
  /** Last state of each id, oldest first. */
  #known: Map<string, 'try' | 'sent'> | undefined;
  #lines = 0;

  constructor(file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>, most = MAX_ALERTS) {
    this.#file = file;
    this.#most = most;
  }

  /** `try`: the process was killed after an attempt, so the target may have received it. Undefined for a new alert. */
  async stateOf(id: string): Promise<'try' | 'sent' | undefined> {
    return (await this.#read()).get(id);
  }

  /** Records an attempt or a delivery; durable on return. */
  async note(id: string, word: 'try' | 'sent'): Promise<void> {
    const known = await this.#read();
    await this.#file.append(`${word} ${id}`);
    this.#remember(known, id, word);
    if (this.#lines <= 4 * this.#most) return;
    await this.#file.replaceLog([...known].map(([each, state]) => `${state} ${each}`));
    this.#lines = known.size;
  }

  async #read(): Promise<Map<string, 'try' | 'sent'>> {
    if (this.#known !== undefined) return this.#known;
    const known = new Map<string, 'try' | 'sent'>();
    for await (const line of this.#file.lines()) {
      const [word, id = ''] = line.split(' ');
      this.#remember(known, id, word === 'sent' ? 'sent' : 'try');
    }
    this.#known = known;
    return known;
  }

  #remember(known: Map<string, 'try' | 'sent'>, id: string, word: 'try' | 'sent'): void {
    this.#lines++;
    known.delete(id);
    known.set(id, word);
    const [oldest] = known.keys();
    if (known.size > this.#most && oldest !== undefined) known.delete(oldest);
  }
}
