import { dirname } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { asStoreError } from '../files/file-failure.ts';
import { makeFoldersSync } from '../files/make-folders.ts';
import type { RetryEvent } from '../http/source.ts';
import type { PublishAlong } from '../iceberg/publish-along.ts';
import type { Context } from './context.ts';
import { LiveEvents } from './live-events.ts';
import {
  describeUnpublished,
  finishPublishing,
  openPublishing,
  type PublishingOptions,
  type PublishPlace,
} from './publishing.ts';

export interface LiveOptions {
  /** Log file; undefined for none. */
  readonly logPath: string | undefined;
  /** A line to be shown first, when the source has answered. */
  readonly note: string | undefined;
  /** Where the tables are published along with the commits; undefined for nowhere. */
  readonly publish: PublishPlace | undefined;
}

/** A log file with JSON lines. */
interface Log {
  readonly info: (event: object) => void;
  readonly warn: (event: object) => void;
  /** Aborted when a line cannot be written, with the error as its reason. */
  readonly failure: AbortSignal;
}

/** Where the events of `run` and `follow` go: standard output as JSON, people, a log, and publishing after commits. */
export class LiveOutput {
  /** Aborted by an interrupt, or when the log cannot be written. */
  readonly signal: AbortSignal;
  readonly events: LiveEvents;
  readonly #context: Context;
  readonly #log: Log | undefined;
  readonly #along: PublishAlong | undefined;
  #note: string | undefined;

  private constructor(
    context: Context,
    note: string | undefined,
    log: Log | undefined,
    along: PublishAlong | undefined,
  ) {
    this.#context = context;
    this.#note = note;
    this.#log = log;
    this.#along = along;
    this.events = new LiveEvents(context.line, context.isJson);
    this.signal = log === undefined ? context.signal : AbortSignal.any([context.signal, log.failure]);
  }

  /** @throws {UsageError} `no-log` if the log cannot be written */
  static async open(context: Context, options: PublishingOptions, live: LiveOptions): Promise<LiveOutput> {
    const along = await openPublishing(live.publish, options);
    const log = live.logPath === undefined ? undefined : await openLog(live.logPath);
    return new LiveOutput(context, live.note, log, along);
  }

  /** @param isDetail true for an event that people alone see, by `show` */
  see<E extends { readonly event: string }>(event: E, isDetail: boolean, show: (event: E) => void): void {
    this.#tellNote();
    if (!isDetail) {
      if (this.#context.isJson) this.#context.print(event, () => '');
      this.#log?.info(event);
    }
    if (event.event === 'span') {
      this.#along?.committed((message) => this.#context.line.tell(describeUnpublished(message)));
    }
    show(event);
  }

  readonly retry = (event: RetryEvent): void => {
    this.#tellNote();
    this.#log?.warn({ event: 'retry', ...event });
    this.events.retry(event);
  };

  throwIfBroken(): void {
    this.#log?.failure.throwIfAborted();
  }

  /** Publishes the last rows. @returns why that failed; the rows are committed all the same */
  finish(): Promise<unknown> {
    return finishPublishing(this.#along, this.#context);
  }

  #tellNote(): void {
    if (this.#note !== undefined) this.#context.line.tell(this.#note);
    this.#note = undefined;
  }
}

/** Opens a log file for appending; creates its folder. */
async function openLog(path: string): Promise<Log> {
  const { default: pino } = await import('pino');
  const failure = new AbortController();
  try {
    makeFoldersSync(dirname(path));
    const file = pino.destination({ dest: path, sync: true });
    file.on('error', (error: unknown) => failure.abort(asStoreError(error, `log ${path}`, '--log')));
    const logger = pino({ base: { pid: process.pid } }, file);
    return {
      info: (event) => logger.info(event),
      warn: (event) => logger.warn(event),
      failure: failure.signal,
    };
  } catch (cause) {
    throw new UsageError(`usage: expected a writable log file, cannot write ${path}`, { code: 'no-log', cause });
  }
}
